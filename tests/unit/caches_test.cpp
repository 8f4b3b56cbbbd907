#include "core/caches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/core_distance.hpp"

namespace weir {
namespace {

TEST(Caches, EvictedDataIsAsItWas) {
  std::vector<std::byte> data(100'000);
  std::mt19937 random(3);
  for (auto& byte : data) byte = static_cast<std::byte>(random());
  const std::vector<std::byte> before = data;
  for (const std::size_t from : {0U, 1U, 63U, 64U, 100U}) {
    for (const std::size_t bytes : {0U, 1U, 64U, 65U, 4096U, 99'000U}) evict(data.data() + from, bytes);
  }
  evict(nullptr, 0);
  EXPECT_TRUE(data == before);
  std::fill(data.begin(), data.end(), std::byte{9});
  evict(data.data(), data.size());
  EXPECT_EQ(std::count(data.begin(), data.end(), std::byte{9}), std::ssize(data))
      << "what was not in memory yet";
}

TEST(Caches, TheLastOneIsNotLargerThanCachesAre) {
  const std::uint64_t bytes = last_cache_bytes();
  EXPECT_LE(bytes, std::uint64_t{16} << 30U);
  EXPECT_TRUE(bytes == 0 || bytes >= 16U << 10U);
  EXPECT_EQ(last_cache_bytes(), bytes);
}

TEST(Caches, TheTrapIsAsTheUserSays) {
  const char* const told = std::getenv("WEIR_SHARING_TRAP");
  const std::string word = told == nullptr ? "" : told;
  const SharingTrap trap = sharing_trap_of_processor();
  if (word.empty()) {
    EXPECT_NE(trap, SharingTrap::everywhere);
  } else if (word == "no") {
    EXPECT_EQ(trap, SharingTrap::none);
  } else {
    EXPECT_NE(trap, SharingTrap::between_far_cores);
  }
}

TEST(CoreDistance, IsThatOfTwoCores) {
  CoreDistance distance;
  std::thread other([&] { distance.answer(); });
  const auto found = distance.measure();
  other.join();
  if (!found) GTEST_SKIP() << "the other thread had no turn within 10 ms";
  EXPECT_GT(*found, 0.5);
  EXPECT_LT(*found, 1e7);
}

TEST(CoreDistance, NobodyWaitsForEver) {
  CoreDistance alone;
  EXPECT_FALSE(alone.measure());
  alone.answer();
  CoreDistance asked_by_nobody;
  asked_by_nobody.answer();
}

}  // namespace
}  // namespace weir
