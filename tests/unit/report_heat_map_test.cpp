// Heat maps: what is drawn where, in which colour, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "core/file.hpp"
#include "report/heat_map.hpp"
#include "report_support.hpp"

namespace weir::report::test {

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

HeatMap small() {
  return {.title = "Write throughput",
          .x_label = "column",
          .y_label = "target",
          .value_label = "MiB/s",
          .columns = {"a", "b", "c"},
          .rows = {"first", "second"},
          .values = {0, 80, 160, NAN, 40, 200},
          .high = 160};
}

std::string svg_text(const HeatMap& map) {
  auto svg = render_svg(map);
  return svg ? *svg : "failed: " + svg.error().message();
}

TEST(ReportHeatMap, ColoursRiseInLightness) {
  double before = -1;
  for (int i = 0; i <= 100; ++i) {
    const Colour colour = heat_colour(i / 100.0);
    const double lightness = 0.2126 * colour.red + 0.7152 * colour.green + 0.0722 * colour.blue;
    EXPECT_GT(lightness, before) << i;
    before = lightness;
  }
  EXPECT_EQ(heat_colour(-3), heat_colour(0));
  EXPECT_EQ(heat_colour(3), heat_colour(1));
}

TEST(ReportHeatMap, CellsStandInRowsAndColumnsWithTheColourOfTheirValue) {
  const auto cells = bars_of(svg_text(small()));
  ASSERT_EQ(cells.size(), 6U);
  const Bar& zero = cells.at("first, a: 0");
  const Bar& middle = cells.at("first, b: 80.0");
  const Bar& below = cells.at("second, b: 40.0");
  EXPECT_LT(zero.x, middle.x);
  EXPECT_DOUBLE_EQ(zero.y, middle.y);
  EXPECT_LT(middle.y, below.y);
  EXPECT_DOUBLE_EQ(middle.x, below.x);
  EXPECT_EQ(cells.count("second, a: not measured"), 1U);
  const std::string svg = svg_text(small());
  const auto fill_of = [&](const std::string& note) {
    const std::size_t at = svg.find(note);
    return svg.substr(svg.rfind("fill=\"", at) + 6, 7);
  };
  EXPECT_EQ(fill_of("first, a: 0"), heat_colour_hex(0));
  EXPECT_EQ(fill_of("first, b: 80"), heat_colour_hex(0.5));
  EXPECT_EQ(fill_of("second, c: 200"), heat_colour_hex(1)) << "beyond the scale: its end";
  EXPECT_EQ(fill_of("not measured"), "#e5e5e5");
}

TEST(ReportHeatMap, UpwardPutsTheFirstRowAtTheBottom) {
  HeatMap map = small();
  map.upward = true;
  const auto cells = bars_of(svg_text(map));
  EXPECT_GT(cells.at("first, b: 80.0").y, cells.at("second, b: 40.0").y);
}

TEST(ReportHeatMap, OneScaleForAll) {
  std::vector<HeatMap> maps = {small(), small()};
  maps[0].high = NAN;
  maps[1].high = NAN;
  maps[1].values[0] = 900;
  share_scale(maps);
  EXPECT_EQ(maps[0].high, 900);
  EXPECT_EQ(maps[1].high, 900);
  HeatMap flat = small();
  flat.high = NAN;
  flat.values.assign(6, 0);
  EXPECT_GT(scale_of(flat).high, scale_of(flat).low);
}

TEST(ReportHeatMap, ManyCellsBecomeMeansAndKeepTheScale) {
  HeatMap map{.columns = std::vector<std::string>(2000, "t"), .rows = std::vector<std::string>(300, "o")};
  map.values.assign(600000, 1);
  for (std::size_t i = 0; i < 2000; ++i) map.values[i] = NAN;
  map.values[599999] = 101;
  const HeatMap less = reduced(map, 100, 100);
  EXPECT_EQ(less.rows.size(), 100U);
  EXPECT_EQ(less.columns.size(), 100U);
  EXPECT_EQ(less.at(0, 0), 1) << "two rows of three were measured";
  EXPECT_DOUBLE_EQ(less.at(99, 99), 1 + 100.0 / 60);
  EXPECT_EQ(scale_of(less).high, 101);
  const std::string svg = svg_text(map);
  EXPECT_THAT(svg, StartsWith("<svg"));
  EXPECT_LT(svg.size(), 30U << 20U);
}

TEST(ReportHeatMap, TextHasARowALineAndSaysWhatIsMissing) {
  const auto text = render_text(small(), {.width = 60});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, AllOf(HasSubstr("Write throughput\n"), HasSubstr(" first ···▒▒▒███"),
                           HasSubstr("second ???░░░███"), HasSubstr("160 MiB/s"), HasSubstr("? not measured"),
                           Not(HasSubstr("\x1b"))));
  EXPECT_THAT(*render_text(small(), {.width = 60, .colour = true}), HasSubstr("\x1b[38;5;"));
}

TEST(ReportHeatMap, CsvHasEveryValueAndNoFormulas) {
  HeatMap map = small();
  map.rows[0] = "=cmd|' /C calc'!A0";
  map.columns[1] = "b,\"c\"";
  const auto csv = render_csv(map);
  ASSERT_TRUE(csv);
  EXPECT_EQ(*csv, "target,a,\"b,\"\"c\"\"\",c\n'=cmd|' /C calc'!A0,0,80,160\nsecond,,40,200\n");
  EXPECT_EQ(csv_field("-1.5"), "-1.5");
}

TEST(ReportHeatMap, FilesByExtension) {
  std::string name = (fs::temp_directory_path() / "weir-heat-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path folder = name;
  EXPECT_TRUE(save(small(), folder / "map.svg"));
  EXPECT_TRUE(save(small(), folder / "map.CSV"));
  if (const auto saved = save(small(), folder / "map.png"); saved) {
    EXPECT_THAT(*read_text(folder / "map.png"), StartsWith("\x89PNG"));
  } else {
    EXPECT_EQ(saved.error().code, ErrorCode::unsupported);
  }
  const auto refused = save(small(), folder / "map.gif");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), AllOf(HasSubstr("map.gif"), HasSubstr(".png")));
  EXPECT_FALSE(fs::exists(folder / "map.gif"));
  fs::remove_all(folder);
}

TEST(ReportHeatMap, WhatCannotBeDrawnIsRefused) {
  const auto refusal = [](HeatMap map) {
    const auto svg = render_svg(map);
    return svg ? std::string("drawn") : svg.error().message();
  };
  HeatMap map = small();
  map.values.pop_back();
  EXPECT_THAT(refusal(map), HasSubstr("5 values for 2 rows and 3 columns"));
  map = small();
  map.values[4] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(refusal(map), HasSubstr("row 2, column 2"));
  map = small();
  map.high = map.low;
  EXPECT_THAT(refusal(map), HasSubstr("scale"));
  EXPECT_THAT(refusal({}), HasSubstr("without cells"));
  map = small();
  map.width = 10;
  EXPECT_THAT(refusal(map), HasSubstr("pixels"));
}

TEST(ReportHeatMap, HostileNamesStayText) {
  HeatMap map = small();
  map.title = map.columns[0] = map.rows[0] = "</text><script>alert(1)</script>\x1b[31m\xff";
  EXPECT_THAT(svg_text(map), AllOf(Not(HasSubstr("<script")), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(*render_text(map), Not(HasSubstr("\x1b")));
}

}  // namespace

}  // namespace weir::report::test
