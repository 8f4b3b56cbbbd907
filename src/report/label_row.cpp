#include <algorithm>
#include <cmath>

#include "report/layout.hpp"
#include "report/palette.hpp"
#include "report/text.hpp"

namespace weir::report {

namespace {

constexpr double slant = 0.70710678;  // sine and cosine of 45 degrees
constexpr double drop = 4;            // of slanted names, below what they stand under
constexpr double gap = 8;             // between names side by side

struct Row {
  const std::vector<std::string>& labels;
  const std::vector<double>& centres;
  double slot;
  double most_height;
  double size;
  bool bold;

  Text text(std::string words, Point at, Anchor anchor, double angle) const {
    return {.at = at,
            .text = std::move(words),
            .size = size,
            .bold = bold,
            .anchor = anchor,
            .angle = angle,
            .colour = ink};
  }
};

std::optional<LabelRow> on_lines(const Row& row) {
  const double height = row.size * line_height;
  const auto most_lines = static_cast<std::size_t>(std::clamp(row.most_height / height, 1.0, 3.0));
  LabelRow result;
  for (std::size_t i = 0; i < row.labels.size(); ++i) {
    const auto lines = wrap(row.labels[i], row.slot - gap, row.size, row.bold, most_lines);
    if (!lines) return std::nullopt;
    for (std::size_t line = 0; line < lines->size(); ++line) {
      const double y = (static_cast<double>(line) + 0.82) * height;
      result.texts.push_back(row.text((*lines)[line], {row.centres[i], y}, Anchor::middle, 0));
    }
    result.height = std::max(result.height, static_cast<double>(lines->size()) * height);
  }
  return result;
}

// The end of each name stands under its place.
LabelRow slanted(const Row& row) {
  LabelRow result;
  const double ends = drop + row.size * (ascent + descent) * slant;
  for (std::size_t i = 0; i < row.labels.size(); ++i) {
    const double room = std::min((row.most_height - ends) / slant, (row.centres[i] - 4) / slant - row.size);
    const std::string words = shorten(row.labels[i], room, row.size, row.bold);
    const double reach = row.size * ascent * slant;
    result.texts.push_back(row.text(words, {row.centres[i] + reach / 2, drop + reach}, Anchor::end, -45));
    result.height = std::max(result.height, text_width(words, row.size, row.bold) * slant + ends);
  }
  return result;
}

LabelRow every_nth(const Row& row, bool upright) {
  double widest = 0;
  for (const std::string& label : row.labels)
    widest = std::max(widest, text_width(label, row.size, row.bold));
  const double needed = upright ? row.size * 1.1 : widest + gap;
  const auto n = static_cast<std::size_t>(std::max(1.0, std::ceil(needed / row.slot)));
  LabelRow result;
  for (std::size_t i = 0; i < row.labels.size(); i += n) {
    if (!upright) {
      result.texts.push_back(
          row.text(row.labels[i], {row.centres[i], row.size * line_height * 0.82}, Anchor::middle, 0));
      result.height = row.size * line_height;
      continue;
    }
    const std::string words = shorten(row.labels[i], row.most_height, row.size, row.bold);
    result.texts.push_back(row.text(words, {row.centres[i] + row.size * 0.36, 2}, Anchor::end, -90));
    result.height = std::max(result.height, text_width(words, row.size, row.bold) + 2);
  }
  return result;
}

}  // namespace

LabelRow label_row(const std::vector<std::string>& labels, const std::vector<double>& centres, double slot,
                   double most_height, double size, bool bold) {
  const Row row{labels, centres, slot, most_height, size, bold};
  if (auto result = on_lines(row)) return *result;
  if (slot * slant >= size * (ascent + descent) * 1.1) return slanted(row);
  const bool all_short = std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
    return text_width(label, size, bold) <= 45;
  });
  return every_nth(row, !all_short || slot >= size * 1.1);
}

}  // namespace weir::report
