#include "interpose/gather.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weir::interpose {
namespace {

// What a rank of a 2-D tile writes, and a log file that rank 0 reads.
recording::Index rank_of_tile(std::uint64_t rank, std::uint64_t columns) {
  std::vector<LoggedFile> files;
  files.push_back({.name = "tile"});
  const auto row = static_cast<std::int64_t>(rank / columns),
             column = static_cast<std::int64_t>(rank % columns);
  for (int line = 0; line < 10; ++line)
    files[0].log.add({.writes = true,
                      .offset = (row * 10 + line) * static_cast<std::int64_t>(columns) * 64 + column * 64,
                      .bytes = 64});
  files[0].collective_writes = 10 + rank % 3;
  if (rank == 3) {
    files.push_back({.name = "log"});
    files[1].log.add({.offset = 5, .bytes = 7});
  }
  std::uint64_t lost = 0;
  std::vector<recording::CallBacklog> put_off;
  recording::Index index = recording_of_rank(files, std::vector<ViewTrees>(1), put_off, lost);
  EXPECT_EQ(lost, 0U);
  EXPECT_TRUE(put_off.empty());
  return index;
}

// As save_recording() does it, without messages.
recording::Index tree(std::uint64_t first, std::uint64_t ranks, std::uint64_t columns) {
  if (ranks == 1) return rank_of_tile(first, columns);
  std::uint64_t left = 1;
  while (left * 2 < ranks) left *= 2;
  return recording::joined(tree(first, left, columns), tree(first + left, ranks - left, columns));
}

TEST(Gather, RanksBecomeOnePatternWithSharedShapes) {
  const pattern::Pattern pattern = tree(0, 1000, 25).pattern;
  ASSERT_TRUE(pattern.check());
  ASSERT_EQ(pattern.ranks, 1000U);
  ASSERT_EQ(pattern.files.size(), 2U);
  EXPECT_EQ(pattern.shapes.size(), 2U) << "all tiles have one shape";
  const auto tile = pattern::find_file(pattern, "tile");
  ASSERT_TRUE(tile);
  const pattern::Totals totals = pattern.totals(pattern.files[*tile].writes);
  EXPECT_EQ(totals.bytes, 1000U * 640);
  EXPECT_EQ(totals.ranks, 1000U);
  EXPECT_EQ(totals.end, 1000 * 640);
  EXPECT_EQ(pattern.files[*tile].writes.collective_calls, 12U) << "those of the rank that made most";
  EXPECT_EQ(pattern.files[*tile].reads.collective_calls, 0U);
  for (std::uint64_t rank = 0; rank < 1000; rank += 37) {
    const auto uses = pattern.files[*tile].writes.of(rank);
    ASSERT_EQ(uses.size(), 1U);
    EXPECT_EQ(uses[0].offset, static_cast<std::int64_t>(rank / 25 * 10 * 25 * 64 + rank % 25 * 64));
  }
  const auto log = pattern::find_file(pattern, "log");
  ASSERT_TRUE(log);
  ASSERT_EQ(pattern.files[*log].reads.of(3).size(), 1U);
  EXPECT_EQ(pattern.files[*log].reads.of(3)[0].offset, 5);
}

TEST(Gather, CallsThroughTypesThatCannotBeUnderstoodAreCounted) {
  std::vector<LoggedFile> files;
  files.push_back({.name = "odd"});
  for (int i = 0; i < 5; ++i) files[0].log.add({.types = 1, .writes = true, .offset = 8 * i, .bytes = 8});
  files[0].log.add({.types = 0, .writes = true, .offset = 100, .bytes = 8});
  std::vector<ViewTrees> types(2);
  types[1].file_type = {.combiner = 9999, .size = 4, .extent = 4};
  std::uint64_t lost = 0;
  std::vector<recording::CallBacklog> put_off;
  const pattern::Pattern pattern = recording_of_rank(files, types, put_off, lost).pattern;
  EXPECT_EQ(lost, 5U);
  EXPECT_EQ(pattern.totals(pattern.files[0].writes).bytes, 8U);
}

}  // namespace
}  // namespace weir::interpose
