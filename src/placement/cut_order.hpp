// A line of ranks cut into pieces, one a node.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <span>

#include "pattern/sparse_matrix.hpp"
#include "placement/machine.hpp"

namespace weir {

// The nodes are filled one after the other with the ranks in this order.
Numbers fill_in_order(const Machine& machine, std::span<const std::uint32_t> order);

// The line is cut so that the least is exchanged across the cuts, within the capacity and number of the
// nodes. Exact for pieces that are whole stretches of the line, by dynamic programming over the places of
// cuts: a price on each piece is raised until the pieces are few enough. Work: ranks times capacity times
// values of a rank, for each price. Empty if nodes differ in capacity, or no price gives few enough pieces.
Numbers cut_in_order(const Machine& machine, const pattern::SparseMatrix& matrix,
                     std::span<const std::uint32_t> order);

}  // namespace weir
