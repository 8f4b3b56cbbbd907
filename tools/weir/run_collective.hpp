// weir run --collective: Weir's collective I/O under an unchanged MPI-IO program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

// The variables that switch it on in the ranks; `configuration` in the words of EARTH ("T:agg=1,rr=1,req=4"),
// or empty.
Result<std::map<std::string, std::string>> collective_environment(const std::string& configuration);

// Runs the user's own launch command with it. The exit code is the program's; where the time went is printed
// at its end.
Result<int> run_collective(const std::vector<std::string>& words, const std::string& configuration,
                           bool dry_run);

}  // namespace weir::cli
