#include "store/block_table.hpp"

#include <algorithm>
#include <map>

#include "store/series_index.hpp"

namespace weir::store {

namespace {

// Fewer samples than this of a group are not worth a block of their own.
constexpr std::size_t least_samples_of_a_large_block = 4096;

// A new write is later than all there are, and its own number says so: `order` is then 0.
#define WEIR_BLOCK_ORDER "CASE seq WHEN 0 THEN id ELSE seq END"
constexpr std::int64_t of_its_own = 0;

Status insert_block(Database& database, std::int64_t group, std::int64_t order,
                    std::span<const ColumnView> columns) {
  std::int64_t first = INT64_MAX, last = INT64_MIN, samples = 0;
  for (const ColumnView& column : columns) {
    first = std::min(first, column.times.front());
    last = std::max(last, column.times.back());
    samples += static_cast<std::int64_t>(column.times.size());
  }
  const std::string data = encode_block(columns);
  return database.run(
      "INSERT INTO weir_blocks (grp, seq, first_ns, last_ns, samples, data) VALUES ($1, $2, $3, $4, $5, $6)",
      {group, order, first, last, samples, Bytes{data}});
}

Status insert_cut(Database& database, std::int64_t group, std::int64_t order,
                  std::span<const ColumnView> columns) {
  Status status;
  cut_into_blocks(columns, [&](std::span<const ColumnView> part) {
    if (status) status = insert_block(database, group, order, part);
  });
  return status;
}

Result<Block> decode_row(const Row& row, int id_column, int data_column) {
  auto block = Block::decode(row.bytes(data_column));
  if (!block) add_context(block.error(), "read block " + std::to_string(row.integer(id_column)), {});
  return block;
}

using SegmentsBySeries = std::map<std::int64_t, std::vector<Segment>>;

// All of a block.
void take_all(const Block& block, std::int64_t order, SegmentsBySeries& into) {
  for (const Block::Column& column : block.columns()) {
    Segment& segment = into[column.series].emplace_back();
    segment.order = order;
    const auto times = block.times(column);
    segment.times.assign(times.begin(), times.end());
    block.values(column, segment.values);
  }
}

// What a query wants of a block: both lists ascend.
void take_wanted(const Block& block, std::int64_t order, std::span<const std::int64_t> wanted,
                 std::int64_t from, std::int64_t to, SegmentsBySeries& into,
                 std::vector<std::uint64_t>& scratch) {
  auto next = wanted.begin();
  for (const Block::Column& column : block.columns()) {
    next = std::lower_bound(next, wanted.end(), column.series);
    if (next == wanted.end()) return;
    if (*next != column.series) continue;
    const auto times = block.times(column);
    const auto begin = std::lower_bound(times.begin(), times.end(), from);
    const auto end = std::lower_bound(begin, times.end(), to);
    if (begin == end) continue;
    block.values(column, scratch);
    Segment& segment = into[column.series].emplace_back();
    segment.order = order;
    segment.times.assign(begin, end);
    segment.values.assign(scratch.begin() + (begin - times.begin()), scratch.begin() + (end - times.begin()));
  }
}

constexpr std::string_view select_blocks =
    "SELECT id, " WEIR_BLOCK_ORDER
    ", data FROM weir_blocks WHERE grp = $1 AND last_ns >= $2 AND first_ns < $3 "
    "ORDER BY last_ns";

// The samples of a group as columns, in large blocks.
Status insert_segments(Database& database, std::int64_t group, SegmentsBySeries& segments) {
  std::int64_t order = 0;
  std::vector<Segment> merged;
  merged.reserve(segments.size());
  std::vector<ColumnView> columns;
  for (auto& [series, parts] : segments) {
    merged.push_back(merge_segments(parts));
    order = std::max(order, merged.back().order);
    columns.push_back({series, merged.back().times, merged.back().values});
  }
  return insert_cut(database, group, order, columns);
}

Status delete_blocks(Database& database, std::span<const std::int64_t> ids) {
  for (const std::int64_t id : ids) WEIR_TRY(database.run("DELETE FROM weir_blocks WHERE id = $1", {id}));
  return {};
}

// Large blocks of the group, written since, that these columns may have replaced something in: they must go
// along, or the merged block would count as later than they are. Few stores have any.
Status take_overlapping(Database& database, std::int64_t group, std::int64_t since,
                        std::span<const ColumnView> columns, SegmentsBySeries& segments,
                        std::vector<std::int64_t>& used) {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const ColumnView& column : columns) {
    first = std::min(first, column.times.front());
    last = std::max(last, column.times.back());
  }
  return database.run(
      "SELECT id, " WEIR_BLOCK_ORDER
      ", data FROM weir_blocks WHERE grp = $1 AND last_ns >= $2 AND first_ns <= $3 AND " WEIR_BLOCK_ORDER
      " >= $4",
      {group, first, last, since}, [&](const Row& row) -> Status {
        WEIR_ASSIGN(const Block block, decode_row(row, 0, 2));
        take_all(block, row.integer(1), segments);
        used.push_back(row.integer(0));
        return {};
      });
}

// Small blocks as they were read, in the order of their writes.
struct ReadBlock {
  std::int64_t order = 0;
  Block block;
};

// The exact way, sample by sample, for a group in which writes of both kinds overlap.
Status insert_mixed(Database& database, std::int64_t group, std::span<const ReadBlock> blocks,
                    SegmentsBySeries& segments) {
  for (const ReadBlock& read : blocks) {
    for (const Block::Column& column : read.block.columns()) {
      if (group_of(column.series) != group) continue;
      Segment& segment = segments[column.series].emplace_back();
      segment.order = read.order;
      const auto times = read.block.times(column);
      segment.times.assign(times.begin(), times.end());
      read.block.values(column, segment.values);
    }
  }
  return insert_segments(database, group, segments);
}

}  // namespace

Status write_columns(Database& database, std::span<const ColumnView> columns) {
  return in_transaction(database, [&]() -> Status {
    std::vector<ColumnView> small;
    std::size_t small_samples = 0;
    const auto flush = [&]() -> Status {
      if (small.empty()) return {};
      WEIR_TRY(insert_block(database, small_blocks, of_its_own, small));
      small.clear();
      small_samples = 0;
      return {};
    };
    for (std::size_t begin = 0; begin < columns.size();) {
      const std::int64_t group = group_of(columns[begin].series);
      std::size_t end = begin, samples = 0;
      for (; end < columns.size() && group_of(columns[end].series) == group; ++end)
        samples += columns[end].times.size();
      const auto part = columns.subspan(begin, end - begin);
      if (samples >= least_samples_of_a_large_block) {
        WEIR_TRY(insert_cut(database, group, of_its_own, part));
      } else {
        small.insert(small.end(), part.begin(), part.end());
        small_samples += samples;
        if (small_samples > most_samples_in_block / 4) WEIR_TRY(flush());
      }
      begin = end;
    }
    return flush();
  });
}

Status read_columns(Database& database, std::span<const std::int64_t> wanted, std::int64_t from,
                    std::int64_t to, const EachColumn& each) {
  if (wanted.empty() || from >= to) return {};
  WEIR_TRY(database.begin_read());
  struct End {
    Database& database;
    ~End() { database.rollback(); }
  } const end{database};

  std::vector<std::uint64_t> scratch;
  const auto collect = [&](std::int64_t group, std::span<const std::int64_t> series, SegmentsBySeries& into) {
    return database.run(select_blocks, {group, from, to}, [&](const Row& row) -> Status {
      WEIR_ASSIGN(const Block block, decode_row(row, 0, 2));
      take_wanted(block, row.integer(1), series, from, to, into, scratch);
      return {};
    });
  };
  SegmentsBySeries recent;
  WEIR_TRY(collect(small_blocks, wanted, recent));
  for (std::size_t begin = 0; begin < wanted.size();) {
    const std::int64_t group = group_of(wanted[begin]);
    std::size_t stop = begin;
    while (stop < wanted.size() && group_of(wanted[stop]) == group) ++stop;
    SegmentsBySeries segments;
    while (!recent.empty() && group_of(recent.begin()->first) <= group)
      segments.insert(recent.extract(recent.begin()));
    WEIR_TRY(collect(group, wanted.subspan(begin, stop - begin), segments));
    for (auto& [series, parts] : segments) WEIR_TRY(each(series, merge_segments(parts)));
    begin = stop;
  }
  return {};
}

Result<SmallBlocks> count_small_blocks(Database& database) {
  SmallBlocks counted;
  WEIR_TRY(database.run(
      "SELECT COUNT(*), CAST(COALESCE(SUM(samples), 0) AS BIGINT) FROM weir_blocks WHERE grp = $1",
      {small_blocks}, [&](const Row& row) -> Status {
        counted = {row.integer(0), row.integer(1)};
        return {};
      }));
  return counted;
}

Status sort_small_blocks(Database& database) {
  return in_transaction(database, [&]() -> Status {
    WEIR_TRY(database.lock());
    std::vector<ReadBlock> blocks;
    std::vector<std::int64_t> used;
    std::int64_t earliest = INT64_MAX, latest = 0, samples = 0;
    // Bounded: of a store that nobody sorted for long, the rest comes next time.
    WEIR_TRY(database.run("SELECT id, " WEIR_BLOCK_ORDER
                          ", data, samples FROM weir_blocks WHERE grp = $1 ORDER BY id LIMIT 8192",
                          {small_blocks}, [&](const Row& row) -> Status {
                            if (samples > 2 * most_small_samples) return {};
                            WEIR_ASSIGN(Block block, decode_row(row, 0, 2));
                            blocks.push_back({row.integer(1), std::move(block)});
                            used.push_back(row.integer(0));
                            earliest = std::min(earliest, row.integer(1));
                            latest = std::max(latest, row.integer(1));
                            samples += row.integer(3);
                            return {};
                          }));
    SampleHeap heap;
    std::vector<std::uint64_t> values;
    for (const ReadBlock& read : blocks) {
      for (const Block::Column& column : read.block.columns()) {
        read.block.values(column, values);
        heap.add(column.series, read.block.times(column), values);
      }
    }
    const std::vector<ColumnView> columns = heap.columns();
    for (std::size_t begin = 0; begin < columns.size();) {
      const std::int64_t group = group_of(columns[begin].series);
      std::size_t end = begin;
      while (end < columns.size() && group_of(columns[end].series) == group) ++end;
      const auto part = std::span(columns).subspan(begin, end - begin);
      SegmentsBySeries overlapping;
      WEIR_TRY(take_overlapping(database, group, earliest, part, overlapping, used));
      if (overlapping.empty()) {
        WEIR_TRY(insert_cut(database, group, latest, part));
      } else {
        WEIR_TRY(insert_mixed(database, group, blocks, overlapping));
      }
      begin = end;
    }
    return delete_blocks(database, used);
  });
}

namespace {

struct BlockEntry {
  std::int64_t id = 0, first = 0, last = 0, samples = 0;
};

// Blocks that overlap in time stay together; neighbours are joined while the result is about one full block.
std::vector<std::vector<BlockEntry>> stretches_to_merge(const std::vector<BlockEntry>& blocks) {
  constexpr auto full = static_cast<std::int64_t>(samples_of_a_block);
  struct Stretch {
    std::vector<BlockEntry> blocks;
    std::int64_t last = 0, samples = 0;
  };
  std::vector<Stretch> stretches;
  for (const BlockEntry& block : blocks) {
    if (stretches.empty() || block.first > stretches.back().last) {
      stretches.push_back({{block}, block.last, block.samples});
    } else {
      Stretch& stretch = stretches.back();
      stretch.blocks.push_back(block);
      stretch.last = std::max(stretch.last, block.last);
      stretch.samples += block.samples;
    }
  }
  std::vector<std::vector<BlockEntry>> merges;
  std::vector<BlockEntry> joined;
  std::int64_t samples = 0;
  const auto flush = [&] {
    if (joined.size() > 1 && samples <= static_cast<std::int64_t>(most_samples_in_block))
      merges.push_back(std::move(joined));
    joined.clear();
    samples = 0;
  };
  for (const Stretch& stretch : stretches) {
    if (samples + stretch.samples > full + full / 2) flush();
    joined.insert(joined.end(), stretch.blocks.begin(), stretch.blocks.end());
    samples += stretch.samples;
  }
  flush();
  return merges;
}

}  // namespace

Status merge_large_blocks(Database& database) {
  std::map<std::int64_t, std::vector<BlockEntry>> groups;
  WEIR_TRY(database.run(
      "SELECT grp, id, first_ns, last_ns, samples FROM weir_blocks WHERE grp >= 0 ORDER BY first_ns", {},
      [&](const Row& row) -> Status {
        groups[row.integer(0)].push_back({row.integer(1), row.integer(2), row.integer(3), row.integer(4)});
        return {};
      }));
  for (const auto& [number, blocks] : groups) {
    const std::int64_t group = number;  // clang 14 lets no function see what a binding names
    for (const std::vector<BlockEntry>& stretch : stretches_to_merge(blocks)) {
      const auto merge = [&]() -> Status {
        WEIR_TRY(database.lock());
        SegmentsBySeries segments;
        std::vector<std::int64_t> used;
        const auto take = [&](const Row& row) -> Status {
          WEIR_ASSIGN(const Block block, decode_row(row, 0, 2));
          take_all(block, row.integer(1), segments);
          used.push_back(row.integer(0));
          return {};
        };
        for (const BlockEntry& entry : stretch) {
          WEIR_TRY(database.run("SELECT id, " WEIR_BLOCK_ORDER ", data FROM weir_blocks WHERE id = $1",
                                {entry.id}, take));
        }
        // Somebody else was quicker with one of them: leave it for the next time.
        if (used.size() != stretch.size()) return {};
        WEIR_TRY(insert_segments(database, group, segments));
        return delete_blocks(database, used);
      };
      WEIR_TRY(in_transaction(database, merge));
    }
  }
  return {};
}

}  // namespace weir::store
