#include "input.hpp"

namespace weir::cli {

void add_input_arguments(CLI::App& command, InputArguments& arguments) {
  command.add_option("file", arguments.path, "The file: HDF5, ADIOS2 folder, or a plain file with its .json")
      ->required();
  command.add_option("--backend", arguments.backend, "Read it with this backend (default: found by content)");
}

Result<std::unique_ptr<files::InputFile>> open_input(const InputArguments& arguments) {
  return files::InputFile::open(mpi::Comm::serial(), arguments.path, arguments.backend, {});
}

}  // namespace weir::cli
