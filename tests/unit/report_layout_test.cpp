// What stands where in a picture: sizes follow the numbers, and no label meets another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "report/layout.hpp"
#include "report/text.hpp"
#include "report_support.hpp"

namespace weir::report::test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Text> texts_of(const Scene& scene) {
  std::vector<Text> texts;
  for (const Shape& shape : scene.shapes) {
    if (const auto* text = std::get_if<Text>(&shape)) texts.push_back(*text);
  }
  return texts;
}

// Two convex shapes are apart if and only if an edge of one of them has all of the other on its far side.
bool meet(const std::array<Point, 4>& a, const std::array<Point, 4>& b) {
  const auto has_separating_edge = [](const std::array<Point, 4>& one, const std::array<Point, 4>& other) {
    for (std::size_t i = 0; i < one.size(); ++i) {
      const Point from = one[i];
      const Point to = one[(i + 1) % one.size()];
      const auto outside = [&](const Point& point) {
        return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x) <= 1e-6;
      };
      if (std::all_of(other.begin(), other.end(), outside)) return true;
    }
    return false;
  };
  return !has_separating_edge(a, b) && !has_separating_edge(b, a);
}

void expect_readable(const Chart& chart) {
  const auto scene = lay_out(chart);
  ASSERT_TRUE(scene) << scene.error().message();
  const std::vector<Text> texts = texts_of(*scene);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto mine = corners(texts[i]);
    for (const Point& corner : mine) {
      EXPECT_TRUE(corner.x >= 0 && corner.x <= chart.width && corner.y >= 0 && corner.y <= chart.height)
          << "'" << texts[i].text << "' leaves the picture at " << corner.x << ", " << corner.y;
    }
    for (std::size_t k = 0; k < i; ++k)
      EXPECT_FALSE(meet(mine, corners(texts[k])))
          << "'" << texts[i].text << "' meets '" << texts[k].text << "'";
  }
  EXPECT_THAT(svg_of(chart), testing::Not(HasSubstr("nan")));
}

std::vector<Chart> many_charts() {
  std::vector<Chart> charts = {grouped(), stacked(), scaling()};
  Chart chart = stacked();
  chart.categories = {"a rather long name of a backend that nobody would choose",
                      "the-quick-brown-fox_jumps_over"};
  chart.series[0].name = "sequential, as the program does it today";
  charts.push_back(chart);
  chart.title =
      "A title that is so long that it cannot stand on one line, nor on two, however wide the picture is, "
      "since "
      "it goes on and on, and tells the whole story of the experiment before anybody has seen a single bar "
      "of it";
  chart.y_label = chart.title;
  chart.x_label = chart.title;
  charts.push_back(chart);
  chart = grouped();
  chart.series[1].values[2] = 1e9;
  charts.push_back(chart);
  chart.y_max = 50;
  charts.push_back(chart);
  chart = grouped();
  chart.series[0].values = {-3, 2.5, NAN};
  chart.series[0].low.clear();
  chart.series[0].high.clear();
  charts.push_back(chart);
  chart = scaling();
  chart.references = {{1, "one"}, {1.01, "just above it, with a name of several words"}, {1.02, "three"}};
  charts.push_back(chart);
  for (const std::size_t count : {std::size_t{1}, std::size_t{12}, std::size_t{40}, std::size_t{200}}) {
    for (const char* name : {"", "node"}) {
      chart = {.title = "Many", .y_label = "MiB/s", .series = {{.name = "read"}, {.name = "write"}}};
      for (std::size_t i = 0; i < count; ++i) {
        chart.categories.push_back(name + std::to_string(i));
        for (Series& series : chart.series) series.values.push_back(static_cast<double>(i * 37 % 101));
      }
      charts.push_back(chart);
      chart.series.pop_back();
      charts.push_back(chart);
    }
  }
  chart = {.title = "All series", .y_label = "s", .categories = {"one", "two", "three"}};
  for (std::size_t i = 0; i < max_series; ++i)
    chart.series.push_back(
        {.name = "a series with quite a long name " + std::to_string(i), .values = {1.0, 2.25, 1000.0}});
  charts.push_back(chart);
  chart.kind = Kind::lines;
  chart.categories.clear();
  chart.x = {3, 5, 4096};
  charts.push_back(chart);
  return charts;
}

TEST(ReportLayout, TheTestKnowsWhatMeets) {
  const auto at = [](double x, double y, double angle) {
    return corners({.at = {x, y}, .text = "label", .angle = angle});
  };
  EXPECT_TRUE(meet(at(10, 10, 0), at(20, 15, 0)));
  EXPECT_FALSE(meet(at(10, 10, 0), at(10, 24, 0)));
  EXPECT_TRUE(meet(at(10, 10, 0), at(15, 30, -90)));
  EXPECT_TRUE(meet(at(10, 50, -45), at(16, 50, -45)));
  EXPECT_FALSE(meet(at(10, 50, -45), at(30, 50, -45)));  // although the upright boxes around them do
}

TEST(ReportLayout, LabelsDoNotMeetAndStayInside) {
  for (const Chart& chart : many_charts()) {
    SCOPED_TRACE(chart.title.substr(0, 40) + ", " + std::to_string(chart.categories.size()) +
                 " categories, " + std::to_string(chart.series.size()) + " series");
    expect_readable(chart);
  }
}

TEST(ReportLayout, LabelsDoNotMeetAtOtherSizes) {
  for (const auto& [width, height] : {std::pair{600.0, 400.0}, {480.0, 360.0}, {1600.0, 900.0}}) {
    for (Chart chart : {grouped(), stacked(), scaling()}) {
      chart.width = width;
      chart.height = height;
      SCOPED_TRACE(chart.title + " " + std::to_string(width));
      expect_readable(chart);
    }
  }
}

TEST(ReportLayout, BarsAreAsHighAsTheirValues) {
  const auto bars = bars_of(svg_of(grouped()));
  ASSERT_EQ(bars.size(), 6U);
  const double unit = bars.at("mpiio, sequential: 40.0").height / 40;
  EXPECT_GT(unit, 3);
  const double base = bars.at("mpiio, sequential: 40.0").y + bars.at("mpiio, sequential: 40.0").height;
  const std::map<std::string, double> expected = {{"hdf5, sequential: 44.0", 44},
                                                  {"adios2-bp4, sequential: 30.0", 30},
                                                  {"mpiio, consecutive: 20.0", 20},
                                                  {"hdf5, consecutive: 22.0", 22},
                                                  {"adios2-bp4, consecutive: 15.0", 15}};
  for (const auto& [name, value] : expected) {
    ASSERT_EQ(bars.count(name), 1U) << name;
    EXPECT_NEAR(bars.at(name).height, value * unit, 0.02) << name;
    EXPECT_NEAR(bars.at(name).y + bars.at(name).height, base, 0.02) << name;
  }
  // Groups from left to right, and in each the series from left to right.
  EXPECT_LT(bars.at("mpiio, sequential: 40.0").x, bars.at("mpiio, consecutive: 20.0").x);
  EXPECT_LT(bars.at("mpiio, consecutive: 20.0").x, bars.at("hdf5, sequential: 44.0").x);
  EXPECT_LT(bars.at("hdf5, consecutive: 22.0").x, bars.at("adios2-bp4, sequential: 30.0").x);
}

TEST(ReportLayout, PartsStandOnEachOther) {
  const auto bars = bars_of(svg_of(stacked()));
  const Bar compute = bars.at("hdf5, hyperthread, compute: 14.0");
  const Bar send = bars.at("hdf5, hyperthread, send: 3.00");
  const Bar wait = bars.at("hdf5, hyperthread, wait: 8.00");
  EXPECT_NEAR(send.y + send.height, compute.y, 0.02);
  EXPECT_NEAR(wait.y + wait.height, send.y, 0.02);
  EXPECT_NEAR(send.height / compute.height, 3.0 / 14, 0.001);
  EXPECT_NEAR(wait.height / compute.height, 8.0 / 14, 0.001);
  EXPECT_EQ(compute.x, wait.x);
  EXPECT_EQ(bars.count("hdf5, sequential, send: 0"), 0U);  // nothing is drawn of nothing
}

TEST(ReportLayout, NegativeValuesGoDown) {
  const Chart chart{.categories = {"a", "b"}, .series = {{.name = "s", .values = {10, -5}}}};
  const auto bars = bars_of(svg_of(chart));
  const Bar up = bars.at("a: 10.0");
  const Bar down = bars.at("b: −5.00");
  EXPECT_NEAR(up.y + up.height, down.y, 0.02);
  EXPECT_NEAR(up.height, 2 * down.height, 0.02);
}

TEST(ReportLayout, WhatExceedsTheAxisIsCutAndKeepsItsNumber) {
  Chart chart = grouped();
  chart.series[0].values[0] = 5000;
  chart.series[0].high[0] = 5001;
  chart.y_max = 50;
  const std::string svg = svg_of(chart);
  const auto bars = bars_of(svg);
  EXPECT_NEAR(bars.at("mpiio, sequential: 5000").height, bars.at("hdf5, sequential: 44.0").height * 50 / 44,
              0.05);
  EXPECT_THAT(svg, HasSubstr(">5000</text>"));
}

TEST(ReportLayout, AllThatIsNamedCanBeRead) {
  for (const char* word : {">Wall time of STREAM, 2 ranks<", ">backend<", ">wall time (s)<", ">mpiio<",
                           ">hdf5<", ">adios2-bp4<", ">sequential<", ">consecutive<", ">44.0<", ">50<"})
    EXPECT_THAT(svg_of(grouped()), HasSubstr(word));
  for (const char* word : {">compute<", ">send<", ">wait<", ">sequential<", ">hyperthread<", ">30.0<"})
    EXPECT_THAT(svg_of(stacked()), HasSubstr(word));
  for (const char* word : {">as sequential<", ">ranks<", ">16<", ">consecutive<"})
    EXPECT_THAT(svg_of(scaling()), HasSubstr(word));
}

TEST(ReportLayout, MissingValuesAreSaid) {
  Chart chart = grouped();
  chart.series[1].values[1] = chart.series[1].low[1] = chart.series[1].high[1] = NAN;
  const std::string svg = svg_of(chart);
  EXPECT_EQ(bars_of(svg).size(), 5U);
  EXPECT_THAT(svg, HasSubstr(">n/a</text>"));
}

TEST(ReportLayout, AMarkStandsAtItsValue) {
  Chart chart = stacked();
  chart.series[0].values = {40, 45};
  chart.series[1].values = {20, 21};
  chart.series[2].values = {30, NAN};
  chart.mark_name = "wall time";
  const auto scene = lay_out(chart);
  ASSERT_TRUE(scene) << scene.error().message();
  const auto bars = bars_of(svg_of(chart));
  const Bar compute = bars.at("mpiio, sequential, compute: 10.0");
  std::vector<double> marks;
  for (const Shape& shape : scene->shapes) {
    const auto* path = std::get_if<Path>(&shape);
    if (path != nullptr && path->note == "wall time: 40.0") marks.push_back(path->points.front().y);
  }
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_NEAR(compute.y + compute.height - marks.front(), 4 * compute.height, 0.05);
  EXPECT_THAT(svg_of(chart), HasSubstr(">wall time<"));
}

// The places of the points of a line, left to right.
std::vector<Point> points_of(const Chart& chart, const std::string& series) {
  const auto scene = lay_out(chart);
  std::vector<Point> points;
  for (const Shape& shape : scene->shapes) {
    const auto* path = std::get_if<Path>(&shape);
    if (path == nullptr || !path->note.starts_with(series)) continue;
    Point middle;
    for (const Point& point : path->points) {
      middle.x += point.x / static_cast<double>(path->points.size());
      middle.y += point.y / static_cast<double>(path->points.size());
    }
    points.push_back(middle);
  }
  return points;
}

TEST(ReportLayout, TheLogarithmicAxisHasDoublingsAtEqualDistances) {
  const std::vector<Point> points = points_of(scaling(), "consecutive");
  ASSERT_EQ(points.size(), 5U);
  for (std::size_t i = 2; i < points.size(); ++i)
    EXPECT_NEAR(points[i].x - points[i - 1].x, points[1].x - points[0].x, 0.02);
  EXPECT_NEAR((points[0].y - points[4].y) / (points[0].y - points[2].y), 0.15 / 0.1, 0.01);
}

TEST(ReportLayout, LinesHaveGapsAndReferences) {
  const auto scene = lay_out(scaling());
  ASSERT_TRUE(scene);
  std::vector<std::size_t> lengths;  // of the lines of the second series
  std::vector<double> dashed;
  for (const Shape& shape : scene->shapes) {
    const auto* path = std::get_if<Path>(&shape);
    if (path == nullptr || path->filled) continue;
    if (path->dash > 0) dashed.push_back(path->points.front().y);
    if (path->colour == Colour{230, 159, 0} && path->points.front().y > 60)
      lengths.push_back(path->points.size());
  }
  EXPECT_THAT(lengths, ElementsAre(2U, 2U));
  ASSERT_EQ(dashed.size(), 1U);
  Chart at_one = scaling();
  at_one.series[0].values.assign(5, 1.0);
  at_one.series[0].low.assign(5, 0.5);
  const double y = points_of(at_one, "consecutive").front().y;
  EXPECT_NEAR(dashed.front(), y, 0.05);
}

TEST(ReportLayout, RoundTicks) {
  EXPECT_THAT(linear_axis(0, 57.3, 6).labels, ElementsAre("0", "10", "20", "30", "40", "50", "60"));
  EXPECT_THAT(linear_axis(0, 1, 5).labels, ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(linear_axis(-10, 36, 5).labels, ElementsAre("−10", "0", "10", "20", "30", "40"));
  EXPECT_THAT(linear_axis(0, 4e6, 4).labels, ElementsAre("0", "1×10⁶", "2×10⁶", "3×10⁶", "4×10⁶"));
  EXPECT_THAT(linear_axis(0, 2e-5, 2).labels, ElementsAre("0", "1×10⁻⁵", "2×10⁻⁵"));
  EXPECT_THAT(log2_axis(1, 16, 10).labels, ElementsAre("1", "2", "4", "8", "16"));
  EXPECT_THAT(log2_axis(1, 1 << 20, 6).labels, ElementsAre("1", "16", "256", "4096", "65536", "1048576"));
  EXPECT_THAT(log2_axis(0.3, 1, 9).labels, ElementsAre("0.25", "0.5", "1"));
  for (const double huge : {1e300, 1e-300, std::numeric_limits<double>::denorm_min()}) {
    const Axis axis = linear_axis(0, huge, 5);
    EXPECT_GE(axis.ticks.size(), 2U) << huge;
    EXPECT_LE(axis.ticks.size(), 12U) << huge;
  }
}

TEST(ReportLayout, NumbersHaveThreeDigits) {
  const std::vector<std::pair<double, std::string>> expected = {
      {0, "0"},           {0.125, "0.125"},      {1, "1.00"},        {9.996, "10.0"},
      {41.25, "41.2"},    {99.97, "100"},        {1230, "1230"},     {-2, "−2.00"},
      {123456, "123456"}, {1234567, "1.23×10⁶"}, {9.999e6, "1×10⁷"}, {2.5e-5, "2.5×10⁻⁵"}};
  for (const auto& [value, text] : expected) EXPECT_EQ(format_number(value), text);
}

TEST(ReportText, IsMadeToFit) {
  EXPECT_THAT(*wrap("adios2-hdf5", 60, 13, false, 3), ElementsAre("adios2-", "hdf5"));
  EXPECT_THAT(*wrap("one two", 1000, 13, false, 3), ElementsAre("one two"));
  EXPECT_FALSE(wrap("incompressible", 40, 13, false, 3));
  EXPECT_EQ(shorten("incompressible", 60, 13), "incom…");
  EXPECT_EQ(shorten("日本語", 30, 13), "日…");
  EXPECT_EQ(shorten_columns("日本語", 5), "日本…");
  EXPECT_EQ(clean("a\tb\xff\xc3(\xed\xa0\x80é"),
            "a b\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDé");
  EXPECT_EQ(text_columns("é日\xCC\x81"), 3U);
}

}  // namespace

}  // namespace weir::report::test
