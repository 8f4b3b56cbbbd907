#include "recording/run_log.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace weir::recording {
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

// Calls as a batch holds them: rows, loops and disorder, each for a while.
void add_mixture(RunLog& log, std::mt19937& random, int batches) {
  std::vector<std::int64_t> offsets;
  std::int64_t place = 0;
  for (int batch = 0; batch < batches; ++batch) {
    const auto mood = random() % 4;
    const auto count = 1 + random() % 1024;
    offsets.clear();
    for (std::size_t i = 0; i < count; ++i) {
      place = mood == 0   ? place + 3
              : mood == 1 ? static_cast<std::int64_t>(100 * (i / 5) + 7 * (i % 5) * (i % 5))
              : mood == 2 ? static_cast<std::int64_t>(random() % 1000)
                          : place + (random() % 50 == 0 ? 1000 : 10);
      offsets.push_back(place);
    }
    const std::uint32_t kind =
        log.number_of({.writes = random() % 3 == 0, .bytes = random() % 2 == 0 ? 8U : 16U});
    if (random() % 5 == 0)
      log.add_row(kind, place, count, 16);
    else
      log.add(kind, offsets.data(), offsets.size(), 1 + static_cast<std::int64_t>(random() % 2) * 7);
  }
}

// Nothing put off; little, so that the oldest are folded on the way; all.
TEST(RunLog, WhatWasPutOffIsFoldedAsIfAtOnce) {
  for (const std::size_t limit : {std::size_t{1} << 20U, std::size_t{3000}}) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      RunLog at_once(limit, 0);
      std::mt19937 random(seed);
      add_mixture(at_once, random, 80);
      const auto expected = runs_of(at_once);
      ASSERT_GT(expected.size(), 1024U);
      for (const std::size_t backlog : {std::size_t{5000}, RunLog::default_backlog}) {
        RunLog log(limit, backlog);
        random.seed(seed);
        add_mixture(log, random, 80);
        EXPECT_EQ(runs_of(log), expected);
        EXPECT_EQ(log.lost(), at_once.lost());
      }
    }
  }
}

TEST(CallBacklog, GivesBackWhatWentInInOrder) {
  CallBacklog backlog;
  std::vector<std::pair<std::uint32_t, std::int64_t>> expected, found;
  std::mt19937 random(1);
  const auto take = [&] {
    backlog.take_oldest(
        [&](std::uint32_t kind, const std::int64_t* offsets, std::size_t count, std::int64_t unit) {
          for (std::size_t i = 0; i < count; ++i) found.emplace_back(kind, offsets[i] * unit);
        },
        [&](std::uint32_t kind, std::int64_t offset, std::size_t count, std::int64_t stride) {
          for (std::size_t i = 0; i < count; ++i)
            found.emplace_back(kind, offset + static_cast<std::int64_t>(i) * stride);
        });
  };
  for (std::uint32_t turn = 0; turn < 130; ++turn) {
    std::vector<std::int64_t> offsets(random() % 3000);
    for (std::int64_t& offset : offsets) {
      // Near and far, with and without something that all are multiples of.
      offset = static_cast<std::int64_t>((random() << 32U | random()) >> (turn % 61) << (turn % 13));
      expected.emplace_back(turn, offset);
    }
    backlog.push(turn, offsets.data(), offsets.size(), 1);
    backlog.push_row(7, 1, 100000, 2);
    for (int i = 0; i < 100000; ++i) expected.emplace_back(7, 1 + 2 * i);
    backlog.push_row(~turn, -5, 3, -7);
    for (int i = 0; i < 3; ++i) expected.emplace_back(~turn, -5 - 7 * i);
    if (turn % 2 == 0) take();
  }
  while (!backlog.empty()) take();
  EXPECT_EQ(backlog.words(), 0U);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace weir::recording
