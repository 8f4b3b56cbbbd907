// The blocks of a store: written, read by window of time, and sorted from small ones into large ones.
//
// A small block (group -1) holds one write as it came, of any series. A large one holds series of one group.
// Each carries the number of the latest write in it; of two samples with the same time that of the later
// write counts.
//
// Threads: plain functions over a Database.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "store/block.hpp"
#include "store/columns.hpp"
#include "store/database.hpp"

namespace weir::store {

inline constexpr std::int64_t small_blocks = -1;
// So many small blocks, or samples in them, are sorted into large ones by whoever writes next.
inline constexpr std::int64_t most_small_blocks = 1024;
inline constexpr std::int64_t most_small_samples = 2'000'000;

// One transaction: all is on disk, or nothing. Columns in ascending order of series.
Status write_columns(Database& database, std::span<const ColumnView> columns);

// Samples of the wanted series (ascending numbers) in [from, to), series by series.
using EachColumn = std::function<Status(std::int64_t series, const Segment& samples)>;
Status read_columns(Database& database, std::span<const std::int64_t> wanted, std::int64_t from,
                    std::int64_t to, const EachColumn& each);

struct SmallBlocks {
  std::int64_t blocks = 0, samples = 0;
};
Result<SmallBlocks> count_small_blocks(Database& database);
Status sort_small_blocks(Database& database);   // one transaction
Status merge_large_blocks(Database& database);  // a transaction per stretch of blocks that gets merged

}  // namespace weir::store
