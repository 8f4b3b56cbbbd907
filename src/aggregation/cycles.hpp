// What one aggregator is to do, cut into cycles that fit its buffer: cycle c takes the bytes of its sources
// from boundary c up to boundary c + 1. Boundaries follow the data, not the file: a hole of a terabyte costs
// nothing.
//
// Threads: pure functions of values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "aggregation/pieces.hpp"

namespace weir::aggregation {

struct CycleLimits {
  std::uint64_t bytes = 4U << 20U;   // of all sources together
  std::uint64_t pieces = 1U << 17U;  // the same
  std::uint64_t alignment =
      4096;  // boundaries stand at multiples of it where that leaves a cycle something to do
};

// Boundaries in the file, ascending, one more than cycles; empty: there is nothing to do. A cycle takes more
// than the limits only where one byte is wanted by more sources than that.
std::vector<std::uint64_t> cut_cycles(std::span<const RowIndex> sources, const CycleLimits& limits);
Status check(std::span<const std::uint64_t> boundaries, std::span<const RowIndex> sources,
             const CycleLimits& limits);

// The bytes of the sources within [begin, end), each once: runs without neighbours.
Rows merged(std::span<const RowIndex> sources, std::uint64_t begin, std::uint64_t end);

// Runs with the gaps of up to `gap` bytes between them filled, as long as no run doubles by it: a small gap
// costs less than a request. `may`: whether a gap is one to be filled; without it all are.
struct Filled {
  Rows runs;
  Rows gaps;  // those that were filled
};
Filled fill_small_gaps(std::span<const Row> runs, std::uint64_t gap,
                       const std::function<bool(const Piece&)>& may = {});

inline constexpr std::uint64_t small_gap = 4096;
// The same of small gaps that nobody writes: `taken` is what anybody writes.
Filled fill_nobodys_gaps(std::span<const Row> runs, const RowIndex& taken);

}  // namespace weir::aggregation
