// Any nested strides as ordered ones.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pattern/access.hpp"

namespace weir::pattern {

namespace {

constexpr std::int64_t most_offset = std::numeric_limits<std::int64_t>::max();

tl::unexpected<Failure> outside() {
  return fail(ErrorCode::invalid_argument, "an access reaches below 0 or beyond the largest file");
}

// Strides above 0, levels of one part gone, equal bytes as repetitions. False: it leaves the file.
bool straighten(Access& access) {
  std::vector<Level> levels;
  std::int64_t begin = access.offset;
  for (Level level : access.shape.levels) {
    if (level.count == 1) continue;
    if (level.stride == 0) {
      if (level.count > std::numeric_limits<std::uint32_t>::max() / access.repeat) return false;
      access.repeat *= static_cast<std::uint32_t>(level.count);
      continue;
    }
    std::int64_t reach = 0;
    if (level.count - 1 > static_cast<std::uint64_t>(most_offset) ||
        __builtin_mul_overflow(static_cast<std::int64_t>(level.count - 1), level.stride, &reach))
      return false;
    if (level.stride < 0) {
      if (__builtin_add_overflow(begin, reach, &begin) ||
          level.stride == std::numeric_limits<std::int64_t>::min())
        return false;
      level.stride = -level.stride;
    }
    levels.push_back(level);
  }
  std::stable_sort(levels.begin(), levels.end(),
                   [](const Level& a, const Level& b) { return a.stride > b.stride; });
  std::int64_t end = begin;
  if (begin < 0 || access.shape.block > static_cast<std::uint64_t>(most_offset) ||
      __builtin_add_overflow(end, static_cast<std::int64_t>(access.shape.block), &end))
    return false;
  for (const Level& level : levels) {
    if (__builtin_add_overflow(end, static_cast<std::int64_t>(level.count - 1) * level.stride, &end))
      return false;
  }
  access.offset = begin;
  access.shape.levels = std::move(levels);
  return true;
}

// Neighbouring blocks become one, and levels that continue each other too. REQUIRES: straightened.
void merge_levels(Shape& shape) {
  std::vector<Level> kept;  // innermost first
  for (auto level = shape.levels.rbegin(); level != shape.levels.rend(); ++level) {
    if (kept.empty() && static_cast<std::uint64_t>(level->stride) == shape.block) {
      shape.block *= level->count;
    } else if (!kept.empty() &&
               level->stride / kept.back().stride == static_cast<std::int64_t>(kept.back().count) &&
               level->stride % kept.back().stride == 0) {
      kept.back().count *= level->count;
    } else {
      kept.push_back(*level);
    }
  }
  shape.levels.assign(kept.rbegin(), kept.rend());
}

// The innermost level whose parts overlap or interleave; the number of levels if there is none.
std::size_t crossing_level(const Shape& shape) {
  std::uint64_t inside = shape.block;
  for (std::size_t level = shape.levels.size(); level-- > 0;) {
    const Level& here = shape.levels[level];
    if (static_cast<std::uint64_t>(here.stride) < inside) return level;
    inside += (here.count - 1) * static_cast<std::uint64_t>(here.stride);
  }
  return shape.levels.size();
}

Status split(Access access, std::uint64_t limit, std::vector<Access>& out) {
  merge_levels(access.shape);
  const std::size_t level = crossing_level(access.shape);
  if (level == access.shape.levels.size()) {
    if (out.size() >= limit || level > most_levels)
      return fail(ErrorCode::unsupported,
                  fmt::format("an access is too irregular: more than {} parts", limit));
    out.push_back(std::move(access));
    return {};
  }
  const Level crossing = access.shape.levels[level];
  access.shape.levels.erase(access.shape.levels.begin() + static_cast<std::ptrdiff_t>(level));
  for (std::uint64_t part = 0; part < crossing.count; ++part) {
    WEIR_TRY(split(access, limit, out));
    if (part + 1 < crossing.count) access.offset += crossing.stride;
  }
  return {};
}

// The part of a shape inside its outermost level.
Shape inner(const Shape& shape) {
  return {shape.block, {shape.levels.begin() + 1, shape.levels.end()}};
}

bool same_inner(const Shape& a, const Shape& b) {
  return a.block == b.block && a.levels.size() == b.levels.size() &&
         std::equal(a.levels.begin() + 1, a.levels.end(), b.levels.begin() + 1);
}

// Takes `next` into `last` if the two are one. Pieces and their order stay the same, but for merged
// neighbours.
bool join(Access& last, const Access& next) {
  if (last.offset == next.offset && last.shape == next.shape) {
    if (last.repeat > std::numeric_limits<std::uint32_t>::max() - next.repeat) return false;
    last.repeat += next.repeat;
    return true;
  }
  if (last.repeat != next.repeat || next.offset <= last.offset) return false;
  const std::int64_t distance = next.offset - last.offset;
  std::vector<Level>& levels = last.shape.levels;
  if (levels.empty() && next.shape.levels.empty()) {
    if (static_cast<std::uint64_t>(distance) == last.shape.block) {
      last.shape.block += next.shape.block;
      return true;
    }
  } else if (!levels.empty()) {
    Level& outer = levels.front();
    if (distance / outer.stride == static_cast<std::int64_t>(outer.count) && distance % outer.stride == 0) {
      if (next.shape.levels.size() == levels.size() && same_inner(last.shape, next.shape) &&
          next.shape.levels.front().stride == outer.stride) {
        outer.count += next.shape.levels.front().count;
        return true;
      }
      if (next.shape.levels.size() + 1 == levels.size() && inner(last.shape) == next.shape) {
        ++outer.count;
        return true;
      }
    }
  }
  if (last.shape == next.shape && static_cast<std::uint64_t>(distance) >= span(last.shape) &&
      levels.size() < most_levels) {
    levels.insert(levels.begin(), Level{2, distance});
    return true;
  }
  return false;
}

}  // namespace

Result<std::vector<Access>> ordered(const Access& any, std::uint64_t limit) {
  std::vector<Access> result;
  if (any.shape.block == 0 || any.repeat == 0) return result;
  for (const Level& level : any.shape.levels) {
    if (level.count == 0) return result;
  }
  Access access = any;
  if (!straighten(access)) return outside();
  WEIR_TRY(split(std::move(access), limit, result));
  return result;
}

std::vector<Access> compressed(std::vector<Access> accesses) {
  std::vector<Access> result;
  // What is complete may itself be the next part of a level further out.
  const auto settle = [&result] {
    while (result.size() >= 2 && join(result[result.size() - 2], result.back())) result.pop_back();
  };
  for (Access& access : accesses) {
    if (!result.empty() && join(result.back(), access)) continue;
    settle();
    if (!result.empty() && join(result.back(), access)) continue;
    result.push_back(std::move(access));
  }
  settle();
  return result;
}

}  // namespace weir::pattern
