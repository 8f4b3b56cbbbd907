// A rank that binds itself and then becomes the program: for launchers that cannot be told on which hardware
// threads of the system's numbering ranks run (Open MPI 5).
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::cli {

// What the launcher is to start in place of the program, whose words follow.
Result<std::vector<std::string>> binding_words();

// Takes the place that the plan of WEIR_PLAN has for this rank, and becomes the program. Returns only if it
// cannot. Where the plan has no place for it, or the system does not allow it, it runs where it is. REQUIRES:
// started by a launcher of MPI.
Status become_bound(const std::vector<std::string>& program);

}  // namespace weir::cli
