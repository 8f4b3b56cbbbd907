#include "core/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::HasSubstr;

const std::vector<Option> declared = {
    {.name = "deflate",
     .kind = Option::Kind::integer,
     .fallback = "0",
     .help = "level",
     .least = 0,
     .most = 9},
    {.name = "shuffle", .kind = Option::Kind::boolean, .fallback = "no", .help = "shuffle"},
    {.name = "chunk", .kind = Option::Kind::bytes, .fallback = "1MiB", .help = "chunk", .least = 1},
    {.name = "mode",
     .kind = Option::Kind::word,
     .fallback = "auto",
     .help = "mode",
     .words = {"auto", "fast", "safe"}},
    {.name = "delay", .kind = Option::Kind::seconds, .fallback = "0", .help = "delay"},
    {.name = "buffer",
     .kind = Option::Kind::bytes,
     .fallback = "0",
     .help = "buffer",
     .least = 4096,
     .most = 1 << 20,
     .or_zero = true},
    {.name = "ranks", .kind = Option::Kind::numbers, .fallback = "", .help = "ranks", .least = 0},
};

std::string failure_of(const OptionMap& given) {
  const auto options = parse_options("backend 'x'", declared, given);
  return options ? "accepted" : options.error().message();
}

TEST(Options, DefaultsAndValues) {
  const auto options = parse_options("x", declared, {{"deflate", "4"}, {"shuffle", "on"}, {"delay", "20ms"}});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->integer("deflate"), 4);
  EXPECT_TRUE(options->flag("shuffle"));
  EXPECT_EQ(options->integer("chunk"), 1 << 20);
  EXPECT_EQ(options->text("mode"), "auto");
  EXPECT_DOUBLE_EQ(options->seconds("delay"), 0.02);
  EXPECT_TRUE(options->given("deflate"));
  EXPECT_FALSE(options->given("mode"));
  EXPECT_TRUE(options->numbers("ranks").empty());
  EXPECT_EQ(parse_options("x", declared, {{"ranks", "4+0+12"}})->numbers("ranks"),
            (std::vector<std::int64_t>{4, 0, 12}));
}

TEST(Options, EveryMistakeIsNamed) {
  EXPECT_THAT(failure_of({{"deflat", "4"}}),
              HasSubstr("backend 'x' has no option 'deflat'; did you mean 'deflate'?"));
  EXPECT_THAT(failure_of({{"zzzzzz", "4"}}), HasSubstr("it can be deflate, shuffle"));
  EXPECT_THAT(failure_of({{"deflate", "10"}}), HasSubstr("at most 9"));
  EXPECT_THAT(failure_of({{"deflate", "four"}}), HasSubstr("option 'deflate': 'four' is not a whole number"));
  EXPECT_THAT(failure_of({{"shuffle", "maybe"}}), HasSubstr("neither yes nor no"));
  EXPECT_THAT(failure_of({{"mode", "fst"}}), HasSubstr("did you mean 'fast'"));
  EXPECT_THAT(failure_of({{"chunk", "4 MB"}}), HasSubstr("write it like"));
  EXPECT_THAT(failure_of({{"chunk", "0"}}), HasSubstr("at least 1"));
  EXPECT_EQ(failure_of({{"buffer", "0"}}), "accepted");
  EXPECT_EQ(failure_of({{"buffer", "4K"}}), "accepted");
  EXPECT_THAT(failure_of({{"buffer", "1"}}), HasSubstr("it must be 0, or at least 4096 and at most 1048576"));
  EXPECT_THAT(failure_of({{"delay", "-1"}}), HasSubstr("not a quantity"));
  EXPECT_THAT(failure_of({{"ranks", "0+x"}}), HasSubstr("option 'ranks': 'x' is not a whole number"));
  EXPECT_THAT(failure_of({{"ranks", "0+-1"}}), HasSubstr("at least 0"));
  EXPECT_THAT(failure_of({{"ranks", "0+"}}), HasSubstr("a number is missing"));
  EXPECT_THAT(failure_of({{"ranks", "0++1"}}), HasSubstr("'' is not a whole number"));
}

TEST(Options, Quantities) {
  EXPECT_EQ(*parse_bytes("0"), 0);
  EXPECT_EQ(*parse_bytes("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(*parse_bytes("1.5GiB"), 3LL << 29);
  EXPECT_EQ(*parse_bytes("4k"), 4096);
  EXPECT_EQ(*parse_bytes("4 MiB"), 4 << 20);
  for (const char* bad : {"", "x", "-1", "1e400", "9e18T", "4MiBB", "nan", "inf"})
    EXPECT_FALSE(parse_bytes(bad)) << bad;
  EXPECT_DOUBLE_EQ(*parse_seconds("5min"), 300);
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16.0 EiB");
}

TEST(Options, Splitting) {
  EXPECT_EQ(split_options("a=1,b=x y")->size(), 2U);
  EXPECT_TRUE(split_options("")->empty());
  for (const char* bad : {"a", "=1", "a=1,a=2", "a=1,,b=2"}) EXPECT_FALSE(split_options(bad)) << bad;
}

}  // namespace
}  // namespace weir
