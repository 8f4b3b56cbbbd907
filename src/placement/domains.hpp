// Which node writes which file domain, for ranks that are already placed.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include "placement/algorithm.hpp"

namespace weir {

// By domain, a node: so that most bytes stay on their node. Domains are dealt evenly: a node takes at most
// ceil(domains / nodes used), and no more than it has ranks, unless the ranks of all nodes would not do.
// Exact for small numbers (a Hungarian assignment), else greedy with improving exchanges.
// REQUIRES: problem.shuffle; check() of the placement.
Numbers assign_domains(const PlacementProblem& problem, const Numbers& node_of);

}  // namespace weir
