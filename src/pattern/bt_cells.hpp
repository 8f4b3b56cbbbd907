// How BT cuts its cube: shared by its pattern and its application matrix. Private to them.
//
// Threads: plain functions of their arguments.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weir::pattern {

// The side of a square of ranks; of what is no square, that of the largest square in it.
inline std::uint64_t bt_side(std::uint64_t ranks) {
  std::uint64_t side = 0;
  while ((side + 1) * (side + 1) <= ranks) ++side;
  return side;
}

// One dimension of the cube in q parts, the first ones larger by a point where q does not divide it.
struct BtCut {
  std::uint64_t each, larger;
  BtCut(std::uint64_t points, std::uint64_t parts) : each(points / parts), larger(points % parts) {}
  std::uint64_t begin(std::uint64_t part) const { return part * each + std::min(part, larger); }
  std::uint64_t size(std::uint64_t part) const { return each + (part < larger ? 1 : 0); }
};

}  // namespace weir::pattern
