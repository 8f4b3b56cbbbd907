#include "pattern/stated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "pattern/bt_cells.hpp"

namespace weir::pattern {

namespace {

constexpr std::uint64_t most_bytes = std::numeric_limits<std::int64_t>::max();

// SplitMix64: the standard library's shuffles differ from one to the other.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t value = (state += 0x9e3779b97f4a7c15ULL);
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31U);
}

tl::unexpected<Failure> wrong(std::string what) {
  return fail(ErrorCode::invalid_argument, std::move(what));
}

Status check_product(std::initializer_list<std::uint64_t> factors, std::string_view what) {
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    if (factor == 0) return wrong(fmt::format("{}: every number must be above 0", what));
    if (__builtin_mul_overflow(product, factor, &product) || product > most_bytes)
      return wrong(fmt::format("{}: larger than the largest file", what));
  }
  return {};
}

Status check_ranks(std::uint64_t ranks, std::string_view what) {
  if (ranks == 0 || ranks > most_ranks)
    return wrong(fmt::format("{}: {} ranks; 1 to {} can be", what, ranks, most_ranks));
  return {};
}

template <class Parameters>
Pattern make(const Parameters& parameters, std::uint64_t ranks, std::string name) {
  Pattern pattern(ranks);
  FilePattern& file = pattern.add_file(std::move(name));
  file.writes.rank_begin.reserve(ranks + 1);
  file.writes.uses.reserve(ranks);
  const std::vector<std::uint32_t> position = permutation(ranks, parameters.seed);
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    for (const Access& access : accesses_of(parameters, position[rank]))
      pattern.add(file.writes, rank, access);
  }
  return pattern;
}

// Through ordered(), so that levels that are not needed are not there. REQUIRES: it is ordered already.
std::vector<Access> tidied(const Access& access) {
  return ordered(access).value();
}

}  // namespace

std::vector<std::uint32_t> permutation(std::uint64_t ranks, std::uint64_t seed) {
  std::vector<std::uint32_t> position(ranks);
  std::iota(position.begin(), position.end(), 0U);
  if (seed == 0) return position;
  std::uint64_t state = seed;
  for (std::uint64_t left = ranks; left > 1; --left)
    std::swap(position[left - 1], position[next_random(state) % left]);
  return position;
}

std::vector<Access> accesses_of(const Cartesian& grid, std::uint64_t position) {
  const std::size_t dimensions = grid.processes.size();
  Access access{0, {grid.element, std::vector<Level>(dimensions)}, 1};
  std::uint64_t pitch = grid.element;
  for (std::size_t at = dimensions; at-- > 0;) {
    access.shape.levels[at] = {grid.block[at], static_cast<std::int64_t>(pitch)};
    access.offset += static_cast<std::int64_t>(position % grid.processes[at] * grid.block[at] * pitch);
    position /= grid.processes[at];
    pitch *= grid.block[at] * grid.processes[at];
  }
  return tidied(access);
}

Result<Pattern> state(const Cartesian& grid) {
  if (grid.processes.empty() || grid.processes.size() != grid.block.size())
    return wrong(
        fmt::format("a grid of {} dimensions with blocks of {}", grid.processes.size(), grid.block.size()));
  if (grid.processes.size() > most_levels) return wrong("a grid of too many dimensions");
  std::uint64_t ranks = 1, total = grid.element;
  for (std::size_t at = 0; at < grid.processes.size(); ++at) {
    WEIR_TRY(check_product({total, grid.processes[at], grid.block[at]}, "grid"));
    total *= grid.processes[at] * grid.block[at];
    ranks *= grid.processes[at];
  }
  WEIR_TRY(check_ranks(ranks, "grid"));
  return make(grid, ranks, "grid");
}

std::vector<Access> accesses_of(const BlockTridiagonal& bt, std::uint64_t position) {
  const std::uint64_t q = bt_side(bt.ranks), x0 = position % q, y0 = position / q;
  const BtCut cut(bt.points, q);
  const std::uint64_t row = bt.points * bt.element, plane = bt.points * row, cube = bt.points * plane;
  // In layer z a rank's cell has moved by z in x, and by -z in y.
  const auto x_of = [&](std::uint64_t z) { return (x0 + z) % q; };
  const auto y_of = [&](std::uint64_t z) { return (y0 + q - z) % q; };
  const auto cell = [&](std::uint64_t z) {
    const std::uint64_t x = x_of(z), y = y_of(z);
    return Access{
        static_cast<std::int64_t>(cut.begin(z) * plane + cut.begin(y) * row + cut.begin(x) * bt.element),
        {cut.size(x) * bt.element,
         {{cut.size(z), static_cast<std::int64_t>(plane)}, {cut.size(y), static_cast<std::int64_t>(row)}}},
        1};
  };
  // Cells follow each other at a constant distance until a coordinate wraps around or sizes change.
  std::vector<std::uint64_t> ends{
      q, cut.larger, q - x0, (cut.larger + q - x0) % q, y0 + 1, (y0 + q - cut.larger + 1) % q};
  std::sort(ends.begin(), ends.end());
  std::vector<Access> result;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends) {
    if (end <= begin || end > q) continue;
    Access run = cell(begin);
    if (end - begin > 1)
      run.shape.levels.insert(run.shape.levels.begin(), {end - begin, cell(begin + 1).offset - run.offset});
    if (bt.steps > 1)
      run.shape.levels.insert(run.shape.levels.begin(), {bt.steps, static_cast<std::int64_t>(cube)});
    for (Access& access : tidied(run)) result.push_back(std::move(access));
    begin = end;
  }
  return result;
}

Result<Pattern> state(const BlockTridiagonal& bt) {
  WEIR_TRY(check_ranks(bt.ranks, "BT"));
  const std::uint64_t q = bt_side(bt.ranks);
  if (q * q != bt.ranks) return wrong(fmt::format("BT: {} ranks are no square", bt.ranks));
  WEIR_TRY(check_product({bt.points, bt.points, bt.points, bt.element, bt.steps}, "BT"));
  if (bt.points < q) return wrong(fmt::format("BT: {} points cannot be cut into {} cells", bt.points, q));
  return make(bt, bt.ranks, "bt");
}

std::vector<Access> accesses_of(const Ior& ior, std::uint64_t position) {
  const std::uint64_t segment = ior.ranks * ior.block;
  Access access{0, {ior.transfer, {}}, 1};
  access.shape.levels.push_back({ior.segments, static_cast<std::int64_t>(segment)});
  const std::uint64_t apart = ior.strided ? ior.ranks * ior.transfer : ior.transfer;
  access.shape.levels.push_back({ior.block / ior.transfer, static_cast<std::int64_t>(apart)});
  access.offset = static_cast<std::int64_t>(position * (ior.strided ? ior.transfer : ior.block));
  return tidied(access);
}

Result<Pattern> state(const Ior& ior) {
  WEIR_TRY(check_ranks(ior.ranks, "IOR"));
  WEIR_TRY(check_product({ior.ranks, ior.block, ior.segments}, "IOR"));
  if (ior.transfer == 0 || ior.block % ior.transfer != 0)
    return wrong(
        fmt::format("IOR: a block of {} bytes is no multiple of a transfer of {}", ior.block, ior.transfer));
  return make(ior, ior.ranks, "ior");
}

std::vector<Access> accesses_of(const Hpio& hpio, std::uint64_t position) {
  const std::uint64_t each = hpio.region + hpio.spacing;
  return tidied({static_cast<std::int64_t>(position * each),
                 {hpio.region, {{hpio.regions, static_cast<std::int64_t>(hpio.ranks * each)}}},
                 1});
}

Result<Pattern> state(const Hpio& hpio) {
  WEIR_TRY(check_ranks(hpio.ranks, "HPIO"));
  WEIR_TRY(check_product({hpio.region}, "HPIO"));
  if (hpio.spacing > most_bytes) return wrong("HPIO: larger than the largest file");
  WEIR_TRY(check_product({hpio.ranks, hpio.regions, hpio.region + hpio.spacing}, "HPIO"));
  return make(hpio, hpio.ranks, "hpio");
}

}  // namespace weir::pattern
