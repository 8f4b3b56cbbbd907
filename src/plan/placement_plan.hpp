// A Plan from what a placement algorithm made: ranks on cores, and the aggregators in the order of file
// domains.
//
// Threads: plain function of its arguments.
#pragma once

#include "placement/algorithm.hpp"
#include "plan/plan.hpp"

namespace weir {

// Where the algorithm left the aggregators to the I/O library, and there is a shuffle, they are those that
// ROMIO would take. The result passes check() for this platform.
Result<Plan> plan_placement(const PlacementProblem& problem, const Placed& placed, const Platform& platform);

}  // namespace weir
