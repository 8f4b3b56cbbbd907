#include "pattern/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace weir::pattern {

namespace {

constexpr std::uint64_t most_bytes = std::numeric_limits<std::int64_t>::max();

tl::unexpected<Failure> wrong(std::string what) {
  return fail(ErrorCode::invalid_argument, std::move(what));
}

// a * b + c, if that is a file offset.
bool fits(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t& result) {
  return !__builtin_mul_overflow(a, b, &result) && !__builtin_add_overflow(result, c, &result) &&
         result <= most_bytes;
}

// spans[i]: of what stands inside of the first i levels; spans[0] is the whole.
using Spans = std::array<std::uint64_t, most_levels + 1>;
void spans_of(const Shape& shape, Spans& spans) {
  const std::size_t levels = shape.levels.size();
  spans[levels] = shape.block;
  for (std::size_t level = levels; level-- > 0;) {
    const Level& here = shape.levels[level];
    spans[level] = (here.count - 1) * static_cast<std::uint64_t>(here.stride) + spans[level + 1];
  }
}

}  // namespace

Status check(const Shape& shape) {
  if (shape.block == 0) return wrong("an access of empty blocks");
  if (shape.levels.size() > most_levels)
    return wrong(fmt::format("an access of {} levels, more than {}", shape.levels.size(), most_levels));
  std::uint64_t inside = shape.block;
  if (inside > most_bytes) return wrong("a block beyond the largest file");
  for (std::size_t level = shape.levels.size(); level-- > 0;) {
    const Level& here = shape.levels[level];
    if (here.count == 0) return wrong(fmt::format("level {} of an access has no parts", level));
    if (here.count == 1) continue;
    if (here.stride < 0 || static_cast<std::uint64_t>(here.stride) < inside)
      return wrong(fmt::format("level {} of an access has a stride of {}, less than the {} bytes it repeats",
                               level, here.stride, inside));
    if (!fits(here.count - 1, static_cast<std::uint64_t>(here.stride), inside, inside))
      return wrong(fmt::format("level {} of an access reaches beyond the largest file", level));
  }
  return {};
}

Status check(const Access& access) {
  WEIR_TRY(check(access.shape));
  if (access.offset < 0) return wrong(fmt::format("an access at offset {}", access.offset));
  if (access.repeat == 0) return wrong("an access that is repeated 0 times");
  if (span(access.shape) > most_bytes - static_cast<std::uint64_t>(access.offset))
    return wrong(fmt::format("an access at offset {} reaches beyond the largest file", access.offset));
  return {};
}

std::uint64_t pieces(const Shape& shape) {
  std::uint64_t result = 1;
  for (const Level& level : shape.levels) result *= level.count;
  return result;
}

std::uint64_t bytes(const Shape& shape) {
  return pieces(shape) * shape.block;
}

std::uint64_t span(const Shape& shape) {
  std::uint64_t result = shape.block;
  for (const Level& level : shape.levels)
    result += (level.count - 1) * static_cast<std::uint64_t>(level.stride);
  return result;
}

std::uint64_t bytes_below(const Shape& shape, std::int64_t offset, std::int64_t limit) {
  if (limit <= offset) return 0;
  auto ahead = static_cast<std::uint64_t>(limit - offset);
  std::uint64_t inside = bytes(shape), result = 0;
  Spans spans;
  spans_of(shape, spans);
  if (ahead >= spans[0]) return inside;
  for (std::size_t level = 0; level < shape.levels.size(); ++level) {
    const Level& here = shape.levels[level];
    inside /= here.count;
    // `ahead` is less than the span of this level, so that the part it falls into, or behind, exists.
    const std::uint64_t whole = here.count == 1 ? 0 : ahead / static_cast<std::uint64_t>(here.stride);
    result += whole * inside;
    ahead -= whole * static_cast<std::uint64_t>(here.stride);
    if (ahead >= spans[level + 1]) return result + inside;
  }
  return result + ahead;
}

std::int64_t next_byte(const Shape& shape, std::int64_t offset, std::int64_t from) {
  if (from <= offset) return offset;
  auto ahead = static_cast<std::uint64_t>(from - offset);
  Spans spans;
  spans_of(shape, spans);
  if (ahead >= spans[0]) return std::numeric_limits<std::int64_t>::max();
  std::int64_t base = offset;
  for (std::size_t level = 0; level < shape.levels.size(); ++level) {
    const Level& here = shape.levels[level];
    const std::uint64_t whole = here.count == 1 ? 0 : ahead / static_cast<std::uint64_t>(here.stride);
    base += static_cast<std::int64_t>(whole) * here.stride;
    ahead -= whole * static_cast<std::uint64_t>(here.stride);
    if (ahead >= spans[level + 1]) return base + here.stride;
  }
  return base + static_cast<std::int64_t>(ahead);
}

PieceCursor::PieceCursor(const Access& access)
    : access_(&access), at_(access.offset), index_(access.shape.levels.size(), 0) {}

void PieceCursor::advance() {
  for (std::size_t level = index_.size(); level-- > 0;) {
    const Level& here = access_->shape.levels[level];
    if (++index_[level] < here.count) {
      at_ += here.stride;
      return;
    }
    at_ -= static_cast<std::int64_t>(here.count - 1) * here.stride;
    index_[level] = 0;
  }
  done_ = true;
}

std::vector<Piece> list_pieces(const Access& access, std::uint64_t limit) {
  std::vector<Piece> result;
  result.reserve(std::min(limit, pieces(access.shape)));
  for (PieceCursor cursor(access); !cursor.done() && result.size() < limit; cursor.advance())
    result.push_back(cursor.piece());
  return result;
}

}  // namespace weir::pattern
