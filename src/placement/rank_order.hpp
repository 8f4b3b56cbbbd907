// Ranks in a line, so that those who exchange much stand close to each other.
//
// The order is that in which a maximum spanning tree grows: from where it is, it takes the strongest value
// that leads to a new rank, and of equal ones the one found last. So whatever is joined by values above some
// threshold stands together, for every threshold at once, and rings and chains are followed from one end to
// the other. Ranks of a pattern that were reordered are thereby put back in the order of the file. Linear in
// the number of values.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include "pattern/sparse_matrix.hpp"
#include "platform/numbers.hpp"

namespace weir {

Numbers order_ranks(const pattern::SparseMatrix& matrix);

}  // namespace weir
