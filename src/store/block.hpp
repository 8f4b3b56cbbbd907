// A block: many series' samples over a stretch of time, compressed, as the store keeps them.
//
// Layout, all numbers as little-endian base-128 unless said otherwise:
//   "WB1", number of columns, of time columns, then
//   per time column   count, first time, differences of differences (zigzag)
//   per column        series (difference to the one before), time column, first value, divisor, byte width
//   per byte plane    0 and nothing, 1 and raw bytes, or 2, a length and a zstd frame
//   8 bytes           XXH3 of all before
// Values are kept as differences (zigzag, divided by their common divisor). Byte p of all differences that
// need more than p bytes makes plane p, so that zstd sees bytes of one meaning side by side. Series sampled
// together share one time column.
//
// Threads: plain functions and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::store {

// A block with more samples is neither written nor read.
inline constexpr std::size_t most_samples_in_block = std::size_t{1} << 22;

// Samples of one series as the encoder takes them.
struct ColumnView {
  std::int64_t series = 0;
  std::span<const std::int64_t> times;  // strictly ascending
  std::span<const std::uint64_t> values;
};

// REQUIRES: columns in ascending order of series, none empty, at most most_samples_in_block samples in all.
std::string encode_block(std::span<const ColumnView> columns);

// A block read: what is in it is known at once, values are unpacked a column at a time.
class Block {
 public:
  // Refuses, as corrupt, whatever encode_block() cannot have written.
  static Result<Block> decode(std::string_view bytes);

  struct Column {
    std::int64_t series = 0;
    std::uint32_t time_column = 0;
    std::uint64_t first = 0;
    std::uint64_t divisor = 1;
    std::uint8_t width = 0;     // bytes a difference
    std::size_t start[8] = {};  // of its bytes in each plane
  };
  const std::vector<Column>& columns() const { return columns_; }
  std::span<const std::int64_t> times(const Column& column) const { return times_[column.time_column]; }
  // Replaces what `values` held.
  void values(const Column& column, std::vector<std::uint64_t>& values) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::int64_t>> times_;
  std::vector<std::string> planes_;
};

}  // namespace weir::store
