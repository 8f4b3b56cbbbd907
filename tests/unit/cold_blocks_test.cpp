#include "offload/cold_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/caches.hpp"

namespace weir::offload {
namespace {

class ColdBlocksTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t mib = 1U << 20U;
  // Whether a program's array, known by its number, is cold.
  bool note(ColdBlocks& blocks, int array, std::uint64_t bytes) {
    return blocks.note(memory_.data() + array, bytes);
  }
  std::vector<std::byte> memory_ = std::vector<std::byte>(100'000);
};

TEST_F(ColdBlocksTest, AsMuchDataAsACacheHoldsBetweenTwoWritesIsCold) {
  ColdBlocks blocks(8 * mib);
  std::vector<bool> found;
  for (int step = 0; step < 3; ++step) {
    for (int array = 0; array < 3; ++array) found.push_back(note(blocks, array, 2 * mib));
  }
  EXPECT_THAT(found, testing::ElementsAre(false, false, true, true, true, true, true, true, true))
      << "three times 2 MiB are three quarters of 8";
}

TEST_F(ColdBlocksTest, ArraysThatACacheHoldsAreNotColdHoweverOftenTheyAreWritten) {
  ColdBlocks blocks(8 * mib);
  for (int step = 0; step < 50; ++step) {
    for (const int array : {0, 1, 1, 1, 0}) EXPECT_FALSE(note(blocks, array, 2 * mib)) << step;
  }
}

TEST_F(ColdBlocksTest, OneThatIsLargerThanACacheIsColdAtOnce) {
  ColdBlocks blocks(8 * mib);
  EXPECT_TRUE(note(blocks, 0, 1000 * mib));
  EXPECT_TRUE(note(blocks, 1, 2 * mib));
  EXPECT_FALSE(note(blocks, 1, 2 * mib)) << "nothing came in between";
}

TEST_F(ColdBlocksTest, ManySmallOnesAddUp) {
  ColdBlocks blocks(8 * mib);
  constexpr int many = 1000;
  int cold = 0;
  for (int step = 0; step < 2; ++step) {
    for (int array = 0; array < many; ++array) cold += note(blocks, array, mib / 16) ? 1 : 0;
  }
  EXPECT_EQ(cold, 2 * many - (6 * 16 - 1));
  for (int array = 0; array < many; ++array)
    EXPECT_FALSE(note(blocks, array, 100)) << "not worth the looking";
}

TEST_F(ColdBlocksTest, WithoutACacheNothingIs) {
  ColdBlocks blocks(0);
  EXPECT_FALSE(note(blocks, 0, 1000 * mib));
}

TEST_F(ColdBlocksTest, CountBetweenFarCoresOnly) {
  const SharingTrap trap = sharing_trap_of_processor();
  constexpr std::uint64_t larger_than_any_cache = std::uint64_t{1} << 40U;
  const auto at = [&](std::optional<double> nanoseconds) {
    ColdBlocks blocks = ColdBlocks::for_distance(nanoseconds);
    return note(blocks, 0, larger_than_any_cache);
  };
  if (last_cache_bytes() == 0) GTEST_SKIP() << "the system does not tell of caches";
  EXPECT_EQ(at(200), trap != SharingTrap::none);
  for (const auto none : {std::optional(30.0), std::optional(1e6), std::optional<double>()})
    EXPECT_EQ(at(none), trap == SharingTrap::everywhere);
}

}  // namespace
}  // namespace weir::offload
