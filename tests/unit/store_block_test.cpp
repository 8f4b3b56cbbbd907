#include "store/block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "store/columns.hpp"

namespace weir::store {
namespace {

struct Owned {
  std::int64_t series = 0;
  std::vector<std::int64_t> times;
  std::vector<std::uint64_t> values;
};

std::vector<ColumnView> views(const std::vector<Owned>& columns) {
  std::vector<ColumnView> all;
  for (const Owned& column : columns) all.push_back({column.series, column.times, column.values});
  return all;
}

void expect_same(const std::vector<Owned>& columns) {
  const std::string bytes = encode_block(views(columns));
  const auto block = Block::decode(bytes);
  ASSERT_TRUE(block) << block.error().message();
  ASSERT_EQ(block->columns().size(), columns.size());
  std::vector<std::uint64_t> values;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    EXPECT_EQ(block->columns()[i].series, columns[i].series);
    const auto times = block->times(block->columns()[i]);
    EXPECT_TRUE(std::equal(times.begin(), times.end(), columns[i].times.begin(), columns[i].times.end()));
    block->values(block->columns()[i], values);
    EXPECT_EQ(values, columns[i].values);
  }
}

std::vector<Owned> random_columns(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Owned> columns;
  std::int64_t series = 0;
  for (std::size_t c = 0, count = 1 + random() % 20; c < count; ++c) {
    Owned column;
    series += 1 + static_cast<std::int64_t>(random() % 1000);
    column.series = series;
    std::int64_t time = static_cast<std::int64_t>(random());
    time = std::clamp<std::int64_t>(time, INT64_MIN / 2, INT64_MAX / 2);
    std::uint64_t value = random();
    const int kind = static_cast<int>(random() % 5);
    for (std::size_t i = 0, samples = 1 + random() % 100; i < samples; ++i) {
      column.times.push_back(time);
      column.values.push_back(value);
      time += kind == 0 ? 1 : 1 + static_cast<std::int64_t>(random() % 1'000'000'000);
      if (kind == 1) value = random();                // anything
      if (kind == 2) value += 4096 * (random() % 9);  // a common divisor
      if (kind == 3) value -= random() % 3;           // falls
      if (kind == 4) value += random() >> (random() % 64);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

TEST(StoreBlock, KeepsEveryValue) {
  for (unsigned seed = 0; seed < 200; ++seed) expect_same(random_columns(seed));
  expect_same({});
  constexpr std::uint64_t most = UINT64_MAX;
  expect_same({{1, {INT64_MIN, -1, 0, INT64_MAX}, {0, most, 0, most}}});
  expect_same({{7, {5}, {most}}, {8, {5}, {0}}, {INT64_MAX, {5, 6}, {std::uint64_t{1} << 63, 0}}});
}

TEST(StoreBlock, SharesTimesAndPacksCounters) {
  // 480 counters sampled together once a minute, growing in whole pages.
  std::mt19937_64 random(1);
  std::vector<Owned> columns(480);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    columns[c].series = static_cast<std::int64_t>(c) + 1;
    std::uint64_t value = 0;
    for (std::int64_t t = 0; t < 60; ++t) {
      columns[c].times.push_back(1'564'617'600'000'000'000 + t * 60'000'000'000);
      columns[c].values.push_back(value += 4096 * (1'000'000 + random() % 65'536));
    }
  }
  const std::string bytes = encode_block(views(columns));
  EXPECT_LT(static_cast<double>(bytes.size()) / (480 * 60), 3.1);  // 16 bits are random, 8 more are not
  expect_same(columns);
}

TEST(StoreBlock, DamageIsFound) {
  const std::string bytes = encode_block(views(random_columns(3)));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto block = Block::decode(damaged);
    ASSERT_FALSE(block) << at;
    EXPECT_EQ(block.error().code, ErrorCode::corrupt);
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(Block::decode(bytes.substr(0, size)));
  EXPECT_FALSE(Block::decode(bytes + "x"));
  EXPECT_FALSE(Block::decode("SQLite format 3"));
}

TEST(StoreBlock, MisuseThrows) {
  EXPECT_THROW(encode_block(views({{2, {1}, {1}}, {1, {1}, {1}}})), std::logic_error);
  EXPECT_THROW(encode_block(views({{1, {}, {}}})), std::logic_error);
  EXPECT_THROW(encode_block(views({{0, {1}, {1}}})), std::logic_error);
}

TEST(StoreColumns, CutsAtTimesAndLosesNothing) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Owned> columns(1 + random() % 700);
    std::size_t samples = 0, seen = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      columns[c].series = static_cast<std::int64_t>(c) + 1;
      for (std::int64_t t = 0, n = 1 + static_cast<std::int64_t>(random() % 300); t < n; ++t) {
        columns[c].times.push_back(t * 10 + static_cast<std::int64_t>(random() % 10));
        columns[c].values.push_back(random());
      }
      samples += columns[c].times.size();
    }
    std::map<std::int64_t, std::vector<std::uint64_t>> back;
    std::int64_t last_of_block = INT64_MIN;
    cut_into_blocks(views(columns), [&](std::span<const ColumnView> part) {
      std::int64_t first = INT64_MAX, last = INT64_MIN;
      for (const ColumnView& column : part) {
        back[column.series].insert(back[column.series].end(), column.values.begin(), column.values.end());
        seen += column.values.size();
        first = std::min(first, column.times.front());
        last = std::max(last, column.times.back());
      }
      EXPECT_GT(first, last_of_block);  // blocks do not overlap
      last_of_block = last;
    });
    EXPECT_EQ(seen, samples);
    for (const Owned& column : columns) EXPECT_EQ(back[column.series], column.values);
  }
}

}  // namespace
}  // namespace weir::store
