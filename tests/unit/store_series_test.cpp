// Series in a store: what was written is read back, whatever happened to the blocks in between.
#include <random>

#include "store/block_table.hpp"
#include "store_support.hpp"

namespace weir::store {
namespace {

using telemetry::Batch;
using telemetry::Series;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(StoreTest, SamplesComeBack) {
  Store store = open();
  Batch batch;
  batch.add(written("oss1", "OST0001"), 200, 7);
  batch.add(written("oss1", "OST0001"), 100, UINT64_MAX);
  batch.add(written("oss2", "OST0002"), 150, 0);
  EXPECT_WELL(store.write(batch));
  const Samples expected = {{written("oss1", "OST0001"), {{100, UINT64_MAX}, {200, 7}}},
                            {written("oss2", "OST0002"), {{150, 0}}}};
  EXPECT_EQ(all_samples(store), expected);
  Store again = open(Access::read);
  EXPECT_EQ(all_samples(again), expected);
  EXPECT_EQ(*again.times(), (TimeRange{100, 201}));
  EXPECT_EQ(again.counters()->at(0).name, "ost.write_bytes");
  EXPECT_EQ(again.counters()->at(0).series, 2U);
}

TEST_F(StoreTest, QueriesChoose) {
  Store store = open();
  Batch batch;
  const auto read_bytes = telemetry::counter_id("ost.read_bytes"),
             job_bytes = telemetry::counter_id("job.write_bytes");
  for (std::int64_t t = 0; t < 10; ++t) {
    batch.add(written("oss1", "A"), t * 10, 1);
    batch.add(written("oss2", "B"), t * 10, 2);
    batch.add({read_bytes, "oss1", "A", ""}, t * 10, 3);
    batch.add({job_bytes, "oss1", "A", "4711"}, t * 10, 4);
  }
  EXPECT_WELL(store.write(batch));
  EXPECT_EQ(all_samples(store).size(), 4U);
  EXPECT_EQ(all_samples(store, {.counters = {"ost.write_bytes"}}).size(), 2U);
  EXPECT_EQ(all_samples(store, {.nodes = {"oss1", "oss1", "absent"}}).size(), 3U);
  EXPECT_EQ(all_samples(store, {.components = {"B"}}).size(), 1U);
  EXPECT_EQ(all_samples(store, {.jobs = {"4711"}}).size(), 1U);
  const auto window = all_samples(store, {.counters = {"ost.read_bytes"}, .from = 20, .to = 40});
  EXPECT_EQ(window.begin()->second, (std::map<std::int64_t, std::uint64_t>{{20, 3}, {30, 3}}));
  const auto wide = all_samples(store, {.counters = {"ost.read_bytes"}, .from = 20, .to = 40, .margin = 10});
  EXPECT_EQ(wide.begin()->second.size(), 4U);
  EXPECT_THAT(all_samples(store, {.from = 40, .to = 20}), IsEmpty());
  EXPECT_THAT(all_samples(store, {.from = 1000}), IsEmpty());
  const auto unknown = store.read_all({.counters = {"ost.write_byte"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(unknown.error().message(), HasSubstr("did you mean 'ost.write_bytes'"));
  const Status stopped =
      store.read({}, [](const Series&) -> Status { return fail(ErrorCode::state, "enough"); });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().cause, "enough");
  EXPECT_EQ(all_samples(store).size(), 4U);  // and the store goes on
}

TEST_F(StoreTest, TheLastWriteWins) {
  Store store = open();
  const auto write_one = [&](std::int64_t time, std::uint64_t value) {
    Batch batch;
    batch.add(written("oss", "A"), time, value);
    EXPECT_WELL(store.write(batch));
  };
  const auto write_many = [&](std::uint64_t value) {
    Series series{written("oss", "A"), {}, {}};
    for (std::int64_t t = 0; t < 5000; ++t) {
      series.times.push_back(t);
      series.values.push_back(value);
    }
    EXPECT_WELL(store.write(std::span<const Series>(&series, 1)));
  };
  const auto value_at = [&](std::int64_t time) {
    return all_samples(store, {.from = time, .to = time + 1}).begin()->second.at(time);
  };
  write_one(10, 1);
  write_many(2);  // a large block, later than the small one
  EXPECT_EQ(value_at(10), 2U);
  write_one(20, 3);
  EXPECT_EQ(value_at(20), 3U);
  EXPECT_WELL(store.compact());
  EXPECT_EQ(value_at(10), 2U);
  EXPECT_EQ(value_at(20), 3U);
  EXPECT_EQ(value_at(30), 2U);
  write_many(4);
  EXPECT_EQ(value_at(20), 4U);
  EXPECT_WELL(store.compact());
  EXPECT_EQ(value_at(20), 4U);
  EXPECT_EQ(all_samples(store).begin()->second.size(), 5000U);
  // Twice in one batch, the later time first.
  Batch batch;
  batch.add(written("oss", "A"), 50, 5);
  batch.add(written("oss", "A"), 40, 6);
  batch.add(written("oss", "A"), 50, 7);
  EXPECT_WELL(store.write(batch));
  EXPECT_EQ(value_at(50), 7U);
  EXPECT_EQ(value_at(40), 6U);
}

// Random writes, large and small, overlapping, out of order, with sorting in between, against a plain map.
TEST_F(StoreTest, AgreesWithAMap) {
  std::mt19937_64 random(7);
  Store store = open();
  Samples expected;
  const auto key_of = [](std::uint64_t number) {
    return written("oss" + std::to_string(number / 10), "OST" + std::to_string(number % 10));
  };
  for (int round = 0; round < 60; ++round) {
    if (random() % 3 != 0) {
      Batch batch;
      for (int i = 0, n = 1 + static_cast<int>(random() % 200); i < n; ++i) {
        const auto key = key_of(random() % 700);
        const auto time = static_cast<std::int64_t>(random() % 300);
        batch.add(key, time, random());
        expected[key][time] = batch.points.back().value;
      }
      EXPECT_WELL(store.write(batch));
    } else {
      std::vector<Series> columns;
      const std::uint64_t first = random() % 600;
      for (std::uint64_t s = first; s < first + 60; ++s) {
        Series& column = columns.emplace_back(Series{key_of(s), {}, {}});
        for (int i = 0; i < 100; ++i) {
          column.times.push_back(static_cast<std::int64_t>(random() % 300));
          column.values.push_back(random() % 1000);
          expected[column.key][column.times.back()] = column.values.back();
        }
      }
      EXPECT_WELL(store.write(columns));
    }
    if (random() % 8 == 0) {
      EXPECT_WELL(store.compact());
    }
  }
  EXPECT_EQ(all_samples(store), expected);
  EXPECT_WELL(store.compact());
  EXPECT_EQ(all_samples(store), expected);
  EXPECT_THAT(*store.check(), IsEmpty());
  EXPECT_EQ(store.summary()->small_blocks, 0U);
}

TEST_F(StoreTest, CompactingMakesFewBlocksOfMany) {
  Store store = open();
  for (std::int64_t t = 0; t < 40; ++t) {
    Batch batch;
    for (int s = 0; s < 30; ++s)
      batch.add(written("oss", "OST" + std::to_string(s)), t, static_cast<std::uint64_t>(t));
    EXPECT_WELL(store.write(batch));
  }
  EXPECT_EQ(store.summary()->small_blocks, 40U);
  const auto compacted = store.compact();
  ASSERT_TRUE(compacted) << compacted.error().message();
  EXPECT_EQ(compacted->blocks_before, 40U);
  EXPECT_EQ(compacted->blocks_after, 1U);
  EXPECT_EQ(store.summary()->samples, 1200U);
  EXPECT_THAT(*store.check(), IsEmpty());
}

TEST_F(StoreTest, SmallBlocksAreSortedWithoutBeingAsked) {
  if (!on_sqlite()) GTEST_SKIP() << "the same code; many series take long to name over a socket";
  Store store = open();
  std::vector<Series> columns;
  for (int s = 0; s < 20'000; ++s) {
    // Four to a series: too few in a group for a large block.
    columns.push_back(
        {written("oss" + std::to_string(s / 20), std::to_string(s % 20)), {1, 2, 3, 4}, {1, 2, 3, 4}});
  }
  constexpr std::uint64_t rounds = 50;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (Series& column : columns) {
      for (std::int64_t& time : column.times) time += 10;
    }
    EXPECT_WELL(store.write(columns));
  }
  const Summary summary = *store.summary();
  EXPECT_LT(summary.small_blocks, rounds);
  EXPECT_GT(summary.blocks, summary.small_blocks);
  EXPECT_EQ(summary.samples, rounds * 80'000U);
}

}  // namespace
}  // namespace weir::store
