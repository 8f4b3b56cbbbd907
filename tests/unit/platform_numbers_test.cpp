#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "platform/numbers.hpp"

namespace weir {
namespace {

Numbers parsed(std::string_view text) {
  auto numbers = parse_numbers(text);
  EXPECT_TRUE(numbers) << text << ": " << numbers.error().message();
  return numbers.value_or(Numbers{});
}

TEST(Numbers, ReadsEveryFormOfTheHeader) {
  EXPECT_EQ(parsed(""), Numbers{});
  EXPECT_EQ(parsed("7"), Numbers{7});
  EXPECT_EQ(parsed("0-3"), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(parsed("3-0"), (Numbers{3, 2, 1, 0}));
  EXPECT_EQ(parsed("0-6:2"), (Numbers{0, 2, 4, 6}));
  EXPECT_EQ(parsed("0-7:2"), (Numbers{0, 2, 4, 6}));
  EXPECT_EQ(parsed("5x3"), (Numbers{5, 5, 5}));
  EXPECT_EQ(parsed("0-1x2"), (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(parsed("0-1*2"), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(parsed("(0-1,8)*2"), (Numbers{0, 1, 8, 0, 1, 8}));
  EXPECT_EQ(parsed("4294967295"), Numbers{4294967295U});
  EXPECT_EQ(parsed("4294967294-4294967295"), (Numbers{4294967294U, 4294967295U}));
}

TEST(Numbers, WritesShortText) {
  EXPECT_EQ(format_numbers(Numbers{}), "");
  EXPECT_EQ(format_numbers(Numbers{0, 1, 2, 3, 128, 129, 130, 131}), "0-3,128-131");
  EXPECT_EQ(format_numbers(Numbers{0, 0, 1, 1, 2, 2}), "0-2x2");
  EXPECT_EQ(format_numbers(Numbers{0, 1, 0, 1, 0, 1}), "0-1*3");
  EXPECT_EQ(format_numbers(Numbers{3, 9}), "3,9");
  EXPECT_EQ(format_set(Numbers{3, 1, 2, 2, 9}), "1-3,9");
}

TEST(Numbers, AMillionRegularRanksAreAFewCharacters) {
  Numbers nodes, pus, pairs;
  for (std::uint32_t rank = 0; rank < 1'048'576; ++rank) {
    nodes.push_back(rank / 128);
    pus.push_back(rank % 128);
    const std::uint32_t local = rank % 32;
    pairs.push_back(local < 16 ? local : 128 + local - 16);
  }
  EXPECT_EQ(format_numbers(nodes), "0-8191x128");
  EXPECT_EQ(format_numbers(pus), "0-127*8192");
  EXPECT_EQ(format_numbers(pairs), "(0-15,128-143)*32768");
  EXPECT_EQ(parsed("(0-15,128-143)*32768"), pairs);
}

TEST(Numbers, RoundTripsWhateverIsInThem) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (int round = 0; round < 3000; ++round) {
    Numbers numbers;
    const std::size_t length = below(60);
    const std::uint32_t range = 1 + below(round % 3 == 0 ? 3 : 20);
    while (numbers.size() < length) {
      std::uint32_t value = below(range);
      if (round % 50 == 0) value = UINT32_MAX - value;
      const std::uint32_t step = below(3);
      for (std::uint32_t i = 0; i <= below(6); ++i)
        numbers.push_back(value > UINT32_MAX - 20 ? value : value + i * step);
    }
    EXPECT_EQ(parsed(format_numbers(numbers)), numbers) << format_numbers(numbers);
  }
}

TEST(Numbers, RandomOrderOfAMillionStaysFast) {
  Numbers numbers(1'000'000);
  std::iota(numbers.begin(), numbers.end(), 0U);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(1));
  EXPECT_EQ(parsed(format_numbers(numbers)), numbers);
}

TEST(Numbers, RefusesWhatIsWrongAndSaysWhere) {
  for (const char* text : {"a",          "1,",
                           ",1",         "1-",
                           "1--2",       "-1",
                           "1-2:",       "1-2:0",
                           "1x",         "1x0",
                           "1*0",        "1 ,2",
                           "(1",         "1)",
                           "()",         "(1)x2",
                           "4294967296", "99999999999999999999",
                           "1.5",        "((((((((((1))))))))))",
                           "1-2-3"}) {
    const auto result = parse_numbers(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(result.error().cause.find("column"), std::string::npos) << result.error().cause;
  }
}

TEST(Numbers, RefusesToGrowBeyondTheLimit) {
  for (const char* text : {"0-4294967295", "0x4294967295", "0*4294967295", "(0-9999*1000)*1000",
                           "0-4294967295x4294967295*4294967295", "((((0-99*99)*99)*99)*99)*99"}) {
    const auto result = parse_numbers(text);
    ASSERT_FALSE(result) << text;
    EXPECT_NE(result.error().cause.find("longer"), std::string::npos) << result.error().cause;
  }
  EXPECT_TRUE(parse_numbers("0-9", 10));
  EXPECT_FALSE(parse_numbers("0-10", 10));
  EXPECT_FALSE(parse_numbers("0-9,0", 10));
}

}  // namespace
}  // namespace weir
