// Where messages that come one after another lie in a buffer of bounded size, and how many of the earlier
// ones must be gone before each may be put there. Everybody who knows the sizes computes the same.
//
// Threads: pure functions of values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace weir::aggregation {

struct RingPlace {
  std::uint64_t offset = 0;
  std::uint64_t gone = 0;  // the first so many messages must have been taken out
  bool operator==(const RingPlace&) const = default;
};

// Messages lie in one piece, at multiples of 64 bytes. REQUIRES: no size, rounded up to that, above the
// capacity.
std::vector<RingPlace> place_in_ring(std::span<const std::uint64_t> sizes, std::uint64_t capacity);
Status check(std::span<const RingPlace> places, std::span<const std::uint64_t> sizes, std::uint64_t capacity);

}  // namespace weir::aggregation
