#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/file.hpp"
#include "report/layout.hpp"
#include "report/scene.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

constexpr double least_width = 320;
constexpr double least_height = 240;
constexpr double most_pixels = 20000;  // along an edge; Cairo ends at 32767
constexpr double most = 1e300;         // of an amount: sums and differences still fit in a double

tl::unexpected<Failure> wrong(std::string cause, std::string advice = {}) {
  return fail(ErrorCode::invalid_argument, std::move(cause), std::move(advice));
}

std::string series_name(const Chart& chart, std::size_t index) {
  const std::string& name = chart.series[index].name;
  return name.empty() ? fmt::format("series {}", index + 1) : fmt::format("series '{}'", clean(name));
}

Status check_numbers(const std::string& of, const std::vector<double>& values, std::size_t expected,
                     bool may_be_missing, bool may_be_negative) {
  if (values.size() != expected)
    return wrong(fmt::format("{} has {} values, expected {}", of, values.size(), expected));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i]) && may_be_missing) continue;
    if (!(std::abs(values[i]) <= most))
      return wrong(fmt::format("{}, value {}: {} cannot be drawn", of, i + 1, values[i]));
    if (values[i] < 0 && !may_be_negative)
      return wrong(fmt::format("{}, value {}: {} is negative", of, i + 1, values[i]));
  }
  return {};
}

Status check_ranges(const Chart& chart, std::size_t index, std::size_t points) {
  const Series& series = chart.series[index];
  if (series.low.empty() && series.high.empty()) return {};
  const std::string name = series_name(chart, index);
  if (series.values.empty()) return wrong(fmt::format("{} has a range (low, high) but no values", name));
  WEIR_TRY(check_numbers(name + ", low", series.low, points, true, true));
  WEIR_TRY(check_numbers(name + ", high", series.high, points, true, true));
  for (std::size_t i = 0; i < points; ++i) {
    if (series.low[i] > series.high[i])
      return wrong(fmt::format("{}, value {}: its range goes from {} to {}", name, i + 1, series.low[i],
                               series.high[i]));
  }
  return {};
}

Status check_parts(const Chart& chart, std::size_t index, std::size_t points) {
  const std::vector<Part>& parts = chart.series[index].parts;
  const std::vector<Part>& first = chart.series.front().parts;
  const std::string name = series_name(chart, index);
  if (!parts.empty() && chart.kind != Kind::bars)
    return wrong(fmt::format("{} has parts: only bars can be stacked", name));
  if (parts.size() > max_series)
    return wrong(
        fmt::format("{} has {} parts; at most {} can be told apart", name, parts.size(), max_series));
  const auto same_name = [](const Part& a, const Part& b) { return a.name == b.name; };
  if (!std::equal(parts.begin(), parts.end(), first.begin(), first.end(), same_name))
    return wrong(fmt::format("{} has other parts than {}", name, series_name(chart, 0)),
                 "give all series the same parts in the same order, with zeros where there is nothing");
  for (const Part& part : parts)
    WEIR_TRY(check_numbers(fmt::format("{}, part '{}'", name, clean(part.name)), part.values, points, true,
                           false));
  return {};
}

Status check_positions(const Chart& chart) {
  if (chart.kind == Kind::bars) {
    if (chart.categories.empty()) return wrong("no categories: there is nothing to draw");
    if (!chart.x.empty()) return wrong("x is of lines; bars have categories");
    return {};
  }
  if (chart.x.empty()) return wrong("x is empty: there is nothing to draw");
  if (!chart.categories.empty()) return wrong("categories are of bars; lines have x");
  WEIR_TRY(check_numbers("x", chart.x, chart.x.size(), false, chart.x_scale == Scale::linear));
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    if (chart.x_scale == Scale::log2 && chart.x[i] <= 0)
      return wrong(fmt::format("x, value {}: {} has no place on a logarithmic axis", i + 1, chart.x[i]));
    if (i > 0 && chart.x[i] <= chart.x[i - 1])
      return wrong(fmt::format("x, value {}: {} comes after {}", i + 1, chart.x[i], chart.x[i - 1]),
                   "sort the points by x");
  }
  return {};
}

// On a logarithmic axis there is no place for zero and below.
Status check_logarithmic(const Chart& chart) {
  if (chart.kind == Kind::bars && chart.y_scale != Scale::linear)
    return wrong("bars start at zero, which a logarithmic axis does not have", "use lines");
  if (chart.y_scale == Scale::linear) return {};
  const auto positive = [](double value) { return std::isnan(value) || value > 0; };
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    for (const auto* values : {&chart.series[i].values, &chart.series[i].low, &chart.series[i].high}) {
      if (!std::all_of(values->begin(), values->end(), positive))
        return wrong(
            fmt::format("{} has values that are not positive, on a logarithmic axis", series_name(chart, i)));
    }
  }
  for (const Reference& reference : chart.references) {
    if (!positive(reference.value)) return wrong("a reference that is not positive, on a logarithmic axis");
  }
  return {};
}

bool has_a_value(const Series& series) {
  const auto some = [](const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [](double value) { return !std::isnan(value); });
  };
  return some(series.values) || std::any_of(series.parts.begin(), series.parts.end(),
                                            [&](const Part& part) { return some(part.values); });
}

enum class Format { png, svg };

Result<Format> format_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".png") return Format::png;
  if (extension == ".svg") return Format::svg;
  return wrong(extension.empty() ? "the name has no extension"
                                 : fmt::format("'{}' is not a kind of picture", extension),
               "end the name with .png or .svg");
}

Status store(const Scene& scene, Format format, const std::filesystem::path& path) {
  if (format == Format::svg) return write_text_atomically(path, to_svg(scene));
  WEIR_ASSIGN(const std::string png, to_png(scene));
  return write_text_atomically(path, png);
}

}  // namespace

Status check(const Chart& chart) {
  if (!(chart.width >= least_width && chart.height >= least_height && chart.width <= most_pixels &&
        chart.height <= most_pixels))
    return wrong(fmt::format("a size of {} x {} pixels", chart.width, chart.height),
                 fmt::format("it can be from {} x {} to {} x {}", least_width, least_height, most_pixels,
                             most_pixels));
  if (chart.series.empty()) return wrong("no series: there is nothing to draw");
  if (chart.series.size() > max_series)
    return wrong(fmt::format("{} series; at most {} can be told apart", chart.series.size(), max_series));
  WEIR_TRY(check_positions(chart));
  const std::size_t points = chart.kind == Kind::bars ? chart.categories.size() : chart.x.size();
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    WEIR_TRY(check_parts(chart, i, points));
    if (series.parts.empty() || !series.values.empty())
      WEIR_TRY(check_numbers(series_name(chart, i), series.values, points, true, series.parts.empty()));
    WEIR_TRY(check_ranges(chart, i, points));
  }
  if (std::none_of(chart.series.begin(), chart.series.end(), has_a_value))
    return wrong("no series has any value: there is nothing to draw");
  for (const Reference& reference : chart.references)
    WEIR_TRY(check_numbers("a reference", {reference.value}, 1, false, true));
  if (chart.y_max && !(*chart.y_max > 0 && *chart.y_max <= most))
    return wrong(fmt::format("y_max is {}; it must be positive", *chart.y_max));
  return check_logarithmic(chart);
}

Status save(const Chart& chart, const std::filesystem::path& path) {
  return save(std::vector<Chart>{chart}, 1, path);
}

Status save(const std::vector<Chart>& charts, std::size_t columns, const std::filesystem::path& path) {
  const auto drawn = [&]() -> Status {
    WEIR_ASSIGN(const Format format, format_of(path));
    if (charts.empty() || columns == 0) return wrong("no charts: there is nothing to draw");
    columns = std::min(columns, charts.size());
    std::vector<double> widths(columns, 0);
    for (std::size_t i = 0; i < charts.size(); ++i)
      widths[i % columns] = std::max(widths[i % columns], charts[i].width);
    Scene all;
    double row_height = 0;
    Point at;
    for (std::size_t i = 0; i < charts.size(); ++i) {
      WEIR_ASSIGN(Scene scene, in(lay_out(charts[i]), fmt::format("draw '{}'", clean(charts[i].title))));
      if (i == 0) all.title = scene.title;
      append(all, std::move(scene), at);
      row_height = std::max(row_height, charts[i].height);
      at.x += widths[i % columns];
      all.width = std::max(all.width, at.x);
      all.height = at.y + row_height;
      if ((i + 1) % columns == 0) at = {0, all.height}, row_height = 0;
    }
    if (all.width > most_pixels || all.height > most_pixels) return wrong("the picture is too large");
    return store(all, format, path);
  };
  return in(guarded(drawn), "save the chart", path.string());
}

Result<std::string> render_svg(const Chart& chart) {
  WEIR_ASSIGN(const Scene scene, lay_out(chart));
  return to_svg(scene);
}

Result<std::string> render_png(const Chart& chart) {
  WEIR_ASSIGN(const Scene scene, lay_out(chart));
  return to_png(scene);
}

}  // namespace weir::report
