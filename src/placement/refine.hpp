// Improves a placement of ranks on nodes by small steps: a rank moves to a node that has room, or changes
// places with a rank there, whenever that raises what is exchanged within nodes. Sparse: a step looks only at
// the nodes of those that a rank exchanges something with.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include "placement/algorithm.hpp"

namespace weir {

// What counts: values of the application matrix, and bytes to file domains, each times a weight. With one
// weight tiny, it only decides where the other does not.
struct RefineRequest {
  const PlacementProblem* problem = nullptr;
  double matrix_weight = 1;
  double shuffle_weight = 0;
  const Numbers* node_of_domain = nullptr;  // needed where shuffle_weight is not 0
  std::uint32_t passes = 4;
  bool exchange = true;  // false: only moves to nodes with room
};

// No node is above its capacity afterwards if none was before. Stops after a pass that changes nothing.
void refine(const RefineRequest& request, Numbers& node_of);

// Groups that grow, one a node: each time the rank joins that exchanges most with the group. `order` says
// where new groups begin. Groups have at most `size` ranks.
Numbers grow_groups(const Machine& machine, const pattern::SparseMatrix& matrix, const Numbers& order,
                    std::uint32_t size);

}  // namespace weir
