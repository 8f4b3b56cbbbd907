// Boxes: the rectangular part of a global array that somebody owns. C order, 64-bit, from 1 to max_rank
// dimensions.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace weir {

inline constexpr std::size_t max_rank =
    16;  // dimensions of an array; formats allow 32, one is kept for steps

struct Box {
  Extent offset;
  Extent count;

  static Box whole(const Extent& shape) { return {Extent(shape.size(), 0), shape}; }
  bool operator==(const Box&) const = default;
  bool empty() const;
};

// Number of elements. REQUIRES: checked by check_shape / check_box, so that it does not overflow.
std::uint64_t volume(const Extent& extent);

// A shape that can be stored: 1 to max_rank dimensions, and its bytes fit in a signed 64-bit file offset.
Status check_shape(const Extent& shape, std::size_t element_size);

// A box that lies inside the shape, with the same number of dimensions. An empty box may lie anywhere inside
// or on the edge.
Status check_box(const Box& box, const Extent& shape);

std::optional<Box> intersect(const Box& a, const Box& b);  // nullopt where they share nothing

// A contiguous piece of a box: where it lies in the flattened array, where in the box's own memory, and its
// length, in elements.
struct Run {
  std::uint64_t in_array;
  std::uint64_t in_box;
  std::uint64_t length;
};

// Calls visit(run) for the longest contiguous runs of the box, in array order; stops when visit returns
// false.
void for_each_run(const Extent& shape, const Box& box, const std::function<bool(const Run&)>& visit);

// Cuts a box along its slow dimensions into pieces of at most `limit` elements (a single row may be cut too),
// in array order. Each piece is contiguous in the memory of the box.
std::vector<Box> split(const Box& box, std::uint64_t limit);

// Where the first element of `inner` stands in the memory of `outer`. REQUIRES: inner lies inside outer.
std::uint64_t position_of(const Box& inner, const Box& outer);

// Copies the part that two boxes share from the memory of one to the memory of the other.
void copy_shared(const Box& from_box, const std::byte* from, const Box& to_box, std::byte* to,
                 std::size_t element_size);

// The indices of two boxes that share an element, if any two do. About n log n for the decompositions that
// programs use.
std::optional<std::pair<std::size_t, std::size_t>> find_overlap(std::span<const Box> boxes);

std::string format_extent(const Extent& extent);  // "[100, 7]"
std::string format_box(const Box& box);           // "offset [0, 3] count [100, 4]"

}  // namespace weir
