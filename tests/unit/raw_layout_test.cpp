#include "backends/raw_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::backends {
namespace {

using testing::HasSubstr;

RawLayout sample(std::uint64_t alignment = 1) {
  RawLayout layout(alignment);
  layout.define({.name = "T", .type = Type::float64, .shape = {3, 5}, .stepped = true});
  layout.define({.name = "mask", .type = Type::int8, .shape = {7}});
  EXPECT_TRUE(layout.reserve(0));
  EXPECT_TRUE(layout.reserve(1));
  EXPECT_TRUE(layout.reserve(0));
  layout.add_attribute({.name = "title", .value = std::string("ä\"")});
  const std::vector<float> numbers = {0.1F, INFINITY, 3};
  layout.add_attribute({.variable = "T", .name = "n", .value = Values::of<float>(numbers)});
  return layout;
}

TEST(RawLayout, ArraysFollowEachOtherWithoutGaps) {
  const RawLayout layout = sample();
  EXPECT_EQ(layout.offset({.variable = 0, .slot = 0}), 0U);
  EXPECT_EQ(layout.offset({.variable = 1, .slot = 0}), 120U);
  EXPECT_EQ(layout.offset({.variable = 0, .slot = 1}), 127U);
  EXPECT_EQ(layout.size(), 247U);
  EXPECT_EQ(sample(4096).offset({.variable = 0, .slot = 1}), 8192U);
}

TEST(RawLayout, SidecarRoundTrips) {
  const RawLayout layout = sample();
  const auto back = RawLayout::from_json(*parse_json(layout.to_json().dump()));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->to_json(), layout.to_json());
  EXPECT_EQ(back->attributes()[1].value, layout.attributes()[1].value);
}

TEST(RawLayout, DamagedSidecarsAreRefusedInWords) {
  const auto failure_with = [](const std::function<void(Json&)>& damage) {
    Json json = sample().to_json();
    damage(json);
    const auto layout = RawLayout::from_json(json);
    return layout ? std::string("accepted") : layout.error().message();
  };
  EXPECT_THAT(failure_with([](Json& j) { j["weir_file"] = 2; }), HasSubstr("format version 2"));
  EXPECT_THAT(failure_with([](Json& j) { j["byte_order"] = "big"; }), HasSubstr("big-endian"));
  EXPECT_THAT(failure_with([](Json& j) { j["size"] = 246; }), HasSubstr("beyond the end"));
  EXPECT_THAT(failure_with([](Json& j) {
                j["variables"][0]["shape"] = {1ULL << 62U, 8};
              }),
              HasSubstr("2^63"));
  EXPECT_THAT(failure_with([](Json& j) { j["variables"][0]["type"] = "flaot"; }),
              HasSubstr("unknown element type"));
  EXPECT_THAT(failure_with([](Json& j) { j["variables"][1]["offsets"] = {0, 1}; }), HasSubstr("not stepped"));
  EXPECT_THAT(failure_with([](Json& j) { j["variables"][0]["offsets"][0] = -1; }),
              HasSubstr("variables[0].offsets"));
  EXPECT_THAT(failure_with([](Json& j) { j["attributes"][1]["values"][0] = nullptr; }),
              HasSubstr("attributes[1].values"));
  EXPECT_THAT(failure_with([](Json& j) { j.erase("variables"); }), HasSubstr("'variables' is missing"));
}

}  // namespace
}  // namespace weir::backends
