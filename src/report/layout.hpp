// Where everything in a chart goes: pure, and the same everywhere. No label meets another or leaves the
// picture.
#pragma once

#include "report/chart.hpp"
#include "report/scene.hpp"
#include "report/ticks.hpp"

namespace weir::report {

// REQUIRES nothing: checks the chart. Fails where its labels leave no room for it, too.
Result<Scene> lay_out(const Chart& chart);

// The rest is shared by the files of the layout.

inline constexpr double margin = 16;
inline constexpr double title_size = 17;
inline constexpr double label_size = 14;  // of axes
inline constexpr double tick_size = 13;
inline constexpr double legend_size = 13;
inline constexpr double number_size = 11.5;

// The rectangle in which the data stands.
struct Frame {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
  double y_of(const Axis& axis, double value) const { return bottom - axis.position(value) * height(); }
};

enum class Marker { box, circle, square, triangle, diamond, wedge, line };
Marker marker_of(std::size_t series);
void add_marker(Scene& scene, Marker marker, Point at, double size, Colour colour, std::string note = {});

struct LegendEntry {
  std::string name;
  Colour colour = {};
  Marker marker = Marker::box;
  bool with_line = false;
};
// Title and legend; the result is where they end.
double add_header(Scene& scene, const Chart& chart, const std::vector<LegendEntry>& legend);

// What y axis, its name and the names of references take at the sides.
Frame sides(const Chart& chart, const Axis& y_axis);
void add_y_axis(Scene& scene, const Chart& chart, const Axis& axis,
                const Frame& frame);  // and the grid, beneath the data
void add_x_label(Scene& scene, const Chart& chart, const Frame& frame);
void add_references(Scene& scene, const Chart& chart, const Axis& y_axis,
                    const Frame& frame);  // above the data
void add_range(Scene& scene, const Frame& frame, double x, double y_low, double y_high, double cap);

// A row of names under an axis, each centred in its slot: on one to three lines, else slanted, else upright;
// where even that is too dense, only every n-th.
struct LabelRow {
  double height = 0;
  std::vector<Text> texts;  // as if the row began at y = 0
};
LabelRow label_row(const std::vector<std::string>& labels, const std::vector<double>& centres, double slot,
                   double most_height, double size, bool bold);

// The largest y value that must be visible and the smallest, references included.
struct Span {
  double low = 0;
  double high = 0;
};
Span span_of(const Chart& chart);
Axis y_axis_of(const Chart& chart, double height);

Result<Scene> lay_out_bars(const Chart& chart);
Result<Scene> lay_out_lines(const Chart& chart);
Status check_room(const Frame& frame, const Chart& chart);

std::string value_note(const std::string& what, double value);  // "hdf5, consecutive: 12.3"

}  // namespace weir::report
