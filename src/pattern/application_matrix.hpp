// The application matrix of SetMatch (section 3.1): how often two ranks are neighbours in the file.
//
// All pieces of a file are put in file order (by first byte, then by rank); every time two neighbours in that
// list belong to different ranks, their entry grows: by one, or by the bytes of the smaller of the two
// pieces. An access that is repeated counts as often as both neighbours are. Gaps do not matter, a rank
// beside itself does not count, and the matrix is symmetric.
//
// The list is not made: accesses with a common outer level are swept once per period, so that the work is
// that of the distinct parts of a pattern, not of its pieces.
//
// Threads: plain functions of their arguments.
#pragma once

#include <optional>

#include "pattern/pattern.hpp"
#include "pattern/sparse_matrix.hpp"
#include "pattern/stated.hpp"

namespace weir::pattern {

enum class Weight { count, bytes };

struct MatrixRequest {
  Weight weight = Weight::count;
  std::optional<std::size_t> file;     // all of them if not given: their matrices are added up
  std::optional<Direction> direction;  // both if not given, each swept by itself, added up
};

// REQUIRES: pattern.check().
SparseMatrix application_matrix(const Pattern& pattern, const MatrixRequest& request = {});

// That of BT, from its parameters: a rank's neighbour along a row is the same in all of its cells, so that a
// million ranks with a thousand cells each take a second, where a sweep of the cells would take minutes.
// REQUIRES: state() accepts the parameters.
SparseMatrix application_matrix(const BlockTridiagonal& bt, Weight weight = Weight::count);

// The simplified matrix for a Cartesian grid: pairs with the same coordinate in the outermost dimension get
// `strong`, neighbours across it get `weak`. Rows longer than `longest_clique` are stored as chains, which
// form the same sets with far fewer entries.
struct CartesianMatrix {
  std::vector<std::uint64_t> processes;  // outermost first
  double strong = 10;
  double weak = 1;
  std::uint64_t longest_clique = 256;
};
Result<SparseMatrix> cartesian_matrix(const CartesianMatrix& request);

}  // namespace weir::pattern
