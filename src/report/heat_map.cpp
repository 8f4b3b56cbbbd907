#include "report/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/file.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

constexpr double least_width = 320;
constexpr double least_height = 160;
constexpr double most_pixels = 20000;
constexpr double most = 1e300;  // of an amount: sums and differences still fit in a double

tl::unexpected<Failure> wrong(std::string cause, std::string advice = {}) {
  return fail(ErrorCode::invalid_argument, std::move(cause), std::move(advice));
}

// The labels of every n-th group, "3" or "3..5".
std::vector<std::string> joined(const std::vector<std::string>& labels, std::size_t group) {
  if (group == 1) return labels;
  std::vector<std::string> result;
  for (std::size_t i = 0; i < labels.size(); i += group) {
    const std::size_t last = std::min(i + group, labels.size()) - 1;
    result.push_back(last == i ? labels[i] : labels[i] + ".." + labels[last]);
  }
  return result;
}

std::size_t group_size(std::size_t count, std::size_t limit) {
  return std::max<std::size_t>(1, (count + limit - 1) / std::max<std::size_t>(1, limit));
}

}  // namespace

Status check(const HeatMap& map) {
  if (!(map.width >= least_width && map.height >= least_height && map.width <= most_pixels &&
        map.height <= most_pixels))
    return wrong(fmt::format("a size of {} x {} pixels", map.width, map.height),
                 fmt::format("it can be from {} x {} to {} x {}", least_width, least_height, most_pixels,
                             most_pixels));
  if (map.columns.empty() || map.rows.empty()) return wrong("a heat map without cells");
  if (map.columns.size() > max_cells / map.rows.size())
    return wrong(fmt::format("{} x {} cells are too many", map.rows.size(), map.columns.size()));
  if (map.values.size() != map.columns.size() * map.rows.size())
    return wrong(fmt::format("{} values for {} rows and {} columns", map.values.size(), map.rows.size(),
                             map.columns.size()));
  if (!map.cells.empty() && map.cells.size() != map.values.size())
    return wrong(fmt::format("{} names for {} cells", map.cells.size(), map.values.size()));
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    if (!std::isnan(map.values[i]) && !(std::abs(map.values[i]) <= most))
      return wrong(fmt::format("row {}, column {}: {} cannot be drawn", i / map.columns.size() + 1,
                               i % map.columns.size() + 1, map.values[i]));
  }
  if (!(std::abs(map.low) <= most)) return wrong("the scale has no lower end");
  if (!std::isnan(map.high) && !(map.high > map.low && map.high <= most))
    return wrong(fmt::format("the scale goes from {} to {}", map.low, map.high));
  return {};
}

double ColourScale::position(double value) const {
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

ColourScale scale_of(const HeatMap& map) {
  ColourScale scale{.low = map.low, .high = map.high};
  if (std::isnan(scale.high)) {
    scale.high = map.low;
    for (const double value : map.values) {
      if (!std::isnan(value)) scale.high = std::max(scale.high, value);
    }
  }
  if (!(scale.high > scale.low)) scale.high = scale.low + std::max(1.0, std::abs(scale.low));
  return scale;
}

void share_scale(std::span<HeatMap> maps) {
  if (maps.empty()) return;
  ColourScale all = scale_of(maps.front());
  for (const HeatMap& map : maps) {
    const ColourScale scale = scale_of(map);
    all.low = std::min(all.low, scale.low);
    all.high = std::max(all.high, scale.high);
  }
  for (HeatMap& map : maps) map.low = all.low, map.high = all.high;
}

HeatMap reduced(const HeatMap& map, std::size_t most_rows, std::size_t most_columns) {
  const std::size_t by_row = group_size(map.rows.size(), most_rows);
  const std::size_t by_column = group_size(map.columns.size(), most_columns);
  if (by_row == 1 && by_column == 1) return map;
  HeatMap small = map;
  const ColourScale scale = scale_of(map);  // means are smaller: the scale stays that of the values
  small.low = scale.low, small.high = scale.high;
  small.cells.clear();
  small.rows = joined(map.rows, by_row);
  small.columns = joined(map.columns, by_column);
  small.values.assign(small.rows.size() * small.columns.size(), NAN);
  for (std::size_t row = 0; row < small.rows.size(); ++row) {
    for (std::size_t column = 0; column < small.columns.size(); ++column) {
      double sum = 0;
      std::size_t count = 0;
      for (std::size_t r = row * by_row; r < std::min((row + 1) * by_row, map.rows.size()); ++r) {
        for (std::size_t c = column * by_column; c < std::min((column + 1) * by_column, map.columns.size());
             ++c) {
          if (const double value = map.at(r, c); !std::isnan(value)) sum += value, ++count;
        }
      }
      if (count != 0) small.values[row * small.columns.size() + column] = sum / static_cast<double>(count);
    }
  }
  return small;
}

Colour heat_colour(double position) {
  static constexpr std::array<Colour, 9> stops = {{{68, 1, 84},
                                                   {71, 45, 123},
                                                   {59, 82, 139},
                                                   {44, 114, 142},
                                                   {33, 145, 140},
                                                   {40, 174, 128},
                                                   {94, 201, 98},
                                                   {173, 220, 48},
                                                   {253, 231, 37}}};
  const double scaled = std::clamp(position, 0.0, 1.0) * (stops.size() - 1);
  const auto index = std::min(static_cast<std::size_t>(scaled), stops.size() - 2);
  const double share = scaled - static_cast<double>(index);
  const auto mixed = [&](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * share));
  };
  const Colour& from = stops[index];
  const Colour& to = stops[index + 1];
  return {mixed(from.red, to.red), mixed(from.green, to.green), mixed(from.blue, to.blue)};
}

std::string heat_colour_hex(double position) {
  const Colour colour = heat_colour(position);
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string csv_field(std::string_view text) {
  std::string field(text);
  // A spreadsheet takes these for formulas; a leading apostrophe makes them text.
  if (!field.empty() && std::string_view("=+-@\t\r").find(field.front()) != std::string_view::npos &&
      !(field.size() > 1 && field.front() == '-' && std::isdigit(static_cast<unsigned char>(field[1])) != 0))
    field.insert(field.begin(), '\'');
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

Result<std::string> render_csv(const HeatMap& map) {
  WEIR_TRY(check(map));
  std::string text = csv_field(clean(map.y_label.empty() ? "row" : map.y_label));
  for (const std::string& column : map.columns) text += "," + csv_field(clean(column));
  text += "\n";
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    text += csv_field(clean(map.rows[row]));
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const double value = map.at(row, column);
      text += std::isnan(value) ? "," : fmt::format(",{}", value);
    }
    text += "\n";
  }
  return text;
}

Result<std::string> render_svg(const HeatMap& map) {
  WEIR_ASSIGN(const Scene scene, lay_out(map));
  return to_svg(scene);
}

Result<std::string> render_png(const HeatMap& map) {
  WEIR_ASSIGN(const Scene scene, lay_out(map));
  return to_png(scene);
}

Status save(const HeatMap& map, const std::filesystem::path& path) {
  const auto drawn = [&]() -> Status {
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (extension != ".png" && extension != ".svg" && extension != ".csv")
      return wrong(fmt::format("'{}' is not a kind of heat map", extension),
                   "end the name with .png, .svg or .csv");
    WEIR_ASSIGN(const std::string bytes, extension == ".png"   ? render_png(map)
                                         : extension == ".svg" ? render_svg(map)
                                                               : render_csv(map));
    return write_text_atomically(path, bytes);
  };
  return in(guarded(drawn), "save the heat map", path.string());
}

}  // namespace weir::report
