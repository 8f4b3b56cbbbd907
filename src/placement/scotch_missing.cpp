// Where Weir was built without the Scotch library.
#include "placement/algorithm.hpp"

namespace weir {

Result<Placed> place_scotch(const PlacementProblem&, const AlgorithmOptions&) {
  return fail(ErrorCode::unsupported, "built without Scotch", "install libscotch-dev and build Weir again");
}

}  // namespace weir
