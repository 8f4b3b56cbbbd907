// The score of the paper on holistic logs (its Tables 6.1 and 6.2): in each metric the configurations get
// ranks from 1, the best; a configuration's score is the arithmetic mean of its ranks. Less is better.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "analysis/metric.hpp"
#include "core/error.hpp"

namespace weir::analysis {

struct RankTable {
  std::vector<std::string> configurations;
  std::vector<std::string> metrics;
  std::vector<std::vector<double>> ranks;  // ranks[metric][configuration], from 1
};

// One score a configuration. REQUIRES: at least one metric, each with a rank for every configuration.
std::vector<double> rank_scores(const RankTable& table);
// The same with a weight a metric. REQUIRES: the weights sum to more than 0.
std::vector<double> rank_scores(const RankTable& table, const std::vector<double>& weights);

// Ranks of measured values: 1 is the best in the metric's direction; equal values share the mean of their
// ranks. REQUIRES: a direction other than `neither`.
std::vector<double> ranks_by(const std::vector<double>& values, Direction good);

// A score as the paper prints it: two decimals, halves away from zero.
double two_decimals(double score);

// A table with a column `configuration` and a column of ranks for each metric. A column `score` or `overall
// score` is not a metric and is left out. Fails, with file and line, on what is not a rank.
Result<RankTable> read_rank_table(std::string_view text, std::string_view name);

}  // namespace weir::analysis
