#include "interpose/run_log.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace weir::interpose {
namespace {

using Calls =
    std::map<std::tuple<std::uint32_t, bool, std::int64_t, std::int64_t, std::uint64_t>, std::uint64_t>;

void count(Calls& calls, const CallRun& run) {
  for (std::uint64_t i = 0; i < run.repeats; ++i)
    for (std::uint64_t j = 0; j < run.calls; ++j)
      ++calls[{run.types, run.writes, run.displacement + static_cast<std::int64_t>(i) * run.shift,
               run.offset + static_cast<std::int64_t>(i) * run.distance +
                   static_cast<std::int64_t>(j) * run.stride,
               run.bytes}];
}

std::vector<CallRun> runs_of(RunLog& log) {
  std::vector<CallRun> runs(log.finish());
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i] = log.run(i);
  return runs;
}

Calls calls_of(RunLog& log) {
  Calls calls;
  for (const CallRun& run : runs_of(log)) count(calls, run);
  return calls;
}

TEST(RunLog, CallsAtAStrideAreOneRun) {
  RunLog log;
  for (int i = 0; i < 1000; ++i) log.add({.offset = 7 + 100 * i, .bytes = 10});
  ASSERT_EQ(log.finish(), 1U);
  EXPECT_EQ(runs_of(log)[0], (CallRun{.offset = 7, .bytes = 10, .calls = 1000, .stride = 100}));
}

TEST(RunLog, ALoopOverSeveralVariablesStaysSmall) {
  RunLog log;
  Calls expected;
  for (int step = 0; step < 5000; ++step) {
    for (int variable = 0; variable < 5; ++variable) {
      const CallRun call{.types = 1,
                         .writes = true,
                         .displacement = 1000 * step + 37 * variable * variable,
                         .offset = 0,
                         .bytes = 8U * static_cast<unsigned>(1 + variable % 2)};
      log.add(call);
      count(expected, call);
    }
  }
  EXPECT_LE(log.finish(), 16U);
  EXPECT_EQ(calls_of(log), expected);
}

TEST(RunLog, KeepsEveryCallOfAnyProgram) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    RunLog log;
    Calls expected;
    for (int i = 0; i < 300; ++i) {
      const CallRun call{.types = static_cast<std::uint32_t>(random() % 2),
                         .writes = random() % 4 == 0,
                         .displacement = static_cast<std::int64_t>(random() % 3) * 64,
                         .offset = static_cast<std::int64_t>(random() % 6) * 8,
                         .bytes = 8U * (random() % 3)};
      log.add(call);
      if (call.bytes != 0) count(expected, call);
      if (random() % 50 == 0) log.finish();  // may be asked at any time
    }
    ASSERT_EQ(calls_of(log), expected);
    ASSERT_EQ(log.lost(), 0U);
  }
}

TEST(RunLog, CountsWhatDoesNotFit) {
  RunLog log(10);
  for (int i = 0; i < 100; ++i) log.add({.offset = i * i * i, .bytes = static_cast<std::uint64_t>(i + 1)});
  EXPECT_EQ(log.finish(), 10U);
  EXPECT_EQ(log.lost(), 90U);
}

TEST(RunLog, AbsurdOffsetsDoNoHarm) {
  RunLog log;
  for (const std::int64_t offset : {INT64_MAX, std::int64_t{0}, INT64_MAX - 1, std::int64_t{0}, INT64_MAX})
    log.add({.offset = offset, .bytes = 1});
  std::uint64_t calls = 0;
  for (const CallRun& run : runs_of(log)) calls += run.calls * run.repeats;
  EXPECT_EQ(calls, 5U);
}

}  // namespace
}  // namespace weir::interpose
