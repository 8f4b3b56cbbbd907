// Bars in a terminal, lying, made of block characters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/chart.hpp"
#include "report/text.hpp"
#include "report/ticks.hpp"

namespace weir::report {

namespace {

constexpr std::size_t least_columns = 30;
constexpr const char* shades[] = {"█", "▒", "▓", "░", "▚", "▞", "▤", "▥"};
constexpr int colours[] = {32,  214, 36,  175,
                           166, 117, 227, 245};  // of the 256 of terminals: near to the palette's

struct Line {
  std::string label;
  std::vector<double> pieces;  // one, or the parts
  std::string number;
  std::size_t series = 0;
  bool indented = true;
  bool heading = false;
};

std::string repeated(const char* text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string padded(const std::string& text, std::size_t columns) {
  const std::size_t used = text_columns(text);
  return used >= columns ? text : text + std::string(columns - used, ' ');
}

class Painter {
 public:
  Painter(const TextOptions& options, double low, double high, std::size_t columns)
      : colour_(options.colour), low_(low), high_(high), columns_(columns) {}

  // The bar of one line, with blanks before it where others go below zero.
  std::string bar(const std::vector<double>& pieces, bool stacked, std::size_t series) const {
    if (!stacked) return single(pieces.front(), series);
    std::string result = std::string(cells_below_zero(), ' ');
    double sum = 0;
    std::size_t drawn = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (std::isnan(pieces[i])) continue;
      sum += pieces[i];
      const auto upto = static_cast<std::size_t>(std::lround(cells(sum)));
      result += tinted(repeated(shade(i), upto - drawn), i);
      drawn = upto;
    }
    return result;
  }

  const char* shade(std::size_t part) const { return shades[part % std::size(shades)]; }
  std::string tinted(const std::string& text, std::size_t part) const {
    if (!colour_ || text.empty()) return text;
    return fmt::format("\x1b[38;5;{}m{}\x1b[0m", colours[part % std::size(colours)], text);
  }

 private:
  double cells(double value) const { return value / (high_ - low_) * static_cast<double>(columns_); }
  std::size_t cells_below_zero() const { return static_cast<std::size_t>(std::ceil(cells(-low_) - 1e-9)); }

  std::string single(double value, std::size_t series) const {
    static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const std::size_t before = cells_below_zero();
    if (std::isnan(value)) return std::string(before, ' ');
    if (value < 0) {
      const auto length = static_cast<std::size_t>(std::lround(cells(-value)));
      return std::string(before - std::min(before, length), ' ') +
             tinted(repeated("█", std::min(before, length)), series);
    }
    auto pieces = static_cast<std::size_t>(std::lround(cells(value) * 8));
    if (pieces == 0 && value > 0) pieces = 1;  // what is there is seen
    return std::string(before, ' ') + tinted(repeated("█", pieces / 8) + eighths[pieces % 8], series);
  }

  bool colour_;
  double low_;
  double high_;
  std::size_t columns_;
};

std::vector<Line> lines_of(const Chart& chart) {
  std::vector<Line> lines;
  const std::size_t points = chart.kind == Kind::bars ? chart.categories.size() : chart.x.size();
  const bool grouped = chart.series.size() > 1;
  for (std::size_t point = 0; point < points; ++point) {
    std::string category =
        chart.kind == Kind::bars ? clean(chart.categories[point]) : format_number(chart.x[point]);
    if (chart.kind == Kind::lines && !chart.x_label.empty()) category = clean(chart.x_label) + " " + category;
    if (grouped) lines.push_back({.label = category, .heading = true});
    for (std::size_t index = 0; index < chart.series.size(); ++index) {
      const Series& series = chart.series[index];
      Line line{.label = grouped ? clean(series.name) : category, .series = index, .indented = grouped};
      double value = series.values.empty() ? NAN : series.values[point];
      if (series.parts.empty()) {
        line.pieces = {value};
      } else {
        double sum = 0;
        bool any = false;
        for (const Part& part : series.parts) {
          line.pieces.push_back(part.values[point]);
          if (!std::isnan(part.values[point])) sum += part.values[point], any = true;
        }
        value = any ? sum : NAN;  // what the bar shows; a mark has no place here
      }
      line.number = std::isnan(value) ? "n/a" : format_number(value);
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

double length_of(const Line& line) {
  return std::accumulate(line.pieces.begin(), line.pieces.end(), 0.0,
                         [](double sum, double piece) { return std::isnan(piece) ? sum : sum + piece; });
}

}  // namespace

Result<std::string> render_text(const Chart& chart, const TextOptions& options) {
  WEIR_TRY(check(chart));
  const std::size_t width = std::max(options.width, least_columns);
  const std::vector<Line> lines = lines_of(chart);
  const bool stacked = !chart.series.front().parts.empty();

  double low = 0;
  double high = 0;
  std::size_t labels = 0;
  std::size_t numbers = 0;
  for (const Line& line : lines) {
    if (line.heading) continue;
    low = std::min(low, length_of(line));
    high = std::max(high, length_of(line));
    labels = std::max(labels, text_columns(line.label) + (line.indented ? 2 : 0));
    numbers = std::max(numbers, text_columns(line.number));
  }
  if (high == low) high = low + 1;
  if (chart.y_max) high = std::max(std::min(high, *chart.y_max), low + 1e-300);
  labels = std::min(labels, width / 3);
  numbers = std::min(numbers, width / 4);
  const std::size_t columns = width - labels - numbers - 2;
  const Painter painter(options, low, high,
                        columns - (low < 0 ? 1 : 0));  // both sides of zero may be rounded up

  std::string text;
  if (!chart.title.empty()) text += shorten_columns(clean(chart.title), width) + "\n";
  if (!chart.y_label.empty()) text += shorten_columns(clean(chart.y_label), width) + "\n";
  if (stacked) {
    std::string row;
    std::size_t used = 0;
    for (std::size_t i = 0; i < chart.series.front().parts.size(); ++i) {
      const std::string name = shorten_columns(clean(chart.series.front().parts[i].name), width - 4);
      const std::size_t needed = 2 + text_columns(name);
      if (used > 0 && used + 2 + needed > width) row += "\n", used = 0;
      row += (used > 0 ? "  " : "") + painter.tinted(painter.shade(i), i) + " " + name;
      used += needed + (used > 0 ? 2 : 0);
    }
    text += row + "\n";
  }
  for (const Line& line : lines) {
    if (line.heading) {
      text += shorten_columns(line.label, width) + "\n";
      continue;
    }
    const std::string indent = line.indented ? "  " : "";
    std::vector<double> pieces = line.pieces;
    bool cut = false;
    double room = high;  // where the picture ends before the bar does
    for (double& piece : pieces) {
      if (std::isnan(piece)) continue;
      if (piece > room) piece = room, cut = true;
      room = std::max(0.0, room - std::max(piece, 0.0));
    }
    text += padded(indent + shorten_columns(line.label, labels - indent.size()), labels) + " " +
            painter.bar(pieces, stacked, line.series) + (cut ? "»" : " ") +
            shorten_columns(line.number, numbers) + "\n";
  }
  return text;
}

}  // namespace weir::report
