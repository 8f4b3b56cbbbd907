// From groups of ranks to nodes, where groups and nodes need not agree in size.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <span>

#include "pattern/sparse_matrix.hpp"
#include "placement/machine.hpp"

namespace weir {

// Each group of ranks goes to a node of its own, in the order in which groups appear in rank_order; nodes
// without room are passed over. What a node does not take, and groups for which no node is left, fill the
// room there is. REQUIRES: the machine has room for all ranks.
Numbers fill_nodes(const Machine& machine, std::span<const std::uint32_t> rank_order,
                   const Numbers& group_of);

// Ranks beyond the capacity of their node go to nodes with room: those that exchange least with their node
// leave, to the node among those with room that they exchange most with. REQUIRES: room for all ranks.
void repair_overfull(const Machine& machine, const pattern::SparseMatrix& matrix, Numbers& node_of);

}  // namespace weir
