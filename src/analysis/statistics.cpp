#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace weir::analysis {

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return unknown;
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = place - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double mean(std::span<const double> values) {
  double sum = 0;
  std::size_t count = 0;
  for (const double value : values) {
    if (!is_known(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? unknown : sum / static_cast<double>(count);
}

Distribution distribution(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !is_known(value); });
  Distribution result;
  result.count = values.size();
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  result.mean = mean(values);
  result.least = values.front();
  result.most = values.back();
  result.p5 = quantile(values, 0.05);
  result.p25 = quantile(values, 0.25);
  result.median = quantile(values, 0.5);
  result.p75 = quantile(values, 0.75);
  result.p95 = quantile(values, 0.95);
  result.p99 = quantile(values, 0.99);
  if (result.mean <= 0) return result;  // ratios to a mean of nothing say nothing
  double squares = 0;
  double weighted = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - result.mean) * (values[i] - result.mean);
    weighted += (2.0 * static_cast<double>(i + 1) - static_cast<double>(values.size()) - 1.0) * values[i];
  }
  const auto count = static_cast<double>(values.size());
  result.variation = std::sqrt(squares / count) / result.mean;
  if (result.least >= 0) result.gini = weighted / (count * count * result.mean);
  result.most_over_mean = result.most / result.mean;
  result.least_over_mean = result.least / result.mean;
  return result;
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_known(values[i])) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size(), unknown);
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first + 1;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    // Ranks first+1 .. last are shared.
    const double shared = (static_cast<double>(first + 1) + static_cast<double>(last)) / 2.0;
    for (; first < last; ++first) result[order[first]] = shared;
  }
  return result;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) throw std::logic_error("rank_correlation: different numbers of values");
  std::vector<double> left;
  std::vector<double> right;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_known(a[i]) || !is_known(b[i])) continue;
    left.push_back(a[i]);
    right.push_back(b[i]);
  }
  if (left.size() < 3) return unknown;
  left = ranks(left);
  right = ranks(right);
  const double middle = (static_cast<double>(left.size()) + 1.0) / 2.0;
  double together = 0;
  double alone_left = 0;
  double alone_right = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    together += (left[i] - middle) * (right[i] - middle);
    alone_left += (left[i] - middle) * (left[i] - middle);
    alone_right += (right[i] - middle) * (right[i] - middle);
  }
  if (alone_left <= 0 || alone_right <= 0) return unknown;
  return together / std::sqrt(alone_left * alone_right);
}

double kendall_w(const std::vector<std::vector<double>>& rankings) {
  if (rankings.size() < 2 || rankings.front().size() < 2) return unknown;
  const auto judges = static_cast<double>(rankings.size());
  const auto things = static_cast<double>(rankings.front().size());
  std::vector<double> sums(rankings.front().size(), 0.0);
  double ties = 0;
  for (const std::vector<double>& ranking : rankings) {
    if (ranking.size() != sums.size()) throw std::logic_error("kendall_w: rankings of different lengths");
    std::vector<double> placed = ranks(ranking);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += placed[i];
    std::sort(placed.begin(), placed.end());
    for (std::size_t first = 0; first < placed.size();) {
      std::size_t last = first;
      while (last < placed.size() && placed[last] == placed[first]) ++last;
      const auto tied = static_cast<double>(last - first);
      ties += tied * tied * tied - tied;
      first = last;
    }
  }
  const double middle = judges * (things + 1.0) / 2.0;
  double spread = 0;
  for (const double sum : sums) spread += (sum - middle) * (sum - middle);
  const double most = judges * judges * (things * things * things - things) - judges * ties;
  return most <= 0 ? unknown : 12.0 * spread / most;
}

std::uint64_t Random::below(std::uint64_t limit) {
  // Values beyond the last whole multiple would favour small results.
  const std::uint64_t refuse = (0 - limit) % limit;
  std::uint64_t value = engine_();
  while (value < refuse) value = engine_();
  return value % limit;
}

double Random::uniform() {
  return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1.0p-53;
}

}  // namespace weir::analysis
