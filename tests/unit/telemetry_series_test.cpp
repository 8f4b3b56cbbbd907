#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "telemetry/series.hpp"

namespace weir::telemetry {
namespace {

using testing::ElementsAre;

constexpr Nanoseconds second = 1'000'000'000;

Series series(CounterId counter, std::vector<std::pair<double, std::uint64_t>> samples) {
  Series result{.key = {.counter = counter, .node = "oss1"}};
  for (const auto& [time, value] : samples) {
    result.times.push_back(static_cast<Nanoseconds>(time * 1e9));
    result.values.push_back(value);
  }
  return result;
}

std::vector<IntervalMark> marks(const std::vector<Interval>& all) {
  std::vector<IntervalMark> result;
  for (const Interval& interval : all) result.push_back(interval.mark);
  return result;
}

TEST(Counters, AreDeclaredOnceAndWhole) {
  for (std::size_t i = 0; i < counter_count; ++i) {
    const Counter& declared = counter_table[i];
    EXPECT_EQ(find_counter(declared.name), i) << declared.name << " stands in the table twice";
    EXPECT_NE(declared.name.find('.'), std::string_view::npos) << declared.name;
    EXPECT_FALSE(declared.unit.empty()) << declared.name;
    EXPECT_FALSE(declared.what.empty()) << declared.name;
    EXPECT_LE(declared.wrap_bits, 64) << declared.name;
    if (declared.start.empty()) continue;
    const auto start = find_counter(declared.start);
    ASSERT_TRUE(start) << declared.name;
    EXPECT_EQ(counter(*start).kind, CounterKind::gauge) << declared.name;
  }
  EXPECT_FALSE(find_counter("ost.nosuch"));
  EXPECT_FALSE(find_counter(""));
}

TEST(Intervals, AreDifferencesOfNeighbours) {
  const auto all = intervals(series(counter_id("ost.write_bytes"), {{0, 100}, {1, 350}, {2, 350}}));
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0], (Interval{.begin = 0, .end = second, .difference = 250}));
  EXPECT_DOUBLE_EQ(all[0].rate(), 250);
  EXPECT_DOUBLE_EQ(all[1].rate(), 0);
  EXPECT_TRUE(intervals(series(counter_id("ost.write_bytes"), {{0, 100}})).empty());
  EXPECT_TRUE(intervals(series(counter_id("ost.write_bytes"), {})).empty());
}

TEST(Intervals, KeepAll64Bits) {
  const std::uint64_t large = (std::uint64_t{1} << 63U) + 1;
  const auto all = intervals(series(counter_id("ost.write_bytes"), {{0, large}, {1, large + 3}}));
  EXPECT_EQ(all.at(0).difference, 3);
}

TEST(Intervals, AFallingCounterIsAResetAndNeverARate) {
  const auto all = intervals(series(counter_id("ost.write_bytes"), {{0, 1000}, {1, 2000}, {2, 40}, {3, 90}}));
  EXPECT_THAT(marks(all), ElementsAre(IntervalMark::good, IntervalMark::reset, IntervalMark::good));
  EXPECT_EQ(all[1].difference, 0);
  EXPECT_FALSE(all[1].has_difference());
  EXPECT_FALSE(all[1].has_rate());
}

TEST(Intervals, AChangedStartIsAResetEvenIfTheCounterGrew) {
  const auto grown = series(counter_id("ost.write_bytes"), {{0, 10}, {1, 20}, {2, 5000}, {3, 5010}});
  const auto starts = series(counter_id("ost.start_time"), {{0, 7}, {1, 7}, {2, 9}, {3, 9}});
  EXPECT_THAT(marks(intervals(grown, {}, &starts)),
              ElementsAre(IntervalMark::good, IntervalMark::reset, IntervalMark::good));
  EXPECT_THAT(marks(intervals(grown)),
              ElementsAre(IntervalMark::good, IntervalMark::good, IntervalMark::good));
}

TEST(Intervals, WrapsOfNarrowCountersKeepTheirDifference) {
  const std::uint64_t last56 = (std::uint64_t{1} << 56U) - 1;
  const auto slingshot = intervals(series(counter_id("cxi.tx_bytes"), {{0, last56 - 4}, {1, 5}, {2, 9}}));
  EXPECT_THAT(marks(slingshot), ElementsAre(IntervalMark::wrap, IntervalMark::good));
  EXPECT_EQ(slingshot[0].difference, 10);
  const auto block = intervals(series(counter_id("block.queue_ms"), {{0, UINT32_MAX}, {1, 0}}));
  EXPECT_EQ(block.at(0).mark, IntervalMark::wrap);
  EXPECT_EQ(block.at(0).difference, 1);
  const auto wide = intervals(series(counter_id("net.tx_bytes"), {{0, UINT64_MAX - 1}, {1, 3}}));
  EXPECT_EQ(wide.at(0).difference, 5);
}

TEST(Intervals, WhatFallsFromTheMiddleIsNoWrap) {
  for (const std::uint64_t before : {std::uint64_t{1} << 40U, std::uint64_t{1} << 55U}) {
    const auto all = intervals(series(counter_id("cxi.tx_bytes"), {{0, before}, {1, 5}}));
    EXPECT_EQ(all.at(0).mark, IntervalMark::reset) << before;
  }
  // iowait of Linux goes back now and then; it has no width to wrap at.
  EXPECT_EQ(intervals(series(counter_id("host.cpu_iowait_ms"), {{0, UINT64_MAX}, {1, 5}})).at(0).mark,
            IntervalMark::reset);
}

TEST(Intervals, GapsAreSaidAndKeepTheirSum) {
  const auto all = intervals(series(counter_id("link.bytes"), {{0, 0}, {1, 10}, {2, 20}, {7, 70}, {8, 80}}));
  EXPECT_THAT(marks(all),
              ElementsAre(IntervalMark::good, IntervalMark::good, IntervalMark::gap, IntervalMark::good));
  EXPECT_EQ(all[2].difference, 50);
  EXPECT_FALSE(all[2].has_rate());
  // Told how often samples come, two of them suffice to see a gap.
  EXPECT_EQ(intervals(series(counter_id("link.bytes"), {{0, 0}, {7, 70}}), {.period = second}).at(0).mark,
            IntervalMark::gap);
}

TEST(Intervals, AClockThatGoesBackMakesNoRate) {
  const auto all = intervals(series(counter_id("link.bytes"), {{10, 0}, {11, 10}, {5, 20}, {6, 30}}));
  EXPECT_THAT(marks(all), ElementsAre(IntervalMark::good, IntervalMark::clock_step, IntervalMark::good));
  EXPECT_EQ(intervals(series(counter_id("link.bytes"), {{1, 0}, {1, 10}})).at(0).mark,
            IntervalMark::clock_step);
}

TEST(Intervals, ASampleSentTwiceCountsOnce) {
  const auto all = intervals(series(counter_id("link.bytes"), {{0, 0}, {1, 10}, {1, 10}, {2, 20}}));
  EXPECT_THAT(marks(all), ElementsAre(IntervalMark::good, IntervalMark::good));
}

TEST(Intervals, OfAGaugeAreAMistake) {
  EXPECT_THROW(intervals(series(counter_id("block.in_flight"), {{0, 1}, {1, 2}})), std::logic_error);
}

TEST(Growth, CountsSharesOfIntervalsAtTheBorders) {
  const auto all =
      intervals(series(counter_id("link.bytes"), {{0, 0}, {10, 100}, {20, 400}, {30, 7}, {40, 17}}));
  const Growth half = growth(all, 5 * second, 15 * second);
  EXPECT_DOUBLE_EQ(half.amount, 50 + 150);
  EXPECT_DOUBLE_EQ(half.known, 1);
  EXPECT_EQ(half.resets, 0);
  const Growth whole = growth(all, 0, 40 * second);
  EXPECT_DOUBLE_EQ(whole.amount, 100 + 300 + 10);
  EXPECT_DOUBLE_EQ(whole.known, 0.75);
  EXPECT_EQ(whole.resets, 1);
  EXPECT_DOUBLE_EQ(growth(all, 100 * second, 200 * second).known, 0);
  EXPECT_DOUBLE_EQ(growth(all, 40 * second, 40 * second).amount, 0);
}

TEST(IntervalMeans, DivideSumByCount) {
  const auto sum =
      intervals(series(counter_id("ost_io.req_qdepth.sum"), {{0, 0}, {1, 30}, {2, 30}, {3, 5}, {4, 9}}));
  const auto count =
      intervals(series(counter_id("ost_io.req_qdepth.count"), {{0, 0}, {1, 10}, {2, 10}, {3, 1}, {4, 3}}));
  const auto means = interval_means(sum, count);
  ASSERT_EQ(means.size(), 3);  // the reset is left out
  EXPECT_DOUBLE_EQ(means[0].mean.value(), 3);
  EXPECT_EQ(means[0].events, 10);
  EXPECT_FALSE(means[1].mean);
  EXPECT_DOUBLE_EQ(means[2].mean.value(), 2);
}

TEST(Series, SortByTimeLetsTheLaterSampleWin) {
  auto mixed = series(counter_id("link.bytes"), {{3, 30}, {1, 10}, {2, 20}, {1, 11}});
  sort_by_time(mixed);
  EXPECT_THAT(mixed.times, ElementsAre(second, 2 * second, 3 * second));
  EXPECT_THAT(mixed.values, ElementsAre(11, 20, 30));
}

}  // namespace
}  // namespace weir::telemetry
