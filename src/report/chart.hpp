// Charts as values: numbers in, a picture (PNG, SVG) or a text for a terminal out.
//
//     report::save({.title = "Wall time of STREAM",
//                   .y_label = "wall time (s)",
//                   .categories = {"mpiio", "hdf5"},
//                   .series = {{.name = "sequential", .values = {41, 44}, .low = {40, 41}, .high = {43, 49}},
//                              {.name = "consecutive", .values = {27, 29}, .low = {26, 28}, .high = {29,
//                              31}}}},
//                  "wall.png");
//
// Bars stand in groups: a group per category, in it a bar per series. A series with `parts` is a stacked bar:
// the colours then tell the parts apart and the names of the series stand under their bars. Lines go over
// `x`.
//
// The same chart gives the same bytes. Names may be long (they are wrapped, turned, and at last cut short
// with an ellipsis) and hold any text; what is not UTF-8 in them is replaced.
//
// Threads: all functions are reentrant.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::report {

struct Part {
  std::string name;
  std::vector<double> values;  // one per category, not negative
};

struct Series {
  std::string name;
  // One per category, or per element of x. NaN: was not measured; "n/a" stands in its place, lines have a
  // gap.
  std::vector<double> values = {};
  std::vector<double> low = {};  // with `high`, an error bar: quartiles, say. As many as values, or none
  std::vector<double> high = {};
  // Of bars: from the bottom up, the same names in every series. The bar is as high as their sum; `values`,
  // when given too, are marked by a line across the bar (a wall time that was measured on its own, say).
  std::vector<Part> parts = {};
};

// A dashed line across the chart, with its name at its end: ratio 1, say.
struct Reference {
  double value = 1;
  std::string name = {};
};

enum class Kind { bars, lines };
enum class Scale { linear, log2 };

struct Chart {
  std::string title = {};
  Kind kind = Kind::bars;
  std::string x_label = {};
  std::string y_label = {};                  // with its unit: "wall time (s)"
  std::vector<std::string> categories = {};  // of bars
  std::vector<double> x = {};                // of lines: rising
  Scale x_scale = Scale::log2;               // of lines
  Scale y_scale = Scale::linear;             // of lines. Linear axes start at zero
  std::vector<Series> series = {};
  std::vector<Reference> references = {};
  std::string mark_name = "total";   // of the line across a stacked bar
  std::optional<double> y_max = {};  // bars that are longer are cut there, visibly; their numbers stay
  bool numbers = true;               // on bars, where there is room for all of them
  double width = 900;                // in pixels
  double height = 560;
};

inline constexpr std::size_t max_series = 16;  // more cannot be told apart by colour

// Whether it can be drawn; the failure says what is wrong with it and where.
Status check(const Chart& chart);

// By the extension of the path: .png or .svg. The file appears whole or not at all.
Status save(const Chart& chart, const std::filesystem::path& path);

// Several charts side by side in one picture, row after row: each as large as it says, columns as wide as
// their widest.
Status save(const std::vector<Chart>& charts, std::size_t columns, const std::filesystem::path& path);

Result<std::string> render_svg(const Chart& chart);
Result<std::string> render_png(const Chart& chart);  // unsupported in a build without Cairo

struct TextOptions {
  std::size_t width = 80;  // in columns; at least 30 are used
  bool colour = false;     // with escape sequences of a terminal
};
// Lying bars made of block characters; lines are shown as bars, too.
Result<std::string> render_text(const Chart& chart, const TextOptions& options = {});

}  // namespace weir::report
