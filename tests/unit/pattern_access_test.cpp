#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pattern_support.hpp"

namespace weir::pattern {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Access rows{100, {8, {{3, 1000}, {2, 20}}}, 1};

TEST(Access, CountsWithoutListing) {
  EXPECT_TRUE(check(rows));
  EXPECT_EQ(pieces(rows.shape), 6U);
  EXPECT_EQ(bytes(rows), 48U);
  EXPECT_EQ(end(rows), 2128);
  EXPECT_THAT(list_pieces(rows, 3), ElementsAre(Piece{100, 8}, Piece{120, 8}, Piece{1100, 8}));
  EXPECT_EQ(list_pieces(rows, 100).size(), 6U);
}

TEST(Access, QuestionsAgreeWithAListOfBytes) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const Access access = random_access(random);
    ASSERT_TRUE(check(access));
    const auto list = list_bytes(access);
    ASSERT_EQ(bytes(access), list.size());
    ASSERT_TRUE(std::is_sorted(list.begin(), list.end()));
    ASSERT_EQ(end(access), list.back() + 1);
    for (std::int64_t at = 0; at <= end(access) + 2; ++at) {
      const auto from = std::lower_bound(list.begin(), list.end(), at);
      ASSERT_EQ(bytes_below(access.shape, access.offset, at),
                static_cast<std::uint64_t>(from - list.begin()));
      ASSERT_EQ(next_byte(access.shape, access.offset, at), from == list.end() ? INT64_MAX : *from);
    }
  }
}

TEST(Access, WhatIsWrongIsSaid) {
  const auto message = [](const Access& access) { return check(access).error().message(); };
  EXPECT_THAT(message({0, {0, {}}, 1}), HasSubstr("empty blocks"));
  EXPECT_THAT(message({-1, {1, {}}, 1}), HasSubstr("offset -1"));
  EXPECT_THAT(message({0, {1, {}}, 0}), HasSubstr("0 times"));
  EXPECT_THAT(message({0, {8, {{2, 7}}}, 1}), HasSubstr("less than the 8 bytes"));
  EXPECT_THAT(message({0, {8, {{0, 8}}}, 1}), HasSubstr("no parts"));
  EXPECT_THAT(message({0, {8, {{UINT64_MAX, 8}}}, 1}), HasSubstr("largest file"));
  EXPECT_THAT(message({INT64_MAX - 3, {4, {}}, 1}), HasSubstr("largest file"));
  EXPECT_THAT(message({0, {1, std::vector<Level>(65, Level{1, 0})}, 1}), HasSubstr("65 levels"));
}

// Levels in any order, of either sign, overlapping: the same bytes, each as often, in ordered accesses.
TEST(Access, AnyStridesBecomeOrdered) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    Access any{200, {static_cast<std::uint64_t>(draw(random, 1, 4)), {}}, 1};
    for (std::int64_t levels = draw(random, 0, 3); levels > 0; --levels)
      any.shape.levels.push_back({static_cast<std::uint64_t>(draw(random, 1, 4)), draw(random, -12, 30)});
    std::map<std::int64_t, std::uint64_t> expected, found;
    for (const std::int64_t at : list_bytes(any)) ++expected[at];
    const auto result = ordered(any);
    ASSERT_TRUE(result);
    for (const Access& access : *result) {
      ASSERT_TRUE(check(access)) << check(access).error().message();
      for (const std::int64_t at : list_bytes(access)) found[at] += access.repeat;
    }
    ASSERT_EQ(found, expected);
  }
}

TEST(Access, NeighboursAreMerged) {
  EXPECT_EQ(ordered({5, {4, {{10, 400}, {10, 40}, {10, 4}}}, 1})->front(), Access::contiguous(5, 4000));
  EXPECT_EQ(ordered({5, {4, {{3, 100}, {10, 10}}}, 1})->front(), (Access{5, {4, {{30, 10}}}, 1}));
  EXPECT_EQ(ordered({5, {4, {{7, 0}}}, 3})->front(), (Access{5, {4, {}}, 21}));
  EXPECT_FALSE(ordered({5, {4, {{2, -10}}}, 1}));
  EXPECT_FALSE(ordered({5, {4, {{UINT64_MAX, 1 << 30}}}, 1}));
  EXPECT_FALSE(ordered({0, {8, {{1000, 16}, {5000, 3}}}, 1}, 100)) << "more parts than allowed";
  EXPECT_TRUE(ordered({5, {0, {}}, 1})->empty());
}

TEST(Access, ManyCallsBecomeFew) {
  std::vector<Access> calls;
  for (std::int64_t step = 0; step < 5; ++step) {
    for (std::int64_t row = 0; row < 7; ++row)
      calls.push_back(Access::contiguous(step * 10'000 + row * 100, 10));
  }
  EXPECT_THAT(compressed(calls), ElementsAre(Access{0, {10, {{5, 10'000}, {7, 100}}}, 1}));
  calls.clear();
  for (std::int64_t call = 0; call < 1000; ++call) calls.push_back(Access::contiguous(call * 64, 64));
  EXPECT_THAT(compressed(calls), ElementsAre(Access::contiguous(0, 64'000)));
  calls.assign(9, rows);
  EXPECT_THAT(compressed(calls), ElementsAre(Access{100, rows.shape, 9}));
}

TEST(Access, CompressingKeepsEveryByte) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<Access> calls;
    std::map<std::int64_t, std::uint64_t> expected, found;
    while (calls.size() < 12) {
      const Access access = random_access(random);
      const std::int64_t step = draw(random, 0, 60);
      for (std::int64_t copy = draw(random, 1, 5); copy > 0; --copy) {
        calls.push_back(access);
        calls.back().offset += copy % 3 * step;
      }
    }
    for (const Access& access : calls) {
      for (const std::int64_t at : list_bytes(access)) expected[at] += access.repeat;
    }
    for (const Access& access : compressed(calls)) {
      ASSERT_TRUE(check(access)) << check(access).error().message();
      for (const std::int64_t at : list_bytes(access)) found[at] += access.repeat;
    }
    ASSERT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace weir::pattern
