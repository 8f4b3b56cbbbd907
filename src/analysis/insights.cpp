#include "analysis/insights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weir::analysis {

std::string format_rate(double bytes_per_second) {
  constexpr std::array<const char*, 5> units{"B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"};
  std::size_t unit = 0;
  while (bytes_per_second >= 1023.95 && unit + 1 < units.size()) {
    bytes_per_second /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes_per_second, unit == 0 || bytes_per_second >= 100 ? 0 : 1,
                     units[unit]);
}

std::string format_list(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string format_percent(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 0.1) return "under 0.1%";
  return percent > 0 && percent < 1 ? fmt::format("{:.1f}%", percent) : fmt::format("{:.0f}%", percent);
}

std::vector<Insight> find_insights(const InsightInput& input) {
  std::vector<Insight> found;
  judge_targets(input, found);
  judge_neighbours(input, found);
  judge_links(input, found);
  judge_queues(input, found);
  judge_data(input, found);
  judge_devices(input, found);
  for (Insight& insight : found) {
    if (insight.objects.size() > most_objects) insight.objects.resize(most_objects);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Insight& a, const Insight& b) { return a.severity > b.severity; });
  return found;
}

}  // namespace weir::analysis
