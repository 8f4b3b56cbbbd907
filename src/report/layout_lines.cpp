#include <algorithm>
#include <cmath>

#include "report/layout.hpp"
#include "report/palette.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

constexpr double inset = 18;  // between the edges of the frame and the first and last point
constexpr double marker_size = 9;
constexpr double apart = 4;  // lines with ranges stand that far beside each other, so that these can be read

struct Lines {
  const Chart& chart;
  const Frame& frame;
  const Axis& x_axis;
  const Axis& y_axis;

  double x_of(double value) const {
    return frame.left + inset + x_axis.position(value) * (frame.width() - 2 * inset);
  }
};

Axis x_axis_of(const Chart& chart, const Frame& frame) {
  const double low = chart.x.front();
  const double high = chart.x.back();
  Axis axis{.scale = chart.x_scale, .first = low, .last = high};
  if (low == high) {
    axis.first = chart.x_scale == Scale::log2 ? low / 2 : low - 1;
    axis.last = chart.x_scale == Scale::log2 ? high * 2 : high + 1;
    if (axis.first == axis.last) axis.first = low - std::abs(low) / 2, axis.last = low + std::abs(low) / 2;
  }
  const auto place = [&](double value) { return axis.position(value) * (frame.width() - 2 * inset); };
  const auto fits = [&](const std::vector<double>& ticks, const std::vector<std::string>& labels) {
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      const double needed =
          (text_width(labels[i - 1], tick_size) + text_width(labels[i], tick_size)) / 2 + 10;
      if (place(ticks[i]) - place(ticks[i - 1]) < needed) return false;
    }
    return true;
  };
  // Best, the points themselves; else round numbers within the range.
  for (const double value : chart.x) {
    axis.ticks.push_back(value);
    axis.labels.push_back(value == std::round(value) && std::abs(value) < 1e6
                              ? std::to_string(static_cast<long>(value))
                              : format_number(value));
  }
  if (fits(axis.ticks, axis.labels)) return axis;
  for (int wanted = 12; wanted >= 1; --wanted) {
    const Axis round =
        chart.x_scale == Scale::log2 ? log2_axis(low, high, wanted + 1) : linear_axis(low, high, wanted);
    axis.ticks.clear();
    axis.labels.clear();
    for (std::size_t i = 0; i < round.ticks.size(); ++i) {
      if (round.ticks[i] < axis.first || round.ticks[i] > axis.last) continue;
      axis.ticks.push_back(round.ticks[i]);
      axis.labels.push_back(round.labels[i]);
    }
    if (fits(axis.ticks, axis.labels)) break;
  }
  return axis;
}

void add_series(Scene& scene, const Lines& lines, std::size_t index) {
  const Series& series = lines.chart.series[index];
  const bool any_ranges = std::any_of(lines.chart.series.begin(), lines.chart.series.end(),
                                      [](const Series& one) { return !one.low.empty(); });
  const double shift =
      any_ranges
          ? apart * (static_cast<double>(index) - static_cast<double>(lines.chart.series.size() - 1) / 2)
          : 0;
  const Colour colour = palette(index);
  std::vector<Point> run;  // up to the next gap
  const auto end_run = [&] {
    if (run.size() > 1) scene.shapes.push_back(Path{.points = run, .colour = colour, .width = 2});
    run.clear();
  };
  std::vector<std::pair<Point, std::size_t>> points;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    if (std::isnan(series.values[i])) {
      end_run();
      continue;
    }
    const Point point{lines.x_of(lines.chart.x[i]) + shift, lines.frame.y_of(lines.y_axis, series.values[i])};
    run.push_back(point);
    points.emplace_back(point, i);
  }
  end_run();
  for (const auto& [point, i] : points) {
    if (!series.low.empty() && !std::isnan(series.low[i]) && !std::isnan(series.high[i])) {
      const double low = lines.frame.y_of(lines.y_axis, series.low[i]);
      const double high = lines.frame.y_of(lines.y_axis, series.high[i]);
      for (const auto& [from, to] : {std::pair<Point, Point>{{point.x, low}, {point.x, high}},
                                     {{point.x - 4, low}, {point.x + 4, low}},
                                     {{point.x - 4, high}, {point.x + 4, high}}})
        scene.shapes.push_back(Path{{from, to}, false, colour, 1.4});
    }
  }
  const bool crowded = lines.frame.width() / static_cast<double>(lines.chart.x.size()) < marker_size * 1.2;
  for (const auto& [point, i] : points) {
    const std::string name =
        (series.name.empty() ? "" : clean(series.name) + ", ") + format_number(lines.chart.x[i]);
    add_marker(scene, marker_of(index), point, crowded ? marker_size / 2 : marker_size, colour,
               value_note(name, series.values[i]));
  }
}

}  // namespace

Result<Scene> lay_out_lines(const Chart& chart) {
  if (chart.y_max) return fail(ErrorCode::invalid_argument, "y_max is of bars");
  Scene scene{.title = clean(chart.title), .width = chart.width, .height = chart.height};
  std::vector<LegendEntry> legend;
  if (chart.series.size() > 1) {
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      legend.push_back({.name = clean(chart.series[i].name),
                        .colour = palette(i),
                        .marker = marker_of(i),
                        .with_line = true});
    }
  }
  const double header = add_header(scene, chart, legend);
  const Axis y_axis = y_axis_of(chart, chart.height * 0.65);
  Frame frame = sides(chart, y_axis);
  frame.top = header + 14;
  frame.bottom = chart.height - margin - 6 - tick_size * line_height;
  if (!chart.x_label.empty()) frame.bottom -= label_size * line_height;
  WEIR_TRY(check_room(frame, chart));
  const Axis x_axis = x_axis_of(chart, frame);
  const Lines lines{chart, frame, x_axis, y_axis};

  add_y_axis(scene, chart, y_axis, frame);
  const double base =
      y_axis.first < 0 && y_axis.scale == Scale::linear ? frame.y_of(y_axis, 0) : frame.bottom;
  scene.shapes.push_back(Path{{{frame.left, base}, {frame.right, base}}, false, axis_colour, 1.2});
  for (std::size_t i = 0; i < x_axis.ticks.size(); ++i) {
    const double x = lines.x_of(x_axis.ticks[i]);
    scene.shapes.push_back(Path{{{x, frame.bottom}, {x, frame.bottom + 5}}, false, axis_colour, 1.2});
    scene.shapes.push_back(Text{.at = {x, frame.bottom + 5 + tick_size * line_height * 0.9},
                                .text = x_axis.labels[i],
                                .size = tick_size,
                                .anchor = Anchor::middle,
                                .colour = ink});
  }
  add_references(scene, chart, y_axis, frame);
  for (std::size_t i = 0; i < chart.series.size(); ++i) add_series(scene, lines, i);
  add_x_label(scene, chart, frame);
  return scene;
}

}  // namespace weir::report
