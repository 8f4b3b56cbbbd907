#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/layout.hpp"
#include "report/palette.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

constexpr double widest_bar = 72;
constexpr double least_bar = 0.8;  // in pixels: thinner ones cannot be seen

// Where the bars stand, left to right.
struct Places {
  double group = 0;  // width of a group with the gap behind it
  double pitch = 0;  // from bar to bar within it
  double bar = 0;
  std::vector<std::vector<double>> centres;  // by category and series
  std::vector<double> group_centres;
};

Places places_of(const Chart& chart, const Frame& frame) {
  const auto groups = static_cast<double>(chart.categories.size());
  const auto bars = static_cast<double>(chart.series.size());
  Places places;
  places.group = frame.width() / groups;
  places.pitch = std::min(places.group * (bars == 1 ? 0.66 : 0.84) / bars, widest_bar);
  places.bar = places.pitch * (bars == 1 ? 1 : places.pitch < 5 ? 0.94 : 0.88);
  for (std::size_t category = 0; category < chart.categories.size(); ++category) {
    const double centre = frame.left + places.group * (static_cast<double>(category) + 0.5);
    places.group_centres.push_back(centre);
    auto& row = places.centres.emplace_back();
    for (std::size_t series = 0; series < chart.series.size(); ++series)
      row.push_back(centre + places.pitch * (static_cast<double>(series) - (bars - 1) / 2));
  }
  return places;
}

bool is_stacked(const Chart& chart) {
  return !chart.series.front().parts.empty();
}

// The height of a bar; NaN where nothing was measured.
double height_of(const Series& series, std::size_t category) {
  if (series.parts.empty()) return series.values[category];
  double sum = 0;
  bool any = false;
  for (const Part& part : series.parts) {
    if (std::isnan(part.values[category])) continue;
    sum += part.values[category];
    any = true;
  }
  return any ? sum : NAN;
}

// The highest that is drawn of a bar, its range and mark included: numbers stand above it.
double top_of(const Series& series, std::size_t category) {
  double top = std::fmax(height_of(series, category), 0.0);
  if (!series.values.empty()) top = std::fmax(top, series.values[category]);
  if (!series.high.empty()) top = std::fmax(top, series.high[category]);
  return top;
}

std::string number_of(const Series& series, std::size_t category) {
  const double value = series.parts.empty() || series.values.empty() || std::isnan(series.values[category])
                           ? height_of(series, category)
                           : series.values[category];
  return std::isnan(value) ? "n/a" : format_number(value);
}

enum class Numbers { none, level, upright };

Numbers numbers_mode(const Chart& chart, const Places& places) {
  if (!chart.numbers) return Numbers::none;
  double widest = 0;
  for (const Series& series : chart.series) {
    for (std::size_t i = 0; i < chart.categories.size(); ++i)
      widest = std::max(widest, text_width(number_of(series, i), number_size));
  }
  const double slot = chart.series.size() == 1 ? places.group : places.pitch;
  if (widest + 3 <= slot) return Numbers::level;
  return number_size * 1.15 <= slot && widest < chart.height * 0.12 ? Numbers::upright : Numbers::none;
}

double headroom(const Chart& chart, Numbers mode) {
  if (mode == Numbers::none) return 12;
  if (mode == Numbers::level) return number_size * line_height + 8;
  double widest = 0;
  for (const Series& series : chart.series) {
    for (std::size_t i = 0; i < chart.categories.size(); ++i)
      widest = std::max(widest, text_width(number_of(series, i), number_size));
  }
  return widest + 12;
}

std::vector<LegendEntry> legend_of(const Chart& chart) {
  std::vector<LegendEntry> legend;
  if (is_stacked(chart)) {
    const std::vector<Part>& parts = chart.series.front().parts;
    for (std::size_t i = 0; i < parts.size(); ++i)
      legend.push_back({.name = clean(parts[i].name), .colour = palette(i)});
    const bool marked = std::any_of(chart.series.begin(), chart.series.end(),
                                    [](const Series& series) { return !series.values.empty(); });
    if (marked) legend.push_back({.name = clean(chart.mark_name), .colour = ink, .marker = Marker::line});
  } else if (chart.series.size() > 1) {
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      legend.push_back({.name = clean(chart.series[i].name), .colour = palette(i)});
  }
  return legend;
}

// Two strokes across a bar that goes on beyond the top.
void add_cut(Scene& scene, double x, double bar, double top) {
  for (const double y : {top + 9, top + 15}) {
    scene.shapes.push_back(Path{.points = {{x - bar / 2 - 1, y + 3}, {x + bar / 2 + 1, y - 3}},
                                .colour = {255, 255, 255},
                                .width = 2.5});
  }
}

struct Drawing {
  const Chart& chart;
  const Axis& axis;
  const Frame& frame;
  const Places& places;
  Numbers mode;
  Scene& scene;

  double y_of(double value) const { return std::clamp(frame.y_of(axis, value), frame.top, frame.bottom); }

  void add_piece(double x, double from, double to, Colour colour, std::string note) const {
    const double a = y_of(from);
    const double b = y_of(to);
    scene.shapes.push_back(
        Rect{x - places.bar / 2, std::min(a, b), places.bar, std::abs(a - b), colour, std::move(note)});
  }

  void add_bar(std::size_t category, std::size_t index) const {
    const Series& series = chart.series[index];
    const double x = places.centres[category][index];
    std::string name = clean(chart.categories[category]);
    if (chart.series.size() > 1) name += (name.empty() ? "" : ", ") + clean(series.name);
    if (series.parts.empty()) {
      if (!std::isnan(series.values[category]))
        add_piece(x, 0, series.values[category], palette(index), value_note(name, series.values[category]));
    } else {
      double below = 0;
      for (std::size_t part = 0; part < series.parts.size(); ++part) {
        const double value = series.parts[part].values[category];
        if (std::isnan(value) || value == 0) continue;
        add_piece(x, below, below + value, palette(part),
                  value_note(name + ", " + clean(series.parts[part].name), value));
        below += value;
      }
    }
    if (height_of(series, category) > axis.last * (1 + 1e-9)) add_cut(scene, x, places.bar, frame.top);
  }

  void add_marks(std::size_t category, std::size_t index) const {
    const Series& series = chart.series[index];
    const double x = places.centres[category][index];
    const bool marked =
        !series.parts.empty() && !series.values.empty() && !std::isnan(series.values[category]);
    if (marked && series.values[category] <= axis.last) {
      add_marker(scene, Marker::line, {x, y_of(series.values[category])}, places.bar + 2, ink,
                 value_note(clean(chart.mark_name), series.values[category]));
    }
    if (!series.low.empty() && !std::isnan(series.low[category]) && !std::isnan(series.high[category])) {
      add_range(scene, frame, x, frame.y_of(axis, series.low[category]),
                frame.y_of(axis, series.high[category]), std::min(5.0, places.bar / 4));
    }
  }

  void add_number(std::size_t category, std::size_t index) const {
    const Series& series = chart.series[index];
    const std::string text = number_of(series, category);
    const double x = places.centres[category][index];
    const double y = y_of(top_of(series, category)) - 5;
    const bool measured = text != "n/a";
    Text label{.at = {x, y},
               .text = text,
               .size = number_size,
               .anchor = Anchor::middle,
               .colour = measured ? ink : faint_ink,
               .halo = true};
    if (mode == Numbers::upright) {
      label.at.x += number_size * 0.36;
      label.anchor = Anchor::start;
      label.angle = -90;
    }
    scene.shapes.push_back(std::move(label));
  }
};

}  // namespace

Result<Scene> lay_out_bars(const Chart& chart) {
  Scene scene{.title = clean(chart.title), .width = chart.width, .height = chart.height};
  const double header = add_header(scene, chart, legend_of(chart));

  // The axis first without knowing its exact height: its labels decide about the width, that about the rest.
  const Axis axis = y_axis_of(chart, chart.height * 0.6);
  Frame frame = sides(chart, axis);
  const Places places = places_of(chart, frame);
  if (places.bar < least_bar) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bars do not fit", chart.categories.size() * chart.series.size()),
                fmt::format("make it at least {:.0f} pixels wide, or draw fewer",
                            std::ceil(chart.width * least_bar / places.bar) + 1));
  }
  const Numbers mode = numbers_mode(chart, places);
  frame.top = header + headroom(chart, mode);

  std::vector<LabelRow> rows;
  const bool two_rows = is_stacked(chart) && chart.series.size() > 1;
  if (two_rows) {
    std::vector<std::string> names;
    std::vector<double> centres;
    for (const auto& group : places.centres) {
      for (std::size_t i = 0; i < chart.series.size(); ++i) names.push_back(clean(chart.series[i].name));
      centres.insert(centres.end(), group.begin(), group.end());
    }
    rows.push_back(label_row(names, centres, places.pitch, chart.height * 0.2, tick_size - 1, false));
  }
  std::vector<std::string> categories;
  for (const std::string& category : chart.categories) categories.push_back(clean(category));
  rows.push_back(label_row(categories, places.group_centres, places.group,
                           chart.height * (two_rows ? 0.2 : 0.28), tick_size, two_rows));

  double below = 6;
  for (const LabelRow& row : rows) below += row.height + (two_rows ? 5 : 0);
  frame.bottom = chart.height - margin + 4 - below;
  if (!chart.x_label.empty()) frame.bottom -= label_size * line_height + 4;
  WEIR_TRY(check_room(frame, chart));

  add_y_axis(scene, chart, axis, frame);
  const Drawing drawing{chart, axis, frame, places, mode, scene};
  const auto for_each_bar = [&](auto&& draw) {
    for (std::size_t category = 0; category < chart.categories.size(); ++category) {
      for (std::size_t series = 0; series < chart.series.size(); ++series) draw(category, series);
    }
  };
  for_each_bar([&](std::size_t category, std::size_t series) { drawing.add_bar(category, series); });
  add_references(scene, chart, axis, frame);
  for_each_bar([&](std::size_t category, std::size_t series) { drawing.add_marks(category, series); });
  const double zero = frame.y_of(axis, 0);
  scene.shapes.push_back(Path{{{frame.left, zero}, {frame.right, zero}}, false, axis_colour, 1.2});
  if (mode != Numbers::none)
    for_each_bar([&](std::size_t category, std::size_t series) { drawing.add_number(category, series); });

  double y = frame.bottom + 4;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 1) {  // what belongs together, before its name
      y += 3;
      if (places.group >= 20) {
        for (const double centre : places.group_centres) {
          const double half = places.pitch * static_cast<double>(chart.series.size()) / 2;
          scene.shapes.push_back(Path{{{centre - half, y}, {centre + half, y}}, false, axis_colour, 1});
        }
      }
      y += 2;
    }
    for (Text& text : rows[i].texts) {
      text.at.y += y;
      scene.shapes.push_back(std::move(text));
    }
    y += rows[i].height;
  }
  add_x_label(scene, chart, frame);
  return scene;
}

}  // namespace weir::report
