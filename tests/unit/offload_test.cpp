// The parts that asynchronous writing is made of, each by itself: no MPI job is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>
#include <thread>

#include "core/worker.hpp"
#include "offload/bell.hpp"
#include "offload/mailbox.hpp"
#include "offload/merge.hpp"
#include "offload/process_watch.hpp"
#include "offload/progress.hpp"
#include "offload/region.hpp"
#include "offload/shared_copy.hpp"
#include "offload/warm_up.hpp"

namespace weir::offload {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t room = 4096;

TEST(Ring, AnEmptyRingStartsOverAtItsBeginning) {
  Ring ring(room);
  EXPECT_EQ(ring.find_room(100, 0), 0U);
  const std::uint64_t first_end = ring.end_of_last();
  EXPECT_GE(first_end, 100U);
  const auto again = ring.find_room(100, first_end);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again % room, 0U);
  EXPECT_GT(*again, 0U) << "places count up";
}

TEST(Ring, ExactFitFillsItAndNothingMoreGoesIn) {
  Ring ring(room);
  ASSERT_EQ(ring.find_room(room, 0), 0U);
  EXPECT_EQ(ring.end_of_last(), room);
  EXPECT_FALSE(ring.find_room(1, 0));
  EXPECT_FALSE(ring.find_room(room, 0));
  EXPECT_EQ(ring.find_room(room, room), room);
  EXPECT_FALSE(ring.find_room(64, room));
}

TEST(Ring, NoPieceIsCutAtTheEnd) {
  Ring ring(room);
  ASSERT_EQ(ring.find_room(1024, 0), 0U);
  const std::uint64_t first_end = ring.end_of_last();
  ASSERT_EQ(ring.find_room(2048, 0), 1024U);
  EXPECT_FALSE(ring.find_room(2048, 0)) << "1024 bytes are left at the end";
  EXPECT_FALSE(ring.find_room(2048, first_end)) << "1024 at the end and 1024 at the beginning";
  const auto small = ring.find_room(1024, first_end);
  ASSERT_TRUE(small);
  EXPECT_LE(*small % room + 1024, room);
}

TEST(Ring, MemoryThatWasUsedComesBeforeNewMemory) {
  Ring ring(room);
  ASSERT_EQ(ring.find_room(512, 0), 0U);
  const std::uint64_t first_end = ring.end_of_last();
  ASSERT_EQ(ring.find_room(512, 0), 512U);
  const auto third = ring.find_room(512, first_end);  // 1024 has never been used; the beginning is free
  ASSERT_TRUE(third);
  EXPECT_EQ(*third % room, 0U);
}

// Against a list of what is in use: no two pieces overlap, none is cut, and an empty ring has room for all.
TEST(Ring, RandomSequencesNeverOverlap) {
  std::mt19937 random(20261116);
  for (const std::uint64_t size : {64U, 4096U, 65536U}) {
    Ring ring(size);
    struct Held {
      std::uint64_t begin;
      std::uint64_t end;
      std::uint64_t given_back_as;
    };
    std::deque<Held> held;
    std::uint64_t freed = 0;
    std::uint64_t placed = 0;
    for (int turn = 0; turn < 40000; ++turn) {
      const std::uint64_t most = random() % 4 == 0 ? size : size / 4;
      const std::uint64_t bytes = 1 + random() % most;
      if (const auto place = ring.find_room(bytes, freed)) {
        const std::uint64_t begin = *place % size;
        ASSERT_LE(begin + bytes, size) << "cut at the end";
        for (const Held& other : held)
          ASSERT_TRUE(begin + bytes <= other.begin || begin >= other.end) << "overlap in turn " << turn;
        ASSERT_GE(ring.end_of_last(), *place + bytes);
        held.push_back({begin, begin + bytes, ring.end_of_last()});
        ++placed;
      } else {
        ASSERT_FALSE(held.empty()) << bytes << " bytes have no room in an empty ring of " << size;
      }
      for (std::uint64_t give = random() % 3; give > 0 && !held.empty(); --give) {
        ASSERT_GE(held.front().given_back_as, freed) << "places must count up";
        freed = held.front().given_back_as;
        held.pop_front();
      }
    }
    EXPECT_GT(placed, 10000U);
  }
}

// The memory of one mailbox, both sides of it.
struct Both {
  explicit Both(std::uint64_t data_room) {
    auto made = Region::create(Mailbox::footprint(data_room));
    EXPECT_TRUE(made);
    region = std::move(*made);
    new (region.data()) Mailbox::Shared;
    client = Mailbox(region.data(), data_room, bell);
    server = Mailbox(region.data(), data_room, bell);
  }
  Region region;
  Bell bell;
  Mailbox client;
  Mailbox server;
};

TEST(Mailbox, LettersLargerThanTheRingArriveWhole) {
  Both both(room);
  MessageWriter writer;
  MessageReader reader;
  const std::string large(3 * Mailbox::letter_room + 7, 'x');
  writer.add("first");
  writer.add(large);
  writer.add("");
  writer.add("last");
  std::vector<std::string> got;
  for (int turn = 0; turn < 100 && got.size() < 4; ++turn) {
    both.client.send(writer);
    while (auto letter = both.server.next_letter(reader)) got.push_back(std::move(*letter));
  }
  ASSERT_EQ(got.size(), 4U);
  EXPECT_EQ(got[0], "first");
  EXPECT_TRUE(got[1] == large);
  EXPECT_EQ(got[2], "");
  EXPECT_EQ(got[3], "last");
  EXPECT_TRUE(writer.empty());
  EXPECT_FALSE(both.server.next_letter(reader));
}

TEST(Mailbox, AFullStreamTakesNothingMoreAndLosesNothing) {
  Both both(room);
  MessageWriter writer;
  writer.add(std::string(Mailbox::answer_room - 8, 'a'));  // with its length: exactly the ring
  EXPECT_TRUE(both.server.answer(writer));
  EXPECT_TRUE(writer.empty());
  MessageWriter more;
  more.add("b");
  EXPECT_FALSE(both.server.answer(more));
  EXPECT_FALSE(more.empty());
  MessageReader reader;
  EXPECT_EQ(both.client.next_answer(reader)->size(), Mailbox::answer_room - 8);
  EXPECT_TRUE(both.server.answer(more));
  EXPECT_EQ(both.client.next_answer(reader), "b");
}

TEST(Mailbox, TwoThreadsWithLettersAnswersAndData) {
  constexpr std::uint64_t data_room = 16 << 10;
  constexpr std::size_t count = 3000;
  Both both(data_room);
  std::thread server([&] {
    MessageReader reader;
    MessageWriter answers;
    for (std::size_t i = 0; i < count || !answers.empty();) {
      const std::uint32_t heard = both.bell.heard();
      bool moved = both.server.answer(answers);
      if (const auto letter = i < count ? both.server.next_letter(reader) : std::nullopt) {
        std::uint64_t note[3];  // place, bytes, end
        std::memcpy(note, letter->data(), sizeof note);
        const auto* data = reinterpret_cast<const unsigned char*>(both.server.at(note[0]));
        std::uint64_t sum = 0;
        for (std::uint64_t at = 0; at < note[1]; ++at) sum += data[at];
        both.server.give_back(note[2]);
        answers.add(std::to_string(sum));
        ++i;
        moved = true;
      }
      if (!moved) both.bell.wait(heard, 1ms);
    }
  });
  std::mt19937 random(7);
  MessageWriter letters;
  MessageReader reader;
  std::deque<std::uint64_t> expected;
  std::size_t answered = 0;
  std::size_t sent = 0;
  std::uint64_t bytes = 0;
  while (answered < count) {
    const std::uint32_t heard = both.client.client_bell().heard();
    bool moved = both.client.send(letters);
    if (bytes == 0) bytes = 1 + random() % (data_room / 2);
    if (const auto place = sent < count ? both.client.find_room(bytes) : std::nullopt) {
      auto* data = reinterpret_cast<unsigned char*>(both.client.at(*place));
      std::uint64_t sum = 0;
      for (std::uint64_t at = 0; at < bytes; ++at) sum += data[at] = static_cast<unsigned char>(random());
      const std::uint64_t note[3] = {*place, bytes, both.client.end_of_last()};
      letters.add(std::string(reinterpret_cast<const char*>(note), sizeof note));
      expected.push_back(sum);
      ++sent;
      bytes = 0;
      moved = true;
    }
    while (const auto answer = both.client.next_answer(reader)) {
      ASSERT_EQ(*answer, std::to_string(expected.front())) << "piece " << answered;
      expected.pop_front();
      ++answered;
      moved = true;
    }
    if (!moved) both.client.client_bell().wait(heard, 1ms);
  }
  server.join();
}

TEST(Bell, ARingBetweenLookingAndWaitingIsNotMissed) {
  Bell bell;
  const std::uint32_t seen = bell.heard();
  bell.ring();
  const auto start = std::chrono::steady_clock::now();
  bell.wait(seen, 10s);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  const std::uint32_t now = bell.heard();
  bell.wait(now, 10ms);  // nobody rings: it returns all the same
  std::thread ringer([&] {
    std::this_thread::sleep_for(20ms);
    bell.ring();
  });
  while (bell.heard() == now) bell.wait(now, 10s);
  ringer.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 9s);
}

// Blocks with values of their own: the number of an element in the whole array.
struct Blocks {
  Extent shape;
  std::vector<std::vector<std::int32_t>> data;
  std::vector<files::ReducedBlock> blocks;

  void add(const Box& box) {
    std::vector<std::int32_t>& values = data.emplace_back(volume(box.count));
    for_each_run(shape, box, [&](const Run& run) {
      std::iota(values.begin() + static_cast<std::ptrdiff_t>(run.in_box),
                values.begin() + static_cast<std::ptrdiff_t>(run.in_box + run.length),
                static_cast<std::int32_t>(run.in_array));
      return true;
    });
    blocks.push_back({box, reinterpret_cast<const std::byte*>(values.data()), -1});
  }
  // What stands in the array when the merged blocks are written; -1: nothing.
  std::vector<std::int32_t> written(const MergedBlocks& merged) const {
    std::vector<std::int32_t> array(volume(shape), -1);
    for (const backends::SourceBlock& block : merged.blocks()) {
      for_each_run(shape, block.box, [&](const Run& run) {
        for (std::uint64_t i = 0; i < run.length; ++i) {
          EXPECT_EQ(array[run.in_array + i], -1) << "written twice";
          std::memcpy(&array[run.in_array + i], block.data + (run.in_box + i) * 4, 4);
        }
        return true;
      });
    }
    return array;
  }
  std::vector<std::int32_t> wanted() const {
    std::vector<std::int32_t> array(volume(shape), -1);
    for (const files::ReducedBlock& block : blocks) {
      for_each_run(shape, block.box, [&](const Run& run) {
        for (std::uint64_t i = 0; i < run.length; ++i)
          array[run.in_array + i] = static_cast<std::int32_t>(run.in_array + i);
        return true;
      });
    }
    return array;
  }
};

constexpr std::uint64_t plenty = 1U << 20U;  // bytes of copies

TEST(MergedBlocks, NeighboursInOneDimensionBecomeOneInAnyOrder) {
  Blocks blocks{.shape = {100}, .data = {}, .blocks = {}};
  for (const std::uint64_t at : {60, 0, 20, 80, 40}) blocks.add({{at}, {20}});
  const MergedBlocks merged(blocks.blocks, 4, plenty);
  ASSERT_EQ(merged.blocks().size(), 1U);
  EXPECT_EQ(merged.blocks()[0].box, (Box{{0}, {100}}));
  EXPECT_EQ(blocks.written(merged), blocks.wanted());
}

TEST(MergedBlocks, GapsStayGaps) {
  Blocks blocks{.shape = {100}, .data = {}, .blocks = {}};
  for (const std::uint64_t at : {0, 20, 50, 70}) blocks.add({{at}, {20}});
  blocks.add({{95}, {0}});
  const MergedBlocks merged(blocks.blocks, 4, plenty);
  EXPECT_EQ(merged.blocks().size(), 2U);
  EXPECT_EQ(blocks.written(merged), blocks.wanted());
}

TEST(MergedBlocks, TilesBecomeRowsAndRowsBecomeOne) {
  Blocks blocks{.shape = {30, 35}, .data = {}, .blocks = {}};
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (std::uint64_t j = 0; j < 5; ++j) blocks.add({{i * 10, j * 7}, {10, 7}});
  }
  std::shuffle(blocks.blocks.begin(), blocks.blocks.end(), std::mt19937(5));
  const MergedBlocks merged(blocks.blocks, 4, plenty);
  ASSERT_EQ(merged.blocks().size(), 1U);
  EXPECT_EQ(merged.blocks()[0].box, Box::whole({30, 35}));
  EXPECT_EQ(blocks.written(merged), blocks.wanted());
}

TEST(MergedBlocks, WhatDoesNotFillABoxIsNotMerged) {
  Blocks blocks{.shape = {20, 20}, .data = {}, .blocks = {}};
  blocks.add({{0, 0}, {10, 10}});
  blocks.add({{10, 5}, {10, 10}});
  blocks.add({{0, 12}, {5, 8}});
  const MergedBlocks merged(blocks.blocks, 4, plenty);
  EXPECT_EQ(merged.blocks().size(), 3U);
  for (const auto& block : merged.blocks())
    EXPECT_TRUE(std::any_of(blocks.blocks.begin(), blocks.blocks.end(), [&](const auto& one) {
      return one.data == block.data;
    })) << "a block that stays alone is not copied";
  EXPECT_EQ(blocks.written(merged), blocks.wanted());
  EXPECT_TRUE(MergedBlocks({}, 8, plenty).blocks().empty());
}

TEST(MergedBlocks, LargeBlocksAreNotCopied) {
  constexpr std::uint64_t large = (1 << 20) / 4;
  Blocks blocks{.shape = {2 * large}, .data = {}, .blocks = {}};
  blocks.add({{0}, {large}});
  blocks.add({{large}, {large}});
  const MergedBlocks merged(blocks.blocks, 4, plenty);
  ASSERT_EQ(merged.blocks().size(), 2U);
  EXPECT_EQ(merged.blocks()[0].data, blocks.blocks[0].data);
  EXPECT_EQ(merged.blocks()[1].data, blocks.blocks[1].data);
}

TEST(MergedBlocks, CopiesKeepToTheirRoom) {
  Blocks blocks{.shape = {100}, .data = {}, .blocks = {}};
  for (std::uint64_t at = 0; at < 100; at += 10) blocks.add({{at}, {10}});
  for (const std::uint64_t most : {0, 39, 40, 79, 80, 200, 399, 400}) {
    const MergedBlocks merged(blocks.blocks, 4, most);
    EXPECT_LE(merged.copied(), most);
    EXPECT_EQ(merged.copied(), most < 80 ? 0 : most / 40 * 40) << "as much as fits is merged";
    EXPECT_EQ(blocks.written(merged), blocks.wanted());
  }
}

TEST(MergedBlocks, RandomTilingsAreWrittenOnceEach) {
  std::mt19937 random(99);
  for (int turn = 0; turn < 200; ++turn) {
    const std::size_t dimensions = 1 + random() % 3;
    Blocks blocks{.shape = Extent(dimensions), .data = {}, .blocks = {}};
    for (auto& n : blocks.shape) n = 1 + random() % 12;
    // Cut the array at random, and leave out some of the parts.
    std::deque<Box> parts = {Box::whole(blocks.shape)};
    for (std::uint64_t cuts = random() % 20; cuts > 0; --cuts) {
      Box one = parts.front();
      parts.pop_front();
      const std::size_t d = random() % dimensions;
      const std::uint64_t at = random() % (one.count[d] + 1);
      Box other = one;
      one.count[d] = at;
      other.offset[d] += at;
      other.count[d] -= at;
      parts.push_back(one);
      parts.push_back(other);
    }
    for (const Box& part : parts) {
      if (random() % 5 != 0) blocks.add(part);
    }
    const MergedBlocks merged(blocks.blocks, 4, plenty);
    ASSERT_EQ(blocks.written(merged), blocks.wanted()) << "turn " << turn;
  }
}

TEST(WarmUp, OneFollowsTheOther) {
  const auto region = Region::create(4U << 20U);
  ASSERT_TRUE(region);
  WarmUp first(*region, 0, region->bytes());
  WarmUp second(*region, 0, region->bytes());
  EXPECT_FALSE(second.do_some(first.done())) << "nothing is warm yet";
  while (first.do_some()) {
    while (second.do_some(first.done())) {
    }
    EXPECT_EQ(second.done(), first.done());
  }
  EXPECT_TRUE(first.complete() && second.complete());
  EXPECT_EQ(first.done(), region->bytes());
  EXPECT_FALSE(WarmUp().do_some());
}

TEST(SharedCopy, TwoThreadsCopyEachByteOnce) {
  std::vector<std::byte> from(5'000'001);
  std::mt19937 random(3);
  for (auto& byte : from) byte = static_cast<std::byte>(random());
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::byte> to(from.size());
    SharedCopy copy(to.data(), from.data(), from.size(), turn % 2 == 0);
    std::atomic<bool> go = false;
    std::thread helper([&] {
      go.wait(false);
      copy.help();
    });
    go = true;
    go.notify_one();
    copy.run();
    EXPECT_TRUE(to == from) << "all of it is there when run() returns";
    helper.join();
    EXPECT_FALSE(copy.help());
  }
  SharedCopy nothing(nullptr, nullptr, 0, true);
  nothing.run();
}

TEST(Progress, GoesOnlyForward) {
  Progress progress;
  EXPECT_FALSE(progress.taken() || progress.done() || progress.failed());
  progress.mark_taken();
  EXPECT_TRUE(progress.taken() && !progress.done());
  progress.mark_done(fail(ErrorCode::io, "first"));
  progress.mark_done({});
  progress.mark_taken();
  EXPECT_TRUE(progress.failed());
  EXPECT_EQ(progress.status().error().cause, "first");
  Progress waited;
  std::thread waiter([&] { waited.wait_done(); });
  waited.mark_taken();
  waited.mark_done({});
  waiter.join();
}

TEST(Worker, DoesAllJobsInOrderBeforeItEnds) {
  std::vector<int> done;
  {
    Worker worker;
    for (int i = 0; i < 1000; ++i) worker.post([&done, i] { done.push_back(i); });
  }
  ASSERT_EQ(done.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(Errand, IsRunOnceByWhoeverComesFirst) {
  std::atomic<int> runs = 0;
  {
    Errand<int> alone(nullptr, [&] { return ++runs; });
    EXPECT_EQ(alone.get(), 1);
    EXPECT_EQ(alone.get(), 1);
  }
  EXPECT_EQ(runs, 1);
  Worker worker;
  for (int i = 0; i < 500; ++i) {
    runs = 0;
    Errand<int> errand(&worker, [&] { return ++runs; });
    if (i % 2 == 0) std::this_thread::yield();
    EXPECT_EQ(errand.get(), 1);
  }
  // The worker is busy: the owner does it.
  std::atomic<bool> go = false;
  worker.post([&] { go.wait(false); });
  std::thread::id who;
  {
    Errand<int> errand(&worker, [&] {
      who = std::this_thread::get_id();
      return 5;
    });
    EXPECT_EQ(errand.get(), 5);
  }
  EXPECT_EQ(who, std::this_thread::get_id());
  go = true;
  go.notify_all();
}

TEST(ProcessWatch, SeesAProcessEnd) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::close(pipe_ends[1]);
    ::_exit(::read(pipe_ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  ProcessWatch watch(child);
  EXPECT_TRUE(watch.alive());
  const ProcessWatch moved(std::move(watch));
  EXPECT_TRUE(moved.alive());
  ::kill(child, SIGKILL);
  for (int i = 0; i < 1000 && moved.alive(); ++i) std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(moved.alive()) << "before anybody has waited for it";
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(moved.alive());
  EXPECT_TRUE(ProcessWatch(::getpid()).alive());
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(Region, AnotherProcessSeesAndChangesIt) {
  constexpr std::uint64_t bytes = 3 << 20;
  auto region = Region::create(bytes);
  ASSERT_TRUE(region);
  region->data()[0] = std::byte{1};
  const Region::Address address = region->address();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto opened = Region::open(address);
    if (!opened || opened->data()[0] != std::byte{1} || opened->data()[bytes - 1] != std::byte{0}) ::_exit(1);
    opened->data()[bytes - 1] = std::byte{2};
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(region->data()[bytes - 1], std::byte{2});
  EXPECT_TRUE(region->holds(region->data(), bytes));
  EXPECT_TRUE(region->holds(region->data() + bytes, 0));
  EXPECT_FALSE(region->holds(region->data() + 1, bytes));
  EXPECT_FALSE(region->holds(region->data(), ~0ULL));
  EXPECT_FALSE(region->holds(&status, 1));
  Region moved = std::move(*region);
  EXPECT_EQ(moved.data()[0], std::byte{1});
}

TEST(Region, WhatCannotBeIsAFailure) {
  EXPECT_FALSE(Region::create(~0ULL));
  EXPECT_FALSE(Region::open({.process = ::getpid(), .descriptor = 123456, .bytes = 4096}));
  // The number of a descriptor that was closed may mean another file by now: that is no region.
  char name[] = "/tmp/weir-region-XXXXXX";
  const int file = ::mkstemp(name);
  ASSERT_EQ(::ftruncate(file, 8192), 0);
  EXPECT_FALSE(Region::open({.process = ::getpid(), .descriptor = file, .bytes = 8192}));
  ::close(file);
  ::unlink(name);
  auto small = Region::create(4096);
  ASSERT_TRUE(small);
  EXPECT_FALSE(
      Region::open({.process = ::getpid(), .descriptor = small->address().descriptor, .bytes = 8192}));
}

}  // namespace
}  // namespace weir::offload
