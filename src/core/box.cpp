#include "core/box.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace weir {

bool Box::empty() const {
  return std::any_of(count.begin(), count.end(), [](std::uint64_t n) { return n == 0; });
}

std::uint64_t volume(const Extent& extent) {
  std::uint64_t product = 1;
  for (const std::uint64_t n : extent) product *= n;
  return product;
}

Status check_shape(const Extent& shape, std::size_t element_size) {
  if (shape.empty()) {
    return fail(ErrorCode::invalid_argument, "the array has no dimensions",
                "give a single value the shape {1}, or make it an attribute");
  }
  if (shape.size() > max_rank) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the array has {} dimensions, at most {} can be stored", shape.size(), max_rank));
  }
  if (Box::whole(shape).empty()) return {};
  std::uint64_t room = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / element_size;
  for (const std::uint64_t n : shape) {
    if (n > room) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the array {} is larger than 2^63 bytes", format_extent(shape)));
    }
    room /= n;
  }
  return {};
}

Status check_box(const Box& box, const Extent& shape) {
  if (box.offset.size() != shape.size() || box.count.size() != shape.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the block has {} offsets and {} counts, the array {} has {} dimensions",
                            box.offset.size(), box.count.size(), format_extent(shape), shape.size()));
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (box.offset[d] > shape[d] || box.count[d] > shape[d] - box.offset[d]) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the block ({}) lies outside the array {} in dimension {}", format_box(box),
                              format_extent(shape), d));
    }
  }
  return {};
}

std::optional<Box> intersect(const Box& a, const Box& b) {
  Box shared{Extent(a.offset.size()), Extent(a.offset.size())};
  for (std::size_t d = 0; d < a.offset.size(); ++d) {
    const std::uint64_t begin = std::max(a.offset[d], b.offset[d]);
    const std::uint64_t end = std::min(a.offset[d] + a.count[d], b.offset[d] + b.count[d]);
    if (begin >= end) return std::nullopt;
    shared.offset[d] = begin;
    shared.count[d] = end - begin;
  }
  return shared;
}

namespace {

// Steps through the positions of the dimensions before `rank_of_run`, slowest first; false after the last
// one.
bool advance(Extent& position, const Extent& count, std::size_t dimensions) {
  for (std::size_t d = dimensions; d-- > 0;) {
    if (++position[d] < count[d]) return true;
    position[d] = 0;
  }
  return false;
}

Extent strides_of(const Extent& shape) {
  Extent strides(shape.size(), 1);
  for (std::size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

}  // namespace

void for_each_run(const Extent& shape, const Box& box, const std::function<bool(const Run&)>& visit) {
  if (box.empty()) return;
  // A run covers the fastest dimensions that the box takes whole, and one more in part.
  std::size_t run_dimension = shape.size() - 1;
  while (run_dimension > 0 && box.count[run_dimension] == shape[run_dimension]) --run_dimension;
  const Extent strides = strides_of(shape);
  Run run{0, 0, box.count[run_dimension] * strides[run_dimension]};

  Extent position(shape.size(), 0);
  std::uint64_t start = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) start += box.offset[d] * strides[d];
  do {
    run.in_array = start;
    for (std::size_t d = 0; d < run_dimension; ++d) run.in_array += position[d] * strides[d];
    if (!visit(run)) return;
    run.in_box += run.length;
  } while (advance(position, box.count, run_dimension));
}

std::vector<Box> split(const Box& box, std::uint64_t limit) {
  std::vector<Box> pieces;
  if (box.empty()) return pieces;
  // The slowest dimension whose slices all fit is cut; the dimensions before it are walked one by one.
  std::size_t cut = 0;
  const Extent strides = strides_of(box.count);
  while (cut + 1 < box.count.size() && strides[cut] > limit) ++cut;
  const std::uint64_t thickness = std::max<std::uint64_t>(1, limit / strides[cut]);
  Extent position(box.count.size(), 0);
  do {
    for (std::uint64_t at = 0; at < box.count[cut]; at += thickness) {
      Box piece = box;
      for (std::size_t d = 0; d < cut; ++d) {
        piece.offset[d] += position[d];
        piece.count[d] = 1;
      }
      piece.offset[cut] += at;
      piece.count[cut] = std::min(thickness, box.count[cut] - at);
      pieces.push_back(std::move(piece));
    }
  } while (advance(position, box.count, cut));
  return pieces;
}

std::uint64_t position_of(const Box& inner, const Box& outer) {
  const Extent strides = strides_of(outer.count);
  std::uint64_t position = 0;
  for (std::size_t d = 0; d < strides.size(); ++d)
    position += (inner.offset[d] - outer.offset[d]) * strides[d];
  return position;
}

void copy_shared(const Box& from_box, const std::byte* from, const Box& to_box, std::byte* to,
                 std::size_t element_size) {
  const auto shared = intersect(from_box, to_box);
  if (!shared) return;
  // Runs of the shared part are contiguous in both memories when cut by the narrower of the two in each
  // dimension.
  Box row = *shared;
  const std::size_t last = row.count.size() - 1;
  std::fill_n(row.count.begin(), last, 1);
  Extent position(last + 1, 0);
  do {
    for (std::size_t d = 0; d < last; ++d) row.offset[d] = shared->offset[d] + position[d];
    std::memcpy(to + position_of(row, to_box) * element_size,
                from + position_of(row, from_box) * element_size, row.count[last] * element_size);
  } while (advance(position, shared->count, last));
}

namespace {

using IndexPair = std::optional<std::pair<std::size_t, std::size_t>>;

bool overlap(const Box& a, const Box& b) {
  for (std::size_t d = 0; d < a.offset.size(); ++d) {
    if (a.offset[d] >= b.offset[d] + b.count[d] || b.offset[d] >= a.offset[d] + a.count[d]) return false;
  }
  return true;
}

IndexPair compare_all(std::span<const Box> boxes, const std::vector<std::size_t>& members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = i + 1; j < members.size(); ++j) {
      if (overlap(boxes[members[i]], boxes[members[j]])) return std::minmax(members[i], members[j]);
    }
  }
  return std::nullopt;
}

// Divides space at a median plane, in the dimension that separates best; boxes across the plane go to both
// sides.
IndexPair find_overlap_among(std::span<const Box> boxes, std::vector<std::size_t> members) {
  constexpr std::size_t small = 12;
  if (members.size() <= small) return compare_all(boxes, members);

  std::size_t best_larger_side = members.size();
  std::vector<std::size_t> best_low, best_high;
  for (std::size_t d = 0; d < boxes[members[0]].offset.size(); ++d) {
    std::vector<std::uint64_t> starts(members.size());
    std::transform(members.begin(), members.end(), starts.begin(),
                   [&](std::size_t i) { return boxes[i].offset[d]; });
    std::nth_element(starts.begin(), starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2),
                     starts.end());
    const std::uint64_t plane = starts[starts.size() / 2];
    std::vector<std::size_t> low, high;
    for (const std::size_t i : members) {
      if (boxes[i].offset[d] < plane) low.push_back(i);
      if (boxes[i].offset[d] + boxes[i].count[d] > plane) high.push_back(i);
    }
    const std::size_t larger_side = std::max(low.size(), high.size());
    if (larger_side < best_larger_side) {
      best_larger_side = larger_side;
      best_low = std::move(low);
      best_high = std::move(high);
    }
  }
  if (best_larger_side == members.size()) return compare_all(boxes, members);
  members.clear();
  members.shrink_to_fit();
  if (auto found = find_overlap_among(boxes, std::move(best_low))) return found;
  return find_overlap_among(boxes, std::move(best_high));
}

}  // namespace

std::optional<std::pair<std::size_t, std::size_t>> find_overlap(std::span<const Box> boxes) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (!boxes[i].empty()) members.push_back(i);
  }
  return find_overlap_among(boxes, std::move(members));
}

std::string format_extent(const Extent& extent) {
  return fmt::format("[{}]", fmt::join(extent, ", "));
}

std::string format_box(const Box& box) {
  return fmt::format("offset {} count {}", format_extent(box.offset), format_extent(box.count));
}

}  // namespace weir
