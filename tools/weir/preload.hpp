// libweir-mpiio.so under a program that the user's own launcher starts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

// The path of libweir-mpiio.so: WEIR_MPIIO_LIBRARY, or beside this program as it was built or installed.
Result<std::string> mpiio_library();

// What a launcher understands by which variables reach the ranks.
enum class Launcher { openmpi, hydra, srun, other };
Launcher launcher_of(const std::string& word);

// A command of the user with libweir-mpiio.so and these variables in the environment of its ranks, on
// whichever node they run.
struct Preloaded {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;  // for the launcher itself
};
Result<Preloaded> preloaded(const std::vector<std::string>& words,
                            std::map<std::string, std::string> variables);

}  // namespace weir::cli
