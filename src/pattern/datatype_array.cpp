// Parts of arrays: MPI_Type_create_subarray and _darray.
#include <fmt/format.h>

#include <algorithm>

#include "pattern/type_builder.hpp"

namespace weir::pattern {

namespace {

constexpr std::size_t most_dimensions = 32;

tl::unexpected<Failure> wrong(std::string what) {
  return fail(ErrorCode::invalid_argument, std::move(what));
}

tl::unexpected<Failure> too_large() {
  return wrong("an array is larger than any file or memory");
}

Status check_dimensions(std::size_t dimensions, std::initializer_list<std::size_t> others) {
  if (dimensions == 0 || dimensions > most_dimensions)
    return wrong(fmt::format("an array of {} dimensions; 1 to {} can be", dimensions, most_dimensions));
  for (const std::size_t other : others) {
    if (other != dimensions)
      return wrong(fmt::format("an array of {} dimensions, and {} of its part", dimensions, other));
  }
  return {};
}

// The dimension that varies fastest, then the next one, ...
std::size_t dimension_at(std::size_t index, std::size_t dimensions, ArrayOrder order) {
  return order == ArrayOrder::c ? dimensions - 1 - index : index;
}

// `count` of what there is, `pitch` bytes apart, the first one at element `start`.
Result<Placed> row(const Placed& element, std::int64_t start, std::int64_t count, std::int64_t pitch) {
  std::int64_t by = 0;
  if (__builtin_mul_overflow(start, pitch, &by)) return too_large();
  WEIR_ASSIGN(Placed loop, make_loop(static_cast<std::uint64_t>(count), pitch, element));
  return shifted(std::move(loop), by);
}

struct Share {
  std::int64_t size, processes, coordinate, argument;
};

Result<Placed> block_share(const Share& share, std::int64_t pitch, const Placed& element) {
  const std::int64_t needed = (share.size - 1) / share.processes + 1;
  const std::int64_t block = share.argument == default_argument ? needed : share.argument;
  if (block < needed)
    return wrong(fmt::format("blocks of {} for {} processes do not hold {} elements", block, share.processes,
                             share.size));
  std::int64_t start = 0;
  // A start beyond 64 bits is beyond the array: nothing is left for this process.
  if (__builtin_mul_overflow(share.coordinate, block, &start) || start >= share.size) return Placed{};
  return row(element, start, std::min(block, share.size - start), pitch);
}

Result<Placed> cyclic_share(const Share& share, std::int64_t pitch, const Placed& element) {
  const std::int64_t block = share.argument == default_argument ? 1 : share.argument;
  if (block < 1) return wrong(fmt::format("blocks of {} elements", block));
  std::int64_t start = 0, cycle = 0, stride = 0;
  if (__builtin_mul_overflow(share.coordinate, block, &start) || start >= share.size) return Placed{};
  if (__builtin_mul_overflow(share.processes, block, &cycle)) cycle = share.size;  // there is only one
  const std::int64_t room = share.size - start;
  const std::int64_t whole = room >= block ? (room - block) / cycle + 1 : 0;
  std::vector<Placed> parts;
  if (whole > 0) {
    if (__builtin_mul_overflow(cycle, pitch, &stride)) return too_large();
    WEIR_ASSIGN(const Placed one, row(element, start, block, pitch));
    WEIR_ASSIGN(Placed all, make_loop(static_cast<std::uint64_t>(whole), stride, one));
    parts.push_back(std::move(all));
  }
  if (whole * cycle < room) {  // a last block that the edge of the array cuts
    WEIR_ASSIGN(Placed last,
                row(element, start + whole * cycle, std::min(block, room - whole * cycle), pitch));
    parts.push_back(std::move(last));
  }
  return make_list(std::move(parts));
}

}  // namespace

Result<Datatype> Datatype::subarray(std::span<const std::int64_t> sizes,
                                    std::span<const std::int64_t> subsizes,
                                    std::span<const std::int64_t> starts, ArrayOrder order,
                                    const Datatype& of) {
  WEIR_TRY(check_dimensions(sizes.size(), {subsizes.size(), starts.size()}));
  Placed placed = TypeBuilder::placed(of);
  std::int64_t pitch = of.extent();
  for (std::size_t index = 0; index < sizes.size(); ++index) {
    const std::size_t at = dimension_at(index, sizes.size(), order);
    if (sizes[at] < 1 || subsizes[at] < 1 || subsizes[at] > sizes[at] || starts[at] < 0 ||
        starts[at] > sizes[at] - subsizes[at])
      return wrong(fmt::format("dimension {}: {} elements from {} of an array of {}", at, subsizes[at],
                               starts[at], sizes[at]));
    WEIR_ASSIGN(placed, row(placed, starts[at], subsizes[at], pitch));
    if (__builtin_mul_overflow(pitch, sizes[at], &pitch)) return too_large();
  }
  return TypeBuilder::array(placed, pitch, static_cast<unsigned>(sizes.size()), of);
}

Result<Datatype> Datatype::darray(std::int64_t processes, std::int64_t rank,
                                  std::span<const std::int64_t> sizes,
                                  std::span<const Distribution> distributions,
                                  std::span<const std::int64_t> arguments, std::span<const std::int64_t> grid,
                                  ArrayOrder order, const Datatype& of) {
  const std::size_t dimensions = sizes.size();
  WEIR_TRY(check_dimensions(dimensions, {distributions.size(), arguments.size(), grid.size()}));
  // The grid of processes is in C order whatever the order of the array is.
  std::vector<std::int64_t> coordinates(dimensions);
  std::int64_t product = 1, rest = rank;
  for (std::size_t at = dimensions; at-- > 0;) {
    if (sizes[at] < 1 || grid[at] < 1 || __builtin_mul_overflow(product, grid[at], &product))
      return wrong(fmt::format("dimension {}: {} elements on {} processes", at, sizes[at], grid[at]));
    coordinates[at] = rest % grid[at];
    rest /= grid[at];
  }
  if (product != processes || rank < 0 || rank >= processes)
    return wrong(fmt::format("rank {} of {} processes in a grid of {}", rank, processes, product));
  Placed placed = TypeBuilder::placed(of);
  std::int64_t pitch = of.extent();
  for (std::size_t index = 0; index < dimensions; ++index) {
    const std::size_t at = dimension_at(index, dimensions, order);
    const Share share{sizes[at], grid[at], coordinates[at], arguments[at]};
    if (distributions[at] == Distribution::block) {
      WEIR_ASSIGN(placed, block_share(share, pitch, placed));
    } else if (distributions[at] == Distribution::cyclic) {
      WEIR_ASSIGN(placed, cyclic_share(share, pitch, placed));
    } else {
      if (grid[at] != 1)
        return wrong(fmt::format("dimension {} is not distributed, but has {} processes", at, grid[at]));
      WEIR_ASSIGN(placed, row(placed, 0, sizes[at], pitch));
    }
    if (__builtin_mul_overflow(pitch, sizes[at], &pitch)) return too_large();
  }
  return TypeBuilder::array(placed, pitch, static_cast<unsigned>(dimensions), of);
}

}  // namespace weir::pattern
