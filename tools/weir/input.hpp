// What the commands that read a file share.
#pragma once

#include "commands.hpp"
#include "files/input_file.hpp"

namespace weir::cli {

struct InputArguments {
  std::string path;
  std::string backend;
};

// Declares FILE and --backend.
void add_input_arguments(CLI::App& command, InputArguments& arguments);

// In one process, without MPI: the tools work on a login node too.
Result<std::unique_ptr<files::InputFile>> open_input(const InputArguments& arguments);

}  // namespace weir::cli
