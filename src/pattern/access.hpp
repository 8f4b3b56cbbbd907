// A set of bytes of a file in nested-strided form: what one call through one view touches, without a list of
// its pieces.
//
//   for i in 0 .. levels[0].count - 1:                        outermost first
//     for j in 0 .. levels[1].count - 1:
//       block bytes at offset + i * levels[0].stride + j * levels[1].stride
//
// An access is *ordered* if its pieces, in this order, ascend and do not overlap: each stride is at least the
// span of what it repeats. Everything in a Pattern is ordered, so that questions about it (bytes below an
// offset, the next piece) are answered in the number of levels, not of pieces.
//
// Ownership: plain values. Threads: plain functions of their arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/error.hpp"

namespace weir::pattern {

struct Level {
  std::uint64_t count = 1;
  std::int64_t stride = 0;
  bool operator==(const Level&) const = default;
};

// An access without its place: shared by all ranks that touch the file in the same way.
struct Shape {
  std::uint64_t block = 0;
  std::vector<Level> levels;  // outermost first
  bool operator==(const Shape&) const = default;
};

// One contiguous piece.
struct Piece {
  std::int64_t offset = 0;
  std::uint64_t length = 0;
  bool operator==(const Piece&) const = default;
  std::int64_t end() const { return offset + static_cast<std::int64_t>(length); }
};

struct Access {
  std::int64_t offset = 0;
  Shape shape;
  std::uint32_t repeat = 1;  // so many times in a row the very same bytes
  bool operator==(const Access&) const = default;

  // The only way in which a contiguous access should be made by hand.
  static Access contiguous(std::int64_t offset, std::uint64_t bytes) { return {offset, {bytes, {}}, 1}; }
};

inline constexpr std::size_t most_levels = 64;

// No empty block, no count of 0, no offset below 0 or beyond 2^63 - 1, ordered, at most most_levels levels.
Status check(const Shape& shape);
Status check(const Access& access);

// Below: REQUIRES check(), unless said otherwise.

std::uint64_t pieces(const Shape& shape);  // how many
std::uint64_t bytes(const Shape& shape);   // in one repetition
std::uint64_t span(const Shape& shape);    // from the first byte to behind the last one

inline std::uint64_t bytes(const Access& access) {
  return bytes(access.shape);
}
inline std::int64_t end(const Access& access) {
  return access.offset + static_cast<std::int64_t>(span(access.shape));
}

// The bytes of the shape, placed at `offset`, that lie below `limit`. In the number of levels.
std::uint64_t bytes_below(const Shape& shape, std::int64_t offset, std::int64_t limit);

// The first byte at or behind `from`; INT64_MAX if there is none. In the number of levels.
std::int64_t next_byte(const Shape& shape, std::int64_t offset, std::int64_t from);

// Walks over the pieces in file order. The access must outlive it.
class PieceCursor {
 public:
  explicit PieceCursor(const Access& access);
  bool done() const { return done_; }
  Piece piece() const { return {at_, access_->shape.block}; }
  void advance();

 private:
  const Access* access_;
  std::int64_t at_;
  std::vector<std::uint64_t> index_;
  bool done_ = false;
};

// The pieces as a list in file order; at most `limit` of them, the first ones.
std::vector<Piece> list_pieces(const Access& access, std::uint64_t limit);

// Any nested-strided set (levels in any order, negative or zero strides, overlapping) as ordered accesses
// with the fewest levels: neighbours merged, zero strides as repetitions. Fails if it lies below 0 or beyond
// 2^63 - 1, or would need more than `limit` accesses.
Result<std::vector<Access>> ordered(const Access& any, std::uint64_t limit = std::uint64_t{1} << 20U);

// Makes fewer of many, in program order: what continues its predecessor becomes part of it, equal shapes at a
// constant distance become a level, and the very same bytes again a repetition. Bytes, repetitions included,
// stay the same; pieces stay ordered. Linear.
std::vector<Access> compressed(std::vector<Access> accesses);

}  // namespace weir::pattern
