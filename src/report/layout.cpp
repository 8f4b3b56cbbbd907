// What all charts share: title, legend, axes, references.
#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/palette.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

constexpr double reference_width = 120;  // of their names, at most
constexpr double legend_row = 21;
constexpr double legend_gap = 22;
constexpr double swatch = 13;
constexpr double line_swatch = 30;
constexpr double swatch_gap = 7;

double swatch_width(const LegendEntry& entry) {
  return (entry.with_line ? line_swatch : swatch) + swatch_gap;
}

// The entries of each row of the legend.
std::vector<std::vector<LegendEntry>> legend_rows(const std::vector<LegendEntry>& entries, double width,
                                                  double most) {
  std::vector<std::vector<LegendEntry>> rows;
  double used = 0;
  for (LegendEntry entry : entries) {
    entry.name = shorten(entry.name, most - swatch_width(entry), legend_size);
    const double needed = swatch_width(entry) + text_width(entry.name, legend_size);
    if (rows.empty() || used + legend_gap + needed > width) {
      rows.emplace_back();
      used = -legend_gap;
    }
    used += legend_gap + needed;
    rows.back().push_back(std::move(entry));
  }
  return rows;
}

void add_legend_row(Scene& scene, const std::vector<LegendEntry>& row, double centre, double y) {
  double width = -legend_gap;
  for (const LegendEntry& entry : row)
    width += legend_gap + swatch_width(entry) + text_width(entry.name, legend_size);
  double x = centre - width / 2;
  for (const LegendEntry& entry : row) {
    const double middle = y + legend_row / 2;
    const double sample = entry.with_line ? line_swatch : swatch;
    if (entry.with_line)
      scene.shapes.push_back(Path{{{x, middle}, {x + sample, middle}}, false, entry.colour, 2});
    add_marker(scene, entry.marker, {x + sample / 2, middle}, entry.marker == Marker::box ? swatch : 9,
               entry.colour);
    x += swatch_width(entry);
    scene.shapes.push_back(
        Text{.at = {x, middle + legend_size * 0.36}, .text = entry.name, .size = legend_size, .colour = ink});
    x += text_width(entry.name, legend_size) + legend_gap;
  }
}

std::vector<std::string> reference_lines(const Reference& reference) {
  return fit(clean(reference.name), reference_width, tick_size, false, 3);
}

}  // namespace

Marker marker_of(std::size_t series) {
  constexpr Marker order[] = {Marker::circle, Marker::square, Marker::triangle, Marker::diamond,
                              Marker::wedge};
  return order[series % std::size(order)];
}

void add_marker(Scene& scene, Marker marker, Point at, double size, Colour colour, std::string note) {
  const double r = size / 2;
  const auto shape = [&](std::vector<Point> points) {
    scene.shapes.push_back(
        Path{.points = std::move(points), .filled = true, .colour = colour, .note = std::move(note)});
  };
  switch (marker) {
    case Marker::box:
    case Marker::square:
      return scene.shapes.push_back(Rect{at.x - r, at.y - r, size, size, colour, std::move(note)});
    case Marker::circle: {
      constexpr int corners_of_circle = 24;
      std::vector<Point> points;
      for (int i = 0; i < corners_of_circle; ++i) {
        const double angle = 2 * std::acos(-1.0) * i / corners_of_circle;
        points.push_back({at.x + r * std::cos(angle), at.y + r * std::sin(angle)});
      }
      return shape(std::move(points));
    }
    case Marker::triangle:
      return shape(
          {{at.x, at.y - r * 1.2}, {at.x + r * 1.15, at.y + r * 0.9}, {at.x - r * 1.15, at.y + r * 0.9}});
    case Marker::diamond:
      return shape({{at.x, at.y - r * 1.25},
                    {at.x + r * 1.25, at.y},
                    {at.x, at.y + r * 1.25},
                    {at.x - r * 1.25, at.y}});
    case Marker::wedge:
      return shape(
          {{at.x, at.y + r * 1.2}, {at.x + r * 1.15, at.y - r * 0.9}, {at.x - r * 1.15, at.y - r * 0.9}});
    case Marker::line:
      scene.shapes.push_back(Path{.points = {{at.x - r - 1, at.y}, {at.x + r + 1, at.y}},
                                  .colour = colour,
                                  .width = 2.5,
                                  .note = std::move(note)});
  }
}

double add_header(Scene& scene, const Chart& chart, const std::vector<LegendEntry>& legend) {
  const double width = chart.width - 2 * margin;
  const double centre = chart.width / 2;
  double y = margin;
  for (const std::string& line : fit(clean(chart.title), width, title_size, true, 2)) {
    y += title_size * line_height;
    scene.shapes.push_back(Text{.at = {centre, y - title_size * 0.3},
                                .text = line,
                                .size = title_size,
                                .bold = true,
                                .anchor = Anchor::middle,
                                .colour = ink});
  }
  if (!legend.empty()) {
    y += 6;
    // Rather shorter names than a legend that takes the room of the data.
    auto rows = legend_rows(legend, width, width);
    for (const double share : {0.5, 0.33, 0.25, 0.2}) {
      if (static_cast<double>(rows.size()) * legend_row <= chart.height * 0.12) break;
      rows = legend_rows(legend, width, width * share - legend_gap);
    }
    for (const auto& row : rows) {
      add_legend_row(scene, row, centre, y);
      y += legend_row;
    }
  }
  return y;
}

Frame sides(const Chart& chart, const Axis& y_axis) {
  double ticks = 0;
  for (const std::string& label : y_axis.labels) ticks = std::max(ticks, text_width(label, tick_size));
  Frame frame{.left = margin + ticks + 10, .right = chart.width - margin};
  if (!chart.y_label.empty()) frame.left += label_size * line_height + 4;
  double names = 0;
  for (const Reference& reference : chart.references) {
    for (const std::string& line : reference_lines(reference))
      names = std::max(names, text_width(line, tick_size));
  }
  if (names > 0) frame.right -= names + 8;
  return frame;
}

void add_y_axis(Scene& scene, const Chart& chart, const Axis& axis, const Frame& frame) {
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const double y = frame.y_of(axis, axis.ticks[i]);
    const bool zero = axis.ticks[i] == 0 || (i == 0 && axis.scale == Scale::log2);
    if (!zero) scene.shapes.push_back(Path{{{frame.left, y}, {frame.right, y}}, false, grid_colour, 1});
    scene.shapes.push_back(Text{.at = {frame.left - 8, y + tick_size * 0.36},
                                .text = axis.labels[i],
                                .size = tick_size,
                                .anchor = Anchor::end,
                                .colour = ink});
  }
  if (!chart.y_label.empty()) {
    const auto text =
        shorten(clean(chart.y_label), std::min(chart.height - 2 * margin, frame.height() + 60), label_size);
    const double length = text_width(text, label_size);
    const double centre =
        std::clamp((frame.top + frame.bottom) / 2, margin + length / 2, chart.height - margin - length / 2);
    scene.shapes.push_back(Text{.at = {margin + label_size * 0.8, centre},
                                .text = text,
                                .size = label_size,
                                .anchor = Anchor::middle,
                                .angle = -90,
                                .colour = ink});
  }
}

void add_x_label(Scene& scene, const Chart& chart, const Frame& frame) {
  if (chart.x_label.empty()) return;
  scene.shapes.push_back(Text{.at = {(frame.left + frame.right) / 2, chart.height - margin + 2},
                              .text = shorten(clean(chart.x_label), frame.width(), label_size),
                              .size = label_size,
                              .anchor = Anchor::middle,
                              .colour = ink});
}

void add_references(Scene& scene, const Chart& chart, const Axis& y_axis, const Frame& frame) {
  std::vector<std::size_t> order(chart.references.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return chart.references[a].value > chart.references[b].value;
  });
  double free_from = 0;  // names from the top down, each below the one before
  for (const std::size_t i : order) {
    const Reference& reference = chart.references[i];
    const double y = frame.y_of(y_axis, reference.value);
    if (y < frame.top - 0.5 || y > frame.bottom + 0.5) continue;
    scene.shapes.push_back(
        Path{.points = {{frame.left, y}, {frame.right, y}}, .colour = ink, .width = 1.4, .dash = 6});
    const std::vector<std::string> lines = reference_lines(reference);
    const double height = static_cast<double>(lines.size()) * tick_size * line_height;
    double at = std::max(y - height / 2, free_from);
    for (const std::string& line : lines) {
      at += tick_size * line_height;
      scene.shapes.push_back(Text{
          .at = {frame.right + 6, at - tick_size * 0.36}, .text = line, .size = tick_size, .colour = ink});
    }
    free_from = at + 2;
  }
}

void add_range(Scene& scene, const Frame& frame, double x, double y_low, double y_high, double cap) {
  const auto inside = [&](double y) { return std::clamp(y, frame.top, frame.bottom); };
  const auto line = [&](Point from, Point to) { scene.shapes.push_back(Path{{from, to}, false, ink, 1.3}); };
  line({x, inside(y_low)}, {x, inside(y_high)});
  if (cap < 1) return;
  for (const double y : {y_low, y_high}) {
    if (y >= frame.top - 0.5 && y <= frame.bottom + 0.5) line({x - cap, y}, {x + cap, y});
  }
}

Span span_of(const Chart& chart) {
  Span span{.low = INFINITY, .high = -INFINITY};
  const auto include = [&](double value) {
    if (std::isnan(value)) return;
    span.low = std::min(span.low, value);
    span.high = std::max(span.high, value);
  };
  for (const Series& series : chart.series) {
    for (const auto* values : {&series.values, &series.low, &series.high}) {
      for (const double value : *values) include(value);
    }
    const std::size_t points = series.parts.empty() ? 0 : series.parts.front().values.size();
    for (std::size_t i = 0; i < points; ++i) {
      double sum = 0;
      for (const Part& part : series.parts) sum += std::isnan(part.values[i]) ? 0 : part.values[i];
      include(sum);
    }
  }
  for (const Reference& reference : chart.references) include(reference.value);
  return span;
}

Axis y_axis_of(const Chart& chart, double height) {
  const Span span = span_of(chart);
  const int wanted = std::clamp(static_cast<int>(height / 55), 2, 10);
  if (chart.y_scale == Scale::log2) return log2_axis(span.low, span.high, wanted * 2);
  double high = std::max(span.high, 0.0);
  if (chart.y_max) high = std::min(std::max(high, 0.0), *chart.y_max);
  if (high == 0 && span.low >= 0) high = 1;
  return linear_axis(std::min(span.low, 0.0), high, wanted);
}

Status check_room(const Frame& frame, const Chart& chart) {
  if (frame.width() >= chart.width * 0.25 && frame.height() >= chart.height * 0.25) return {};
  return fail(ErrorCode::invalid_argument, "the labels leave no room for the data",
              "make the picture larger or names shorter");
}

std::string value_note(const std::string& what, double value) {
  return fmt::format("{}: {}", what, format_number(value));
}

Result<Scene> lay_out(const Chart& chart) {
  WEIR_TRY(check(chart));
  return chart.kind == Kind::bars ? lay_out_bars(chart) : lay_out_lines(chart);
}

}  // namespace weir::report
