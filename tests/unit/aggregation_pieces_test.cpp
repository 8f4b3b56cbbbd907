// Pieces, cycles and rings against the plain way.
#include <gtest/gtest.h>

#include <algorithm>

#include "aggregation/cycles.hpp"
#include "aggregation/ring.hpp"
#include "aggregation_support.hpp"

namespace weir::aggregation {
namespace {

using test::bytes_of;
using test::random_pieces;
using test::rows_of;

TEST(Pieces, TileIsOneRow) {
  RowBuilder builder;
  for (std::uint64_t line = 0; line < 64; ++line) builder.add(1000 + line * 4096, 256);
  EXPECT_EQ(builder.rows(), (Rows{{.offset = 1000, .length = 256, .count = 64, .stride = 4096}}));
  builder.add(1000 + 63 * 4096 + 256, 10);  // grows the last line, which leaves the row
  EXPECT_EQ(builder.rows(), (Rows{{.offset = 1000, .length = 256, .count = 63, .stride = 4096},
                                  {.offset = 1000 + 63 * 4096, .length = 266}}));
}

TEST(Pieces, RowsJoinAndTouchingOnesBecomeOnePiece) {
  RowBuilder builder;
  builder.add(Row{.offset = 0, .length = 8, .count = 3, .stride = 16});
  builder.add(Row{.offset = 48, .length = 8, .count = 2, .stride = 16});
  EXPECT_EQ(builder.rows().size(), 1U);
  builder.add(Row{.offset = 72, .length = 8, .count = 4, .stride = 16});  // touches the last piece
  EXPECT_EQ(bytes_of(builder.rows()).size(), 72U);
  EXPECT_TRUE(check(builder.rows(), false));
  builder.add(Row{.offset = 200, .length = 8, .count = 4, .stride = 8});  // stands for one piece of 32
  EXPECT_EQ(builder.rows().back(), (Row{.offset = 200, .length = 32, .count = 1, .stride = 0}));
}

TEST(Pieces, RandomOnesKeepTheirBytes) {
  test::Random random(7);
  for (int round = 0; round < 500; ++round) {
    const auto pieces = random_pieces(random, 400);
    const Rows rows = rows_of(pieces);
    ASSERT_TRUE(check(rows, false));
    const auto bytes = bytes_of(pieces);
    ASSERT_EQ(bytes_of(rows), bytes);
    ASSERT_EQ(total_bytes(rows), bytes.size());

    const std::uint64_t begin = random() % 400;
    const std::uint64_t end = begin + random() % 200;
    std::vector<std::uint64_t> inside;
    std::copy_if(bytes.begin(), bytes.end(), std::back_inserter(inside),
                 [&](std::uint64_t b) { return b >= begin && b < end; });
    ASSERT_EQ(bytes_of(clip(rows, begin, end)), inside) << begin << ".." << end;

    const RowIndex index(rows);
    ASSERT_EQ(
        index.bytes_before(begin),
        static_cast<std::uint64_t>(std::lower_bound(bytes.begin(), bytes.end(), begin) - bytes.begin()));
    if (!bytes.empty()) {
      const std::uint64_t position = random() % (bytes.size() + 1);
      Cursor cursor = index.at(position);
      ASSERT_EQ(cursor.done(), position == bytes.size());
      for (std::uint64_t at = position; !cursor.done();) {
        const Piece piece = cursor.piece();
        ASSERT_EQ(piece.offset, bytes[at]);
        const std::uint64_t step = 1 + random() % piece.length;
        cursor.advance(step);
        at += step;
      }
    }
  }
}

TEST(Pieces, HashIsBlindToAShiftAndToNothingElse) {
  const Rows rows = {{.offset = 100, .length = 8, .count = 5, .stride = 32}, {.offset = 1000, .length = 9}};
  Rows moved = rows;
  for (Row& row : moved) row.offset += 4096;
  EXPECT_EQ(shape_hash(rows), shape_hash(moved));
  for (const auto change : {&Row::offset, &Row::length}) {
    Rows other = rows;
    other[1].*change += 1;
    EXPECT_NE(shape_hash(rows), shape_hash(other));
  }
  Rows other = rows;
  other[0].stride += 1;
  EXPECT_NE(shape_hash(rows), shape_hash(other));
}

TEST(Pieces, WrongOnesAreRefused) {
  const auto refused = [](const Row& row) { return !check(Rows{row}, true); };
  EXPECT_TRUE(refused({.offset = 0, .length = 0}));
  EXPECT_TRUE(refused({.offset = 0, .length = 1, .count = 0}));
  EXPECT_TRUE(refused({.offset = UINT64_MAX, .length = 1}));
  EXPECT_TRUE(refused({.offset = INT64_MAX, .length = 1}));
  EXPECT_TRUE(refused({.offset = 0, .length = 1, .count = 1U << 31U, .stride = 1ULL << 40U}));
  EXPECT_FALSE(check(Rows{{.offset = 8, .length = 4}, {.offset = 4, .length = 2}}, true));
  EXPECT_FALSE(check(Rows{{.offset = 0, .length = 8}, {.offset = 4, .length = 8}}, false));
  EXPECT_TRUE(check(Rows{{.offset = 0, .length = 8}, {.offset = 4, .length = 8}}, true));
  EXPECT_FALSE(check(Rows{{.offset = 0, .length = 8, .count = 2, .stride = 4}}, false));
}

std::vector<RowIndex> random_sources(test::Random& random, std::size_t most) {
  std::vector<RowIndex> sources;
  for (std::size_t i = 1 + random() % most; i > 0; --i)
    sources.emplace_back(rows_of(random_pieces(random, 300)));
  return sources;
}

TEST(Cycles, TakeEverythingWithinTheirLimits) {
  test::Random random(11);
  for (int round = 0; round < 300; ++round) {
    const auto sources = random_sources(random, 6);
    const CycleLimits limits{
        .bytes = 8 + random() % 100, .pieces = 6 + random() % 30, .alignment = 1 + random() % 20};
    const auto boundaries = cut_cycles(sources, limits);
    const Status good = check(boundaries, sources, limits);
    ASSERT_TRUE(good) << good.error().message();

    std::set<std::uint64_t> wanted;
    for (const auto& source : sources)
      for (const std::uint64_t byte : bytes_of(source.rows())) wanted.insert(byte);
    std::vector<std::uint64_t> taken;
    for (std::size_t c = 0; c + 1 < boundaries.size(); ++c) {
      const Rows runs = merged(sources, boundaries[c], boundaries[c + 1]);
      const auto bytes = bytes_of(runs);
      taken.insert(taken.end(), bytes.begin(), bytes.end());
    }
    ASSERT_EQ(taken, std::vector<std::uint64_t>(wanted.begin(), wanted.end()));
  }
}

TEST(Cycles, HoleOfATerabyteCostsNothing) {
  const std::vector<RowIndex> sources = {RowIndex(Rows{{.offset = 0, .length = 100}}),
                                         RowIndex(Rows{{.offset = 1ULL << 40U, .length = 100}})};
  EXPECT_EQ(cut_cycles(sources, {.bytes = 100}).size(), 3U);
  EXPECT_TRUE(cut_cycles(std::vector<RowIndex>(3), {}).empty());
}

TEST(Cycles, FilledGapsCoverTheRunsAndAtMostDoubleThem) {
  test::Random random(13);
  for (int round = 0; round < 200; ++round) {
    const Rows runs = rows_of(random_pieces(random, 500));
    const Rows filled = fill_small_gaps(runs, random() % 12).runs;
    const auto wanted = bytes_of(runs);
    const auto covered = bytes_of(filled);
    EXPECT_TRUE(std::includes(covered.begin(), covered.end(), wanted.begin(), wanted.end()));
    EXPECT_LE(covered.size(), 2 * wanted.size());
  }
  const Rows regular = {{.offset = 0, .length = 100, .count = 9, .stride = 110}};
  const Filled filled = fill_small_gaps(regular, 10);
  EXPECT_EQ(filled.runs, (Rows{{.offset = 0, .length = 980, .count = 1, .stride = 0}}));
  EXPECT_EQ(filled.gaps, (Rows{{.offset = 100, .length = 10, .count = 8, .stride = 110}}));
}

TEST(Cycles, GapsThatSomebodyWritesStay) {
  test::Random random(14);
  for (int round = 0; round < 200; ++round) {
    const Rows mine = rows_of(random_pieces(random, 500));
    const std::vector<RowIndex> all = {RowIndex(mine), RowIndex(rows_of(random_pieces(random, 500)))};
    const RowIndex taken(merged(all, 0, UINT64_MAX));
    const Rows runs = merged(std::vector<RowIndex>{RowIndex(mine)}, 0, UINT64_MAX);
    const Filled filled = fill_nobodys_gaps(runs, taken);
    const auto written = bytes_of(taken.rows());
    const auto holes = bytes_of(filled.gaps);
    std::vector<std::uint64_t> both;
    std::set_intersection(written.begin(), written.end(), holes.begin(), holes.end(),
                          std::back_inserter(both));
    ASSERT_TRUE(both.empty()) << "byte " << both.front() << " is somebody's";
    ASSERT_EQ(total_bytes(filled.runs), total_bytes(runs) + total_bytes(filled.gaps));
  }
}

TEST(Ring, MessagesThatAreThereTogetherDoNotOverlap) {
  test::Random random(17);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t capacity = 64 * (4 + random() % 40);
    std::vector<std::uint64_t> sizes(random() % 60);
    for (auto& size : sizes) size = random() % 5 == 0 ? 0 : random() % (capacity - 63);
    const auto places = place_in_ring(sizes, capacity);
    const Status good = check(places, sizes, capacity);
    ASSERT_TRUE(good) << good.error().message();
  }
  EXPECT_THROW(place_in_ring(std::vector<std::uint64_t>{65}, 64), std::logic_error);
}

TEST(Ring, HalvesAreUsedInTurn) {
  const std::vector<std::uint64_t> sizes(5, 64);
  const auto places = place_in_ring(sizes, 128);
  for (std::size_t m = 0; m < places.size(); ++m)
    EXPECT_EQ(places[m], (RingPlace{.offset = 64 * (m % 2), .gone = m < 2 ? 0 : m - 1}));
}

}  // namespace
}  // namespace weir::aggregation
