#include "analysis/near_duplicates.hpp"

#include <algorithm>
#include <map>

#include "analysis/statistics.hpp"

namespace weir::analysis {

namespace {

constexpr std::size_t fewest_pairs = 5;

// 0 where it cannot be told.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) pairs += is_known(a[i]) && is_known(b[i]) ? 1 : 0;
  const double rho = pairs < fewest_pairs ? 0.0 : rank_correlation(a, b);
  return is_known(rho) ? rho : 0.0;
}

}  // namespace

std::vector<std::size_t> duplicate_groups(const std::vector<std::vector<double>>& columns, double limit) {
  std::vector<std::size_t> group(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) group[i] = i;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (correlation(columns[i], columns[j]) <= limit) continue;
      const std::size_t from = std::max(group[i], group[j]);
      const std::size_t to = std::min(group[i], group[j]);
      std::replace(group.begin(), group.end(), from, to);
    }
  }
  return group;
}

std::vector<std::pair<std::size_t, std::size_t>> opposed_pairs(
    const std::vector<std::vector<double>>& columns, double limit) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = i + 1; j < columns.size(); ++j) {
      if (correlation(columns[i], columns[j]) < -limit) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

std::vector<double> group_weights(const std::vector<std::size_t>& groups) {
  std::map<std::size_t, double> members;
  for (const std::size_t group : groups) members[group] += 1.0;
  std::vector<double> weights;
  weights.reserve(groups.size());
  for (const std::size_t group : groups)
    weights.push_back(1.0 / (members[group] * static_cast<double>(members.size())));
  return weights;
}

}  // namespace weir::analysis
