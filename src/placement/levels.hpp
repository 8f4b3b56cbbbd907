// The levels of the machine below and above the node: which core of its node a rank takes, and which nodes
// stand under one switch. Both leave the groups of ranks together as they are.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include "placement/algorithm.hpp"

namespace weir {

// Ranks of a node change cores, or take free ones, while that makes the exchange within the node cheaper
// (cache, NUMA domain, package). Does nothing where all cores of a node are equally near.
void improve_cores(const PlacementProblem& problem, Assignment& assignment);

// Groups of ranks change nodes, whole, so that those who exchange much are under one switch. Does nothing
// where switches make no difference. File domains move along.
void improve_switches(const PlacementProblem& problem, Numbers& node_of, Numbers& node_of_domain);

}  // namespace weir
