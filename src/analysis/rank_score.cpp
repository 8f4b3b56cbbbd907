#include "analysis/rank_score.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <stdexcept>

#include "analysis/csv.hpp"
#include "analysis/statistics.hpp"

namespace weir::analysis {

std::vector<double> rank_scores(const RankTable& table) {
  return rank_scores(table, std::vector<double>(table.metrics.size(), 1.0));
}

std::vector<double> rank_scores(const RankTable& table, const std::vector<double>& weights) {
  if (table.metrics.empty() || weights.size() != table.metrics.size() ||
      table.ranks.size() != table.metrics.size()) {
    throw std::logic_error("rank_scores: not one weight and one column of ranks for each metric");
  }
  std::vector<double> scores(table.configurations.size(), 0.0);
  double sum = 0;
  for (std::size_t metric = 0; metric < weights.size(); ++metric) {
    sum += weights[metric];
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += weights[metric] * table.ranks[metric].at(i);
  }
  if (!(sum > 0)) throw std::logic_error("rank_scores: weights sum to nothing");
  for (double& score : scores) score /= sum;
  return scores;
}

std::vector<double> ranks_by(const std::vector<double>& values, Direction good) {
  if (good == Direction::neither) throw std::logic_error("ranks_by: no direction is good");
  if (good == Direction::low_is_good) return ranks(values);
  std::vector<double> turned;
  turned.reserve(values.size());
  for (const double value : values) turned.push_back(-value);
  return ranks(turned);
}

double two_decimals(double score) {
  // A mean of ranks such as 4.125 is exact in binary or off by one bit; the nudge makes 2.675 round as in
  // print.
  return std::round(score * 100.0 * (1.0 + 1e-12)) / 100.0;
}

Result<RankTable> read_rank_table(std::string_view text, std::string_view name) {
  WEIR_ASSIGN(const Csv csv, parse_csv(text, name, "configuration"));
  const auto configuration = csv.column("configuration");
  if (!configuration) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}:1: no column is called 'configuration'", name),
                "the other columns are metrics, with a rank for each configuration");
  }
  const auto is_score = [&](std::size_t column) {
    return csv.column("score") == column || csv.column("overall score") == column ||
           csv.column("overall_score") == column;
  };
  RankTable table;
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < csv.titles.size(); ++column) {
    if (column == *configuration || is_score(column)) continue;
    columns.push_back(column);
    table.metrics.push_back(csv.titles[column]);
  }
  if (columns.empty())
    return fail(ErrorCode::invalid_argument, fmt::format("{}:1: there is no column of a metric", name));
  if (csv.rows.empty())
    return fail(ErrorCode::invalid_argument, fmt::format("{}: there is no configuration in it", name));
  table.ranks.resize(columns.size());
  std::set<std::string> seen;
  for (const Csv::Row& row : csv.rows) {
    const std::string& label = row.fields[*configuration];
    if (label.empty()) return csv.wrong(row, *configuration, "it is empty");
    if (!seen.insert(label).second) {
      return csv.wrong(row, *configuration, fmt::format("'{}' is there twice", label.substr(0, 80)),
                       "give measured values of repeated runs with --measured");
    }
    table.configurations.push_back(label);
    for (std::size_t metric = 0; metric < columns.size(); ++metric) {
      WEIR_ASSIGN(const double rank, csv.number(row, columns[metric]));
      // Shared ranks end in .5; anything else is a measured value.
      if (rank < 1 || rank > 1e6 || rank * 2 != std::floor(rank * 2)) {
        return csv.wrong(row, columns[metric], fmt::format("{} is not a rank (1, 2, ...)", rank),
                         "if the table holds measured values, say --measured");
      }
      table.ranks[metric].push_back(rank);
    }
  }
  return table;
}

}  // namespace weir::analysis
