// Measured runs of several configurations compared: by how much each is better than a baseline, and how sure
// that is.
//
// Everything is a ratio (log differences), because that is how I/O differs: an effect is the geometric mean
// of a configuration's runs over that of the baseline's. A configuration's index is the weighted geometric
// mean of its effects, turned so that more is better: 1.2 is 20% better than the baseline. Metrics that say
// the same share one vote. Where enough runs tell their throughput, weights are learned from it: a metric
// counts as far as it goes with it. Intervals and chances come from a seeded bootstrap of the runs;
// throughput itself is always shown beside it.
//
// Threads: pure functions. The same seed gives the same result everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/rank_score.hpp"
#include "core/json.hpp"

namespace weir::analysis {

struct MetricColumn {
  std::string name;
  Direction good = Direction::low_is_good;
};

struct RunTable {
  std::vector<std::string> configurations;  // of each run; runs of the same one are repetitions
  std::vector<MetricColumn> metrics;
  std::vector<std::vector<double>> values;  // values[metric][run], 0 or more; NaN: not known
  std::vector<double> throughput;           // of each run, NaN where not known; or empty
};

struct Interval {
  double value = 0;
  double low = 0, high = 0;  // 95%; NaN: too few runs to tell
};

struct Candidate {
  std::string name;
  std::size_t runs = 0;
  double rank_score = 0;          // the paper's: mean rank, less is better
  Interval index;                 // 1: as good as the baseline; more is better
  double chance_of_best = 0;      // by the index; NaN: too few runs
  double throughput = 0;          // geometric mean of its runs; NaN: not known
  Interval throughput_ratio;      // to the baseline
  double chance_of_fastest = 0;   // NaN: not known
  std::vector<Interval> effects;  // a ratio to the baseline for each metric, as measured: below 1 is less
};

struct MetricWeight {
  std::string name;
  double weight = 0;       // all sum to 1
  double correlation = 0;  // rank correlation with throughput over the runs, of the metric turned so that
                           // more is better; NaN: not known
  std::vector<std::string> same_as;
};

struct Evaluation {
  std::string baseline;
  std::vector<Candidate> candidates;  // in the order in which they first appear
  std::vector<MetricWeight> weights;
  bool learned = false;  // weights come from throughput
  // Rank correlation of index and throughput over the runs: with equal weights, and with weights learned from
  // the other configurations' runs. NaN: not known.
  double agreement_equal = 0, agreement_learned = 0;
  struct LeftOut {
    std::string metric, winner;
    bool same = true;
  };
  std::vector<LeftOut> leave_one_out;
  std::vector<std::string> meaning;

  std::size_t best() const;     // by the index
  std::size_t fastest() const;  // by throughput; best() where it is not known
};

struct EvaluationOptions {
  std::string baseline;  // empty: the first
  std::uint64_t seed = 1;
  std::size_t resamples = 2000;
  std::size_t runs_to_learn = 10;  // fewest runs with throughput from which weights are learned
};

// Fails if the baseline is not there, or there is no metric.
Result<Evaluation> evaluate(const RunTable& table, const EvaluationOptions& options = {});

// A CSV with a column `configuration`, one a metric, and perhaps `throughput`. A metric that Weir does not
// know says its direction in its title: "latency:low", "hits:high". An empty field is a value that is not
// known.
Result<RunTable> read_run_table(std::string_view text, std::string_view name);

Json to_json(const Evaluation& evaluation);
std::string render(const Evaluation& evaluation);

}  // namespace weir::analysis
