// weir run --collective: Weir's collective I/O under an unchanged MPI-IO program.
#pragma once

#include <map>
#include <string>

#include "core/error.hpp"

namespace weir::cli {

// The variables that switch it on in the ranks; `configuration` in the words of EARTH ("T:agg=1,rr=1,req=4"),
// or "auto".
Result<std::map<std::string, std::string>> collective_environment(const std::string& configuration);

}  // namespace weir::cli
