// Samples of many series, brought into order: what stands between a batch as it arrives and a block on disk.
//
// Threads: plain values and functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "store/block.hpp"

namespace weir::store {

// Samples of one series from one write. `order` says which of two writes was later.
struct Segment {
  std::int64_t order = 0;
  std::vector<std::int64_t> times;
  std::vector<std::uint64_t> values;
};

// Times strictly ascending; of samples with the same time the later one stays.
void put_in_order(std::vector<std::int64_t>& times, std::vector<std::uint64_t>& values);
// The same of several writes; the segments are used up.
Segment merge_segments(std::vector<Segment>& segments);

// Cuts columns into stretches of time, so that a block of them has about `samples_of_a_block` samples, and
// calls `each` with the columns of one block at a time. REQUIRES: as encode_block() does, for each column.
inline constexpr std::size_t samples_of_a_block = 480 * 60;
void cut_into_blocks(std::span<const ColumnView> columns,
                     const std::function<void(std::span<const ColumnView>)>& each);

}  // namespace weir::store
