// Heat maps in a terminal: a character a cell, shades without colours, colours of 256 with them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/heat_map.hpp"
#include "report/text.hpp"
#include "report/ticks.hpp"

namespace weir::report {

namespace {

constexpr std::size_t least_columns = 30;
constexpr std::size_t most_lines = 32;
constexpr std::array<const char*, 5> shades = {"·", "░", "▒", "▓", "█"};
constexpr std::size_t name_columns = 14;

// The nearest of the 6 x 6 x 6 colours that terminals have.
int terminal_colour(double position) {
  const Colour colour = heat_colour(position);
  const auto level = [](std::uint8_t value) { return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40; };
  return 16 + 36 * level(colour.red) + 6 * level(colour.green) + level(colour.blue);
}

std::string cell(double value, const ColourScale& scale, bool colour, std::size_t width) {
  std::string text;
  if (std::isnan(value)) {
    text.append(width, '?');
    return colour ? "\x1b[2m" + text + "\x1b[0m" : text;
  }
  const double position = scale.position(value);
  const auto index = std::min(static_cast<std::size_t>(position * shades.size()), shades.size() - 1);
  for (std::size_t i = 0; i < width; ++i) text += colour ? "█" : shades[index];
  return colour ? fmt::format("\x1b[38;5;{}m{}\x1b[0m", terminal_colour(position), text) : text;
}

}  // namespace

Result<std::string> render_text(const HeatMap& whole, const TextOptions& options) {
  WEIR_TRY(check(whole));
  const std::size_t width = std::max(options.width, least_columns);
  std::size_t names = 0;
  for (const std::string& row : whole.rows) names = std::max(names, text_columns(clean(row)));
  names = std::min(names, name_columns);
  const HeatMap map = reduced(whole, most_lines, width - names - 1);
  const ColourScale scale = scale_of(map);
  // Cells of one character look like a barcode when there are few of them.
  const std::size_t cell_width =
      std::clamp<std::size_t>((width - names - 1) / map.columns.size(), 1, map.columns.size() <= 20 ? 3 : 2);

  std::string text;
  if (!map.title.empty()) text += shorten_columns(clean(map.title), width) + "\n";
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    const std::size_t row = map.upward ? map.rows.size() - 1 - i : i;
    const std::string name = shorten_columns(clean(map.rows[row]), names);
    std::string line = std::string(names - text_columns(name), ' ') + name + " ";
    for (std::size_t column = 0; column < map.columns.size(); ++column)
      line += cell(map.at(row, column), scale, options.colour, cell_width);
    text += line + "\n";
  }
  text += std::string(names + 1, ' ') + format_number(scale.low) + " ";
  constexpr int legend = 10;
  for (int i = 0; i < legend; ++i)
    text += cell(scale.low + (i + 0.5) / legend * (scale.high - scale.low), scale, options.colour, 1);
  text += " " + format_number(scale.high) + (map.value_label.empty() ? "" : " " + clean(map.value_label));
  const bool missing =
      std::any_of(map.values.begin(), map.values.end(), [](double v) { return std::isnan(v); });
  if (missing) text += ", ? not measured";
  return text + "\n";
}

}  // namespace weir::report
