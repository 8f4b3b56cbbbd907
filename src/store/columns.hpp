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

// Times strictly ascending; of samples with the same time the later one stays. How many there are then.
std::size_t put_in_order(std::span<std::int64_t> times, std::span<std::uint64_t> values);
void put_in_order(std::vector<std::int64_t>& times, std::vector<std::uint64_t>& values);
// The same of several writes; the segments are used up.
Segment merge_segments(std::vector<Segment>& segments);

// Samples of many series, heaped up in the order in which they were written, then sorted by series all at
// once.
class SampleHeap {
 public:
  void add(std::int64_t series, std::span<const std::int64_t> times, std::span<const std::uint64_t> values);
  // Ascending series, each in order. The views point into the heap, which takes nothing more from then on.
  std::vector<ColumnView> columns();

 private:
  struct Run {
    std::int64_t series = 0;
    std::size_t begin = 0, count = 0;
  };
  std::vector<Run> runs_;
  std::vector<std::int64_t> times_;
  std::vector<std::uint64_t> values_;
};

// Cuts columns into stretches of time, so that a block of them has about `samples_of_a_block` samples, and
// calls `each` with the columns of one block at a time. REQUIRES: as encode_block() does, for each column.
inline constexpr std::size_t samples_of_a_block = 480 * 60;
void cut_into_blocks(std::span<const ColumnView> columns,
                     const std::function<void(std::span<const ColumnView>)>& each);

}  // namespace weir::store
