#include "core/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::HasSubstr;

TEST(Json, SyntaxErrorsNameLineAndColumn) {
  const auto bad = parse_json("{\n  \"a\": 1,\n  \"b\": oops\n}");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::corrupt);
  EXPECT_THAT(bad.error().message(), HasSubstr("line 3, column"));
  EXPECT_FALSE(parse_json(""));
  EXPECT_FALSE(parse_json("1e999999"));
  EXPECT_FALSE(parse_json(std::string(1000, '[') + std::string(1000, ']')));
}

TEST(Json, MembersAreCheckedAndNamed) {
  const Json json = *parse_json(
      R"({"n": 3, "neg": -1, "big": 18446744073709551615, "t": "x", "f": 1.5, "l": [1], "b": true})");
  const JsonObject object = *JsonObject::of(json, "thing[2]");
  EXPECT_EQ(*object.size("n"), 3U);
  EXPECT_EQ(*object.size("big"), UINT64_MAX);
  EXPECT_EQ(*object.integer("neg"), -1);
  EXPECT_FALSE(object.integer("big"));
  EXPECT_FALSE(object.size("neg"));
  EXPECT_FALSE(object.size("f"));
  EXPECT_EQ(*object.number("f"), 1.5);
  EXPECT_TRUE(*object.boolean("b"));
  EXPECT_THAT(object.text("n").error().message(), HasSubstr("'thing[2].n' is not a text"));
  EXPECT_THAT(object.text("zz").error().message(), HasSubstr("'thing[2].zz' is missing"));
  EXPECT_THAT(object.only({"nn", "neg", "big", "t", "f", "l", "b"}).error().message(),
              HasSubstr("did you mean 'nn'"));
  EXPECT_FALSE(JsonObject::of(*parse_json("[]"), ""));
}

}  // namespace
}  // namespace weir
