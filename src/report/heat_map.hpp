// Heat maps as values: a matrix with labels in, a picture (PNG, SVG), a text for a terminal or a table (CSV)
// out.
//
//     report::save(report::HeatMap{.title = "Write throughput by storage target",
//                                  .value_label = "MiB/s",
//                                  .columns = {"0", "1", "2"},
//                                  .rows = {"0", "1"},
//                                  .values = {120, 131, NAN, 90, 88, 143},
//                                  .high = 160},
//                  "ost.png");
//
// Colours are viridis: lightness rises with the value, so people with any colour vision, and printers without
// colours, keep the order. A cell without a measurement is grey and struck through, never the colour of zero.
//
// The same map gives the same bytes. Threads: all functions are reentrant.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "report/chart.hpp"
#include "report/scene.hpp"

namespace weir::report {

struct HeatMap {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::string value_label = {};           // what a colour stands for, with its unit: "write (MiB/s)"
  std::vector<std::string> columns = {};  // their names, from the left
  std::vector<std::string> rows = {};     // their names, from the top; from the bottom if `upward`
  std::vector<double> values = {};        // row after row; NaN: not measured
  std::vector<std::string> cells = {};    // a name for each cell, or none
  double low = 0;                         // the scale; values beyond its ends have the colours of its ends
  double high = NAN;                      // NaN: the largest value
  bool upward = false;                    // of positions in space: the first row is at the bottom
  double width = 900;                     // in pixels
  double height = 560;

  double at(std::size_t row, std::size_t column) const { return values[row * columns.size() + column]; }
};

// More cells than this is not a picture but a mistake.
inline constexpr std::size_t max_cells = 16U << 20U;

Status check(const HeatMap& map);

// The scale it is drawn with: never empty.
struct ColourScale {
  double low = 0;
  double high = 1;
  double position(double value) const;  // 0 to 1
};
ColourScale scale_of(const HeatMap& map);

// Gives all of them one scale, the widest: pictures side by side can then be compared by eye.
void share_scale(std::span<HeatMap> maps);

// At most so many rows and columns: neighbours become their mean. What is missing stays missing only where
// all of it is.
HeatMap reduced(const HeatMap& map, std::size_t most_rows, std::size_t most_columns);

Colour heat_colour(double position);  // of 0 to 1
std::string heat_colour_hex(double position);

Result<Scene> lay_out(const HeatMap& map);
Result<std::string> render_svg(const HeatMap& map);
Result<std::string> render_png(const HeatMap& map);  // unsupported in a build without Cairo
Result<std::string> render_text(const HeatMap& map, const TextOptions& options = {});
Result<std::string> render_csv(
    const HeatMap& map);  // every value; an empty field is one that was not measured

// By the extension of the path: .png, .svg or .csv. The file appears whole or not at all.
Status save(const HeatMap& map, const std::filesystem::path& path);

// One field of a CSV file: quoted where it must be.
std::string csv_field(std::string_view text);

}  // namespace weir::report
