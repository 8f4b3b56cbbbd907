// Files and texts that come of charts, and what is done about charts that cannot be drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "core/file.hpp"
#include "report/text.hpp"
#include "report_support.hpp"

namespace weir::report::test {

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ReportOutput : public testing::Test {
 protected:
  ReportOutput() {
    std::string name = (fs::temp_directory_path() / "weir-report-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~ReportOutput() override { fs::remove_all(folder_); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  // Without Cairo there are no pixels, and that is said.
  static bool can_paint() {
    const auto png = render_png(grouped());
    if (png) return true;
    EXPECT_EQ(png.error().code, ErrorCode::unsupported);
    EXPECT_THAT(png.error().message(), AllOf(HasSubstr("built without Cairo"), HasSubstr(".svg")));
    return false;
  }

  fs::path folder_;
};

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

TEST_F(ReportOutput, PngHasItsSizeAndIsWhole) {
  if (!can_paint()) GTEST_SKIP() << "built without Cairo";
  for (const Chart& chart : {grouped(), stacked(), scaling()}) {
    ASSERT_TRUE(save(chart, folder_ / "chart.PNG"));
    const std::string bytes = *read_text(folder_ / "chart.PNG");
    ASSERT_GT(bytes.size(), 5000U);
    EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
    EXPECT_EQ(bytes.substr(12, 4), "IHDR");
    EXPECT_EQ(big_endian(bytes, 16), 900U);
    EXPECT_EQ(big_endian(bytes, 20), 560U);
    EXPECT_EQ(bytes.substr(bytes.size() - 8, 4), "IEND");
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(ReportOutput, TheSameChartGivesTheSameBytes) {
  for (const Chart& chart : {grouped(), stacked(), scaling()}) {
    EXPECT_EQ(*render_svg(chart), *render_svg(chart));
    if (can_paint()) {
      EXPECT_EQ(*render_png(chart), *render_png(chart));
    }
  }
  Chart other = grouped();
  other.series[0].values[0] += 1;
  EXPECT_NE(*render_svg(other), *render_svg(grouped()));
  if (can_paint()) {
    EXPECT_NE(*render_png(other), *render_png(grouped()));
  }
}

TEST_F(ReportOutput, SvgIsWellFormedWhateverTheNames) {
  Chart chart = grouped();
  chart.title = "a < b & \"c\" > d\x01\xff";
  chart.categories[0] = "</text><script>";
  const std::string svg = svg_of(chart);
  EXPECT_THAT(svg, AllOf(StartsWith("<svg "), HasSubstr("a &lt; b &amp; &quot;c&quot; &gt; d"),
                         HasSubstr("&lt;/text&gt;&lt;script&gt;")));
  EXPECT_THAT(svg, testing::Not(HasSubstr("<script")));
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
}

TEST_F(ReportOutput, FilesAreReplacedWholeOrNotAtAll) {
  const fs::path path = folder_ / "chart.svg";
  ASSERT_TRUE(save(grouped(), path));
  ASSERT_TRUE(save(stacked(), path));
  EXPECT_EQ(*read_text(path), svg_of(stacked()));
  Chart bad = grouped();
  bad.series[0].values.pop_back();
  EXPECT_FALSE(save(bad, path));
  EXPECT_EQ(*read_text(path), svg_of(stacked()));
  EXPECT_EQ(files(), 1U);

  const auto unknown = save(grouped(), folder_ / "chart.jpeg");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message(), AllOf(HasSubstr("chart.jpeg"), HasSubstr(".png or .svg")));
  const auto nowhere = save(grouped(), folder_ / "no" / "such" / "chart.svg");
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message(), AllOf(HasSubstr("chart.svg"), HasSubstr("No such file")));
}

TEST_F(ReportOutput, SeveralChartsStandInOnePicture) {
  ASSERT_TRUE(save({grouped(), stacked(), scaling()}, 2, folder_ / "all.svg"));
  const std::string svg = *read_text(folder_ / "all.svg");
  EXPECT_THAT(svg, AllOf(HasSubstr("width=\"1800\" height=\"1120\""), HasSubstr(">Weak scaling<"),
                         HasSubstr(">Where the time went<")));
  const auto bars = bars_of(svg);
  const auto alone = bars_of(svg_of(stacked()));
  EXPECT_EQ(bars.at("mpiio, sequential, compute: 10.0").x,
            alone.at("mpiio, sequential, compute: 10.0").x + 900);
  EXPECT_FALSE(save({}, 2, folder_ / "all.svg"));
  EXPECT_FALSE(save({grouped()}, 0, folder_ / "all.svg"));
}

TEST(ReportCheck, SaysWhatIsWrong) {
  const auto expect_refused = [](const Chart& chart, const std::string& words) {
    for (const auto& outcome : {render_svg(chart), render_png(chart), render_text(chart)}) {
      ASSERT_FALSE(outcome) << words;
      EXPECT_EQ(outcome.error().code, ErrorCode::invalid_argument);
      EXPECT_THAT(outcome.error().message(), HasSubstr(words));
    }
  };
  expect_refused({}, "no series");
  expect_refused({.series = {{.name = "a"}}}, "no categories");
  expect_refused({.kind = Kind::lines, .series = {{.name = "a"}}}, "x is empty");
  expect_refused({.categories = {"x"}, .series = {{.name = "a", .values = {NAN}}}}, "any value");
  Chart chart = grouped();
  chart.series[1].values.push_back(1);
  expect_refused(chart, "series 'consecutive' has 4 values, expected 3");
  chart = grouped();
  chart.series[0].values[1] = std::numeric_limits<double>::infinity();
  expect_refused(chart, "series 'sequential', value 2: inf");
  chart = grouped();
  chart.series[0].values[1] = -1e305;
  expect_refused(chart, "cannot be drawn");
  chart = grouped();
  chart.series[0].high.pop_back();
  expect_refused(chart, "high has 2 values");
  chart = grouped();
  chart.series[0].low[2] = 32;
  expect_refused(chart, "its range goes from 32 to 31");
  chart = stacked();
  chart.series[1].parts[2].values[1] = -1;
  expect_refused(chart, "part 'wait', value 2: -1 is negative");
  chart = stacked();
  chart.series[2].parts.pop_back();
  expect_refused(chart, "series 'hyperthread' has other parts than series 'sequential'");
  chart = scaling();
  chart.x[0] = 0;
  expect_refused(chart, "logarithmic");
  chart = scaling();
  chart.x[3] = 4;
  expect_refused(chart, "sort the points");
  chart = scaling();
  chart.y_scale = Scale::log2;
  chart.series[0].low[0] = 0;
  expect_refused(chart, "not positive");
  chart = grouped();
  chart.y_scale = Scale::log2;
  expect_refused(chart, "use lines");
  chart = grouped();
  chart.width = 40;
  expect_refused(chart, "40 x 560");
  chart = grouped();
  chart.height = NAN;
  expect_refused(chart, "pixels");
  chart = grouped();
  chart.y_max = -1;
  expect_refused(chart, "y_max");
  chart = grouped();
  for (int i = 0; i < 20; ++i) chart.series.push_back(chart.series[0]);
  expect_refused(chart, "at most 16");
}

TEST(ReportCheck, BarsThatCannotBeSeenAreRefusedWithAWidthThatHelps) {
  Chart chart{.series = {{.name = "a"}, {.name = "b"}}};
  for (int i = 0; i < 1000; ++i) {
    chart.categories.push_back(std::to_string(i));
    for (Series& series : chart.series) series.values.push_back(i);
  }
  const auto refused = render_svg(chart);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("2000 bars do not fit"));
  std::smatch width;
  const std::string message = refused.error().message();
  ASSERT_TRUE(std::regex_search(message, width, std::regex("at least ([0-9]+) pixels")));
  chart.width = std::stod(width[1]);
  EXPECT_TRUE(render_svg(chart)) << chart.width;
}

TEST(ReportCheck, ExtremesAreDrawn) {
  for (const double value : {0.0, 1e300, 1e-300, 5e-324, 1.0, -1.0}) {
    const Chart bars{.categories = {"a", "b"}, .series = {{.name = "s", .values = {value, value}}}};
    const auto svg = render_svg(bars);
    ASSERT_TRUE(svg) << value << ": " << svg.error().message();
    EXPECT_THAT(*svg, AllOf(testing::Not(HasSubstr("nan")), testing::Not(HasSubstr("inf"))));
    Chart lines{.kind = Kind::lines, .x = {3}, .series = {{.name = "s", .values = {value}}}};
    const auto one_point = render_svg(lines);
    ASSERT_TRUE(one_point) << value;
    EXPECT_THAT(*one_point, AllOf(testing::Not(HasSubstr("nan")), testing::Not(HasSubstr("inf"))));
  }
}

TEST(ReportText, BarsOfATerminal) {
  const Chart chart{
      .title = "Wall time",
      .y_label = "seconds",
      .categories = {"mpiio", "hdf5"},
      .series = {{.name = "sequential", .values = {20, 10}}, {.name = "thread", .values = {5, NAN}}}};
  EXPECT_EQ(*render_text(chart, {.width = 38}),
            "Wall time\n"
            "seconds\n"
            "mpiio\n"
            "  sequential ████████████████████ 20.0\n"
            "  thread     █████ 5.00\n"
            "hdf5\n"
            "  sequential ██████████ 10.0\n"
            "  thread      n/a\n");
}

TEST(ReportText, StackedBarsOfATerminal) {
  const Chart chart{.categories = {"mpiio"},
                    .series = {{.name = "sync", .parts = {{"compute", {10}}, {"wait", {10}}}},
                               {.name = "async", .parts = {{"compute", {12}}, {"wait", {1}}}}}};
  EXPECT_EQ(*render_text(chart, {.width = 33}),
            "█ compute  ▒ wait\n"
            "mpiio\n"
            "  sync  ██████████▒▒▒▒▒▒▒▒▒▒ 20.0\n"
            "  async ████████████▒ 13.0\n");
  EXPECT_THAT(*render_text(chart, {.colour = true}), HasSubstr("\x1b[38;5;214m▒"));
}

TEST(ReportText, PartsOfACellAndBothSidesOfZero) {
  const Chart fine{.categories = {"a", "b", "c"}, .series = {{.values = {24, 1.5, 0.01}}}};
  const std::string text = *render_text(fine, {.width = 32});
  EXPECT_THAT(text, AllOf(HasSubstr("b █▌ 1.50\n"), HasSubstr("c ▏ 0.010\n")));
  const Chart both{.categories = {"up", "down"}, .series = {{.values = {10, -10}}}};
  EXPECT_EQ(*render_text(both, {.width = 32}),
            "up             ██████████ 10.0\n"
            "down ██████████ −10.0\n");
}

TEST(ReportText, LinesAreAsWideAsAsked) {
  Chart cut = grouped();
  cut.series[0].values[0] = 1e9;
  cut.y_max = 50;
  Chart long_names = stacked();
  long_names.categories[0] = std::string(300, 'x');
  long_names.series[1].name = std::string(300, 'y');
  for (const Chart& chart : {grouped(), stacked(), scaling(), cut, long_names}) {
    for (const std::size_t width : {std::size_t{30}, std::size_t{47}, std::size_t{80}, std::size_t{200}}) {
      const std::string text = *render_text(chart, {.width = width});
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        EXPECT_LE(text_columns(text.substr(begin, end - begin)), width) << text.substr(begin, end - begin);
        begin = end + 1;
      }
    }
  }
  EXPECT_THAT(*render_text(cut), HasSubstr("»1×10⁹"));
}

}  // namespace

}  // namespace weir::report::test
