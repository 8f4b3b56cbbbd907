// A Plan as text for people, at most 80 columns wide.
//
// Threads: plain function of its argument. REQUIRES: check(plan).
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace weir {

std::string render(const Plan& plan);

}  // namespace weir
