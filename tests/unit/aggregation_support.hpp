// Random pieces, and the plain way of looking at them: byte by byte.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "aggregation/pieces.hpp"

namespace weir::test {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }
  std::uint64_t pick(std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(engine_);
  }

 private:
  std::mt19937 engine_;
};

// Pieces of one rank below `limit`, in file order, not overlapping.
inline std::vector<aggregation::Piece> random_pieces(Random& random, std::uint64_t limit) {
  std::vector<aggregation::Piece> pieces;
  std::uint64_t at = random.pick(0, limit / 4);
  while (at < limit && pieces.size() < 60) {
    // Regular stretches and irregular ones, neighbours that touch and that do not.
    const std::uint64_t length = random.pick(1, 9);
    const std::uint64_t stride = length + random.pick(0, 7);
    for (std::uint64_t n = random.pick(1, 6); n > 0 && at + length <= limit; --n, at += stride)
      pieces.push_back({at, length});
    at += random.pick(0, 11);
  }
  return pieces;
}

inline aggregation::Rows rows_of(const std::vector<aggregation::Piece>& pieces) {
  aggregation::RowBuilder builder;
  for (const auto& piece : pieces) builder.add(piece.offset, piece.length);
  return builder.take();
}

// Every byte, in the order in which the walk comes to it.
inline std::vector<std::uint64_t> bytes_of(std::span<const aggregation::Row> rows) {
  std::vector<std::uint64_t> bytes;
  for (const auto& row : rows)
    for (std::uint64_t i = 0; i < row.count; ++i)
      for (std::uint64_t b = 0; b < row.length; ++b) bytes.push_back(row.begin_of(i) + b);
  return bytes;
}

inline std::vector<std::uint64_t> bytes_of(const std::vector<aggregation::Piece>& pieces) {
  std::vector<std::uint64_t> bytes;
  for (const auto& piece : pieces)
    for (std::uint64_t b = 0; b < piece.length; ++b) bytes.push_back(piece.offset + b);
  return bytes;
}

}  // namespace weir::test
