// Running this command again as several MPI ranks.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

// Runs `mpiexec -n RANKS weir ARGUMENTS` and waits for it. A rank count beyond the machine's cores, and root,
// are allowed: demos and benchmarks mean it. An interrupt reaches the ranks; this process stays to clean up
// after them.
Status run_ranks(int ranks, const std::vector<std::string>& arguments);

}  // namespace weir::cli
