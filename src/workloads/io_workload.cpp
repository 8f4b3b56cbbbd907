#include "workloads/io_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/options.hpp"

namespace weir::workloads {

using pattern::Access;
using pattern::BlockTridiagonal;
using pattern::Cartesian;
using pattern::Hpio;
using pattern::Ior;

const std::vector<std::string>& io_workload_names() {
  static const std::vector<std::string> names = {"tile", "tile-modified", "btio", "ior", "hpio"};
  return names;
}

std::uint64_t ranks_of(const IoWorkload& workload) {
  if (const auto* grid = std::get_if<Cartesian>(&workload.shape)) {
    std::uint64_t ranks = 1;
    for (const std::uint64_t count : grid->processes) ranks *= count;
    return ranks;
  }
  if (const auto* bt = std::get_if<BlockTridiagonal>(&workload.shape)) return bt->ranks;
  if (const auto* ior = std::get_if<Ior>(&workload.shape)) return ior->ranks;
  return std::get<Hpio>(workload.shape).ranks;
}

Result<pattern::Pattern> pattern_of(const IoWorkload& workload) {
  return in(std::visit([](const auto& shape) { return pattern::state(shape); }, workload.shape),
            "describe the workload " + workload.name);
}

std::string describe(const IoWorkload& workload) {
  if (const auto* grid = std::get_if<Cartesian>(&workload.shape))
    return fmt::format("{} tiles of {} elements of {}{}", fmt::join(grid->processes, " x "),
                       fmt::join(grid->block, " x "), format_bytes(grid->element),
                       grid->seed == 0 ? "" : fmt::format(", ranks reordered (seed {})", grid->seed));
  if (const auto* bt = std::get_if<BlockTridiagonal>(&workload.shape))
    return fmt::format("a cube of {} x {} x {} points of {}, {} steps, diagonal multi-partition of {} ranks",
                       bt->points, bt->points, bt->points, format_bytes(bt->element), bt->steps, bt->ranks);
  if (const auto* ior = std::get_if<Ior>(&workload.shape))
    return fmt::format("{} of {} in transfers of {}, {} times, {}", ior->ranks == 1 ? "a block" : "blocks",
                       format_bytes(ior->block), format_bytes(ior->transfer), ior->segments,
                       ior->strided ? "strided" : "segmented");
  const auto& hpio = std::get<Hpio>(workload.shape);
  return fmt::format("{} regions a rank of {} bytes, {} bytes apart", hpio.regions, hpio.region,
                     hpio.spacing);
}

Json io_workload_to_json(const IoWorkload& workload) {
  Json json = {{"name", workload.name}};
  if (const auto* grid = std::get_if<Cartesian>(&workload.shape)) {
    json.update({{"kind", "grid"},
                 {"processes", grid->processes},
                 {"block", grid->block},
                 {"element", grid->element},
                 {"seed", grid->seed}});
  } else if (const auto* bt = std::get_if<BlockTridiagonal>(&workload.shape)) {
    json.update({{"kind", "bt"},
                 {"ranks", bt->ranks},
                 {"points", bt->points},
                 {"element", bt->element},
                 {"steps", bt->steps},
                 {"seed", bt->seed}});
  } else if (const auto* ior = std::get_if<Ior>(&workload.shape)) {
    json.update({{"kind", "ior"},
                 {"ranks", ior->ranks},
                 {"transfer", ior->transfer},
                 {"block", ior->block},
                 {"segments", ior->segments},
                 {"strided", ior->strided},
                 {"seed", ior->seed}});
  } else {
    const auto& hpio = std::get<Hpio>(workload.shape);
    json.update({{"kind", "hpio"},
                 {"ranks", hpio.ranks},
                 {"regions", hpio.regions},
                 {"region", hpio.region},
                 {"spacing", hpio.spacing},
                 {"seed", hpio.seed}});
  }
  return json;
}

namespace {

Result<std::vector<std::uint64_t>> sizes(const JsonObject& object, const std::string& key) {
  WEIR_ASSIGN(const Json* array, object.array(key));
  std::vector<std::uint64_t> numbers;
  for (const Json& value : *array) {
    const auto number = as_size(value);
    if (!number) return fail(ErrorCode::corrupt, fmt::format("{}: '{}' holds no size", object.where(), key));
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

Result<IoWorkload> io_workload_from_json(const Json& json) {
  WEIR_ASSIGN(const JsonObject object, JsonObject::of(json, "workload"));
  IoWorkload workload;
  WEIR_ASSIGN(workload.name, object.text("name"));
  WEIR_ASSIGN(const std::string kind, object.text("kind"));
  WEIR_ASSIGN(const std::uint64_t seed, object.size("seed"));
  if (kind == "grid") {
    Cartesian grid{.processes = {}, .block = {}, .element = 0, .seed = seed};
    WEIR_ASSIGN(grid.processes, sizes(object, "processes"));
    WEIR_ASSIGN(grid.block, sizes(object, "block"));
    WEIR_ASSIGN(grid.element, object.size("element"));
    workload.shape = grid;
  } else if (kind == "bt") {
    BlockTridiagonal bt{.seed = seed};
    WEIR_ASSIGN(bt.ranks, object.size("ranks"));
    WEIR_ASSIGN(bt.points, object.size("points"));
    WEIR_ASSIGN(bt.element, object.size("element"));
    WEIR_ASSIGN(bt.steps, object.size("steps"));
    workload.shape = bt;
  } else if (kind == "ior") {
    Ior ior{.seed = seed};
    WEIR_ASSIGN(ior.ranks, object.size("ranks"));
    WEIR_ASSIGN(ior.transfer, object.size("transfer"));
    WEIR_ASSIGN(ior.block, object.size("block"));
    WEIR_ASSIGN(ior.segments, object.size("segments"));
    WEIR_ASSIGN(ior.strided, object.boolean("strided"));
    workload.shape = ior;
  } else if (kind == "hpio") {
    Hpio hpio{.seed = seed};
    WEIR_ASSIGN(hpio.ranks, object.size("ranks"));
    WEIR_ASSIGN(hpio.regions, object.size("regions"));
    WEIR_ASSIGN(hpio.region, object.size("region"));
    WEIR_ASSIGN(hpio.spacing, object.size("spacing"));
    workload.shape = hpio;
  } else {
    return fail(ErrorCode::corrupt, fmt::format("a workload of kind '{}'", kind));
  }
  WEIR_TRY(pattern_of(workload));
  return workload;
}

std::vector<Access> IoProgram::accesses(std::uint64_t call) const {
  if (tile.empty()) return {Access::contiguous(offsets[call], call_bytes)};
  std::vector<Access> result = tile;
  for (Access& access : result) access.offset += static_cast<std::int64_t>(call) * extent;
  return result;
}

std::vector<Access> IoProgram::all_accesses() const {
  std::vector<Access> result;
  for (std::uint64_t call = 0; call < calls; ++call) {
    for (Access& access : accesses(call)) result.push_back(std::move(access));
  }
  return result;
}

namespace {

std::uint64_t position_of(std::uint64_t ranks, std::uint64_t seed, std::uint64_t rank) {
  return seed == 0 ? rank : pattern::permutation(ranks, seed)[rank];
}

IoProgram through_view(std::vector<Access> tile, std::uint64_t extent, std::uint64_t calls) {
  IoProgram program{
      .tile = std::move(tile), .extent = static_cast<std::int64_t>(extent), .calls = calls, .offsets = {}};
  for (const Access& access : program.tile) program.call_bytes += pattern::bytes(access);
  return program;
}

}  // namespace

IoProgram program_of(const IoWorkload& workload, std::uint64_t rank) {
  const std::uint64_t ranks = ranks_of(workload);
  if (const auto* grid = std::get_if<Cartesian>(&workload.shape)) {
    std::uint64_t extent = ranks * grid->element;
    for (const std::uint64_t count : grid->block) extent *= count;
    return through_view(pattern::accesses_of(*grid, position_of(ranks, grid->seed, rank)), extent, 1);
  }
  if (const auto* bt = std::get_if<BlockTridiagonal>(&workload.shape)) {
    BlockTridiagonal step = *bt;
    step.steps = 1;
    return through_view(pattern::accesses_of(step, position_of(ranks, bt->seed, rank)),
                        bt->points * bt->points * bt->points * bt->element, bt->steps);
  }
  if (const auto* hpio = std::get_if<Hpio>(&workload.shape)) {
    return through_view(pattern::accesses_of(*hpio, position_of(ranks, hpio->seed, rank)),
                        ranks * hpio->regions * (hpio->region + hpio->spacing), 1);
  }
  const auto& ior = std::get<Ior>(workload.shape);
  IoProgram program{.tile = {}, .calls = 0, .call_bytes = ior.transfer, .offsets = {}};
  const std::uint64_t position = position_of(ranks, ior.seed, rank);
  for (std::uint64_t segment = 0; segment < ior.segments; ++segment) {
    for (std::uint64_t transfer = 0; transfer < ior.block / ior.transfer; ++transfer) {
      const std::uint64_t in_segment = ior.strided ? (transfer * ranks + position) * ior.transfer
                                                   : position * ior.block + transfer * ior.transfer;
      program.offsets.push_back(static_cast<std::int64_t>(segment * ranks * ior.block + in_segment));
    }
  }
  program.calls = program.offsets.size();
  return program;
}

std::vector<std::uint32_t> segments_of(const IoWorkload& workload, std::uint32_t groups) {
  const std::uint64_t ranks = ranks_of(workload);
  const std::uint64_t seed = std::visit([](const auto& shape) { return shape.seed; }, workload.shape);
  std::vector<std::uint32_t> group_of;
  for (const std::uint32_t position : pattern::permutation(ranks, seed))
    group_of.push_back(static_cast<std::uint32_t>(std::uint64_t{position} * groups / ranks));
  return group_of;
}

namespace {

// Eight bytes of the file: far from anything that stands there by accident, and from their neighbours.
std::uint64_t word_at(std::uint64_t index) {
  std::uint64_t value = index * 0x9e3779b97f4a7c15ULL + 0x1f83d9abfb41bd6bULL;
  value = (value ^ (value >> 31U)) * 0xbf58476d1ce4e5b9ULL;
  return value ^ (value >> 29U);
}

// Calls visit(bytes, count) for the file's content from `offset` on, at most eight bytes at a time.
template <class Visit>
void for_each_word(std::int64_t offset, std::uint64_t length, const Visit& visit) {
  auto at = static_cast<std::uint64_t>(offset);
  while (length > 0) {
    const std::uint64_t word = word_at(at / 8), skip = at % 8;
    const std::uint64_t count = std::min<std::uint64_t>(8 - skip, length);
    if (!visit(reinterpret_cast<const std::byte*>(&word) + skip, count)) return;
    at += count;
    length -= count;
  }
}

}  // namespace

void fill(std::span<const Access> accesses, std::byte* memory) {
  for (const Access& access : accesses) {
    for (pattern::PieceCursor cursor(access); !cursor.done(); cursor.advance()) {
      for_each_word(cursor.piece().offset, cursor.piece().length,
                    [&](const std::byte* bytes, std::uint64_t count) {
                      std::memcpy(memory, bytes, count);
                      memory += count;
                      return true;
                    });
    }
  }
}

std::optional<std::int64_t> find_wrong(std::span<const Access> accesses, const std::byte* memory) {
  std::optional<std::int64_t> wrong;
  for (const Access& access : accesses) {
    for (pattern::PieceCursor cursor(access); !cursor.done(); cursor.advance()) {
      std::int64_t at = cursor.piece().offset;
      for_each_word(at, cursor.piece().length, [&](const std::byte* bytes, std::uint64_t count) {
        if (std::memcmp(memory, bytes, count) != 0)
          wrong = at + std::mismatch(bytes, bytes + count, memory).first - bytes;
        memory += count;
        at += static_cast<std::int64_t>(count);
        return !wrong;
      });
      if (wrong) return wrong;
    }
  }
  return wrong;
}

}  // namespace weir::workloads
