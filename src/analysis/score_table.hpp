// The paper's score of a table of ranks, and how far to trust it: whether the metrics agree, which of them
// say the same, who would win with one of them left out, and who under random weights.
//
// Threads: pure functions. The same seed gives the same result everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/rank_score.hpp"
#include "core/json.hpp"

namespace weir::analysis {

struct ScoreTable {
  RankTable ranks;
  std::vector<double> scores;         // the paper's, exact; two_decimals() as it prints them
  std::vector<double> merged_scores;  // near-duplicate metrics share one vote
  std::vector<double> wins;           // share of random weightings under which the configuration is best
  std::vector<std::vector<std::string>> duplicates;  // groups of metrics that say the same
  std::vector<std::pair<std::string, std::string>>
      opposed;           // metrics of which one is good where the other is bad
  double agreement = 0;  // Kendall's W between the metrics; NaN where it cannot be told

  struct LeftOut {
    std::string metric;
    std::string winner;
    bool same = true;  // the same winner as with all metrics
  };
  std::vector<LeftOut> leave_one_out;
  std::vector<std::string> meaning;  // plain sentences

  std::size_t best() const;  // the first of the lowest scores
};

// REQUIRES: a table as read_rank_table gives it.
ScoreTable make_score_table(RankTable ranks, std::uint64_t seed = 1);

// {"weir_scores": 1, "scores": [{"configuration", "score", "score_exact", ...}], ...}. `score` has two
// decimals.
Json to_json(const ScoreTable& table);
std::string render(const ScoreTable& table);  // for a terminal

}  // namespace weir::analysis
