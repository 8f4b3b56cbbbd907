#include "analysis/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/evaluation_words.hpp"
#include "analysis/near_duplicates.hpp"
#include "analysis/statistics.hpp"

namespace weir::analysis {

namespace {

constexpr std::size_t runs_for_own_spread = 8;  // with fewer, runs of all configurations tell how runs differ
constexpr std::size_t fewest_spare_runs = 2;    // runs beyond one a configuration, to say anything of chance
constexpr std::size_t fewest_to_learn_from = 3;  // configurations

// Logarithms that stand zeros: a hundredth of the median is added to every value of a metric that has one.
std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> positive;
  bool zero = false;
  for (const double value : values) {
    if (is_known(value) && value > 0) positive.push_back(value);
    zero = zero || (is_known(value) && value <= 0);
  }
  std::sort(positive.begin(), positive.end());
  const double floor = zero ? (positive.empty() ? 1.0 : 0.01 * quantile(positive, 0.5)) : 0.0;
  std::vector<double> result;
  result.reserve(values.size());
  for (const double value : values)
    result.push_back(is_known(value) ? std::log(std::max(value, 0.0) + floor) : unknown);
  return result;
}

// Runs by configuration, values as oriented logarithms: more is better. The throughput, if known, is the last
// row.
struct Runs {
  std::vector<std::string> names;
  std::vector<std::vector<std::size_t>> of;  // runs of each configuration
  std::vector<std::vector<double>> gains;    // [metric][run]
  std::vector<double> throughput;            // logarithm of each run's, or all NaN
  std::size_t runs = 0;
};

Runs arrange(const RunTable& table) {
  Runs result;
  result.runs = table.configurations.size();
  for (std::size_t run = 0; run < result.runs; ++run) {
    const auto found = std::find(result.names.begin(), result.names.end(), table.configurations[run]);
    const auto index = static_cast<std::size_t>(found - result.names.begin());
    if (found == result.names.end()) {
      result.names.push_back(table.configurations[run]);
      result.of.emplace_back();
    }
    result.of[index].push_back(run);
  }
  for (std::size_t metric = 0; metric < table.metrics.size(); ++metric) {
    std::vector<double> gains = logarithms(table.values[metric]);
    if (table.metrics[metric].good == Direction::low_is_good) {
      for (double& gain : gains) gain = -gain;
    }
    result.gains.push_back(std::move(gains));
  }
  result.throughput =
      table.throughput.empty() ? std::vector<double>(result.runs, unknown) : logarithms(table.throughput);
  return result;
}

double mean_of(const std::vector<double>& values, const std::vector<std::size_t>& runs) {
  double sum = 0;
  std::size_t count = 0;
  for (const std::size_t run : runs) {
    if (!is_known(values[run])) continue;
    sum += values[run];
    ++count;
  }
  return count == 0 ? unknown : sum / static_cast<double>(count);
}

// The weighted mean of the known ones; 0, no difference, where none is.
double weighted(const std::vector<double>& gains, const std::vector<double>& weights) {
  double sum = 0;
  double all = 0;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    if (!is_known(gains[i])) continue;
    sum += weights[i] * gains[i];
    all += weights[i];
  }
  return all > 0 ? sum / all : 0.0;
}

// Correlation of each metric with throughput over these runs.
std::vector<double> correlations(const Runs& runs, const std::vector<std::size_t>& chosen) {
  std::vector<double> result;
  std::vector<double> throughput;
  for (const std::size_t run : chosen) throughput.push_back(runs.throughput[run]);
  for (const std::vector<double>& gains : runs.gains) {
    std::vector<double> values;
    for (const std::size_t run : chosen) values.push_back(gains[run]);
    result.push_back(rank_correlation(values, throughput));
  }
  return result;
}

// A metric counts as far as it goes with throughput, and not at all where it goes against it. Duplicates
// share.
std::vector<double> learn(const std::vector<double>& correlation, const std::vector<double>& equal) {
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t i = 0; i < correlation.size(); ++i) {
    weights.push_back(is_known(correlation[i]) ? std::max(0.0, correlation[i]) * equal[i] : 0.0);
    sum += weights.back();
  }
  if (!(sum > 0)) return equal;
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<double> run_indices(const Runs& runs, const std::vector<double>& weights) {
  std::vector<double> result;
  for (std::size_t run = 0; run < runs.runs; ++run) {
    std::vector<double> gains;
    for (const std::vector<double>& metric : runs.gains) gains.push_back(metric[run]);
    result.push_back(weighted(gains, weights));
  }
  return result;
}

// Each configuration's runs judged by weights that the others taught.
double held_out_agreement(const Runs& runs, const std::vector<double>& equal) {
  std::vector<double> index(runs.runs, unknown);
  for (const std::vector<std::size_t>& out : runs.of) {
    std::vector<std::size_t> others;
    for (std::size_t run = 0; run < runs.runs; ++run) {
      if (std::find(out.begin(), out.end(), run) == out.end()) others.push_back(run);
    }
    const std::vector<double> all = run_indices(runs, learn(correlations(runs, others), equal));
    for (const std::size_t run : out) index[run] = all[run];
  }
  return rank_correlation(index, runs.throughput);
}

// What one resampling gives: means of every configuration, metrics first, throughput last.
class Bootstrap {
 public:
  Bootstrap(const Runs& runs, const EvaluationOptions& options) : runs_(runs), random_(options.seed) {
    const std::size_t spare = runs.runs - runs.names.size();
    possible_ = spare >= fewest_spare_runs;
    if (!possible_) return;
    rows_ = runs.gains;
    rows_.push_back(runs.throughput);
    for (const std::vector<double>& row : rows_) {
      means_.emplace_back();
      for (const auto& of : runs.of) means_.back().push_back(mean_of(row, of));
    }
    for (std::size_t configuration = 0; configuration < runs.of.size(); ++configuration) {
      if (runs.of[configuration].size() < 2) continue;
      for (const std::size_t run : runs.of[configuration]) pool_.emplace_back(run, configuration);
    }
    std::size_t repeated = 0;
    for (const auto& of : runs.of) repeated += of.size() >= 2 ? 1 : 0;
    // Deviations from a mean of few runs are too small by this factor.
    pool_scale_ = std::sqrt(static_cast<double>(pool_.size()) / static_cast<double>(pool_.size() - repeated));
  }

  bool possible() const { return possible_; }

  // [row][configuration]
  std::vector<std::vector<double>> draw() {
    std::vector<std::vector<double>> result = means_;
    for (std::size_t configuration = 0; configuration < runs_.of.size(); ++configuration) {
      const std::vector<std::size_t>& own = runs_.of[configuration];
      const bool by_itself = own.size() >= runs_for_own_spread;
      const double scale =
          by_itself ? std::sqrt(static_cast<double>(own.size()) / static_cast<double>(own.size() - 1))
                    : pool_scale_;
      std::vector<double> sums(rows_.size(), 0.0);
      std::vector<std::size_t> counts(rows_.size(), 0);
      for (std::size_t i = 0; i < own.size(); ++i) {
        const auto [run, from] = by_itself ? std::pair(own[random_.below(own.size())], configuration)
                                           : pool_[random_.below(pool_.size())];
        for (std::size_t row = 0; row < rows_.size(); ++row) {
          const double deviation = rows_[row][run] - means_[row][from];
          if (!is_known(deviation)) continue;
          sums[row] += deviation * scale;
          ++counts[row];
        }
      }
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        if (counts[row] > 0) result[row][configuration] += sums[row] / static_cast<double>(counts[row]);
      }
    }
    return result;
  }

 private:
  const Runs& runs_;
  Random random_;
  bool possible_ = false;
  std::vector<std::vector<double>> rows_;
  std::vector<std::vector<double>> means_;
  std::vector<std::pair<std::size_t, std::size_t>> pool_;  // run, its configuration
  double pool_scale_ = 1;
};

std::size_t largest(const std::vector<double>& values) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (is_known(values[i]) && (!is_known(values[best]) || values[i] > values[best])) best = i;
  }
  return best;
}

std::vector<double> indices(const std::vector<std::vector<double>>& means, std::size_t metrics,
                            std::size_t configurations, std::size_t baseline,
                            const std::vector<double>& weights) {
  std::vector<double> result;
  for (std::size_t c = 0; c < configurations; ++c) {
    std::vector<double> gains;
    for (std::size_t m = 0; m < metrics; ++m) gains.push_back(means[m][c] - means[m][baseline]);
    result.push_back(weighted(gains, weights));
  }
  return result;
}

Interval interval(double value, std::vector<double> drawn) {
  std::erase_if(drawn, [](double x) { return !is_known(x); });
  Interval result{.value = std::exp(value), .low = unknown, .high = unknown};
  if (drawn.empty() || !is_known(value)) return result;
  std::sort(drawn.begin(), drawn.end());
  result.low = std::exp(quantile(drawn, 0.025));
  result.high = std::exp(quantile(drawn, 0.975));
  return result;
}

void add_candidates(Evaluation& evaluation, const RunTable& table, const Runs& runs, std::size_t baseline,
                    const std::vector<double>& weights, const EvaluationOptions& options) {
  const std::size_t metrics = table.metrics.size();
  const std::size_t count = runs.names.size();
  std::vector<std::vector<double>> means;
  for (const std::vector<double>& row : runs.gains) {
    means.emplace_back();
    for (const auto& of : runs.of) means.back().push_back(mean_of(row, of));
  }
  means.emplace_back();
  for (const auto& of : runs.of) means.back().push_back(mean_of(runs.throughput, of));
  const std::vector<double> index = indices(means, metrics, count, baseline, weights);

  Bootstrap bootstrap(runs, options);
  std::vector<std::vector<double>> drawn_index(count);
  std::vector<std::vector<double>> drawn_throughput(count);
  std::vector<std::vector<std::vector<double>>> drawn_effects(count,
                                                              std::vector<std::vector<double>>(metrics));
  std::vector<double> best(count, 0.0);
  std::vector<double> fastest(count, 0.0);
  for (std::size_t round = 0; bootstrap.possible() && round < options.resamples; ++round) {
    const auto sample = bootstrap.draw();
    const std::vector<double> sampled = indices(sample, metrics, count, baseline, weights);
    best[largest(sampled)] += 1.0;
    fastest[largest(sample.back())] += 1.0;
    for (std::size_t c = 0; c < count; ++c) {
      drawn_index[c].push_back(sampled[c]);
      drawn_throughput[c].push_back(sample.back()[c] - sample.back()[baseline]);
      for (std::size_t m = 0; m < metrics; ++m)
        drawn_effects[c][m].push_back(sample[m][c] - sample[m][baseline]);
    }
  }

  RankTable ranks;
  ranks.configurations = runs.names;
  for (std::size_t m = 0; m < metrics; ++m) {
    if (std::any_of(means[m].begin(), means[m].end(), [](double value) { return !is_known(value); }))
      continue;
    ranks.metrics.push_back(table.metrics[m].name);
    ranks.ranks.push_back(ranks_by(means[m], Direction::high_is_good));  // gains: more is better
  }
  const std::vector<double> scores =
      ranks.metrics.empty() ? std::vector<double>(count, unknown) : rank_scores(ranks);

  const bool timed = std::any_of(runs.throughput.begin(), runs.throughput.end(), is_known);
  const auto rounds = static_cast<double>(options.resamples);
  for (std::size_t c = 0; c < count; ++c) {
    Candidate candidate;
    candidate.name = runs.names[c];
    candidate.runs = runs.of[c].size();
    candidate.rank_score = scores[c];
    candidate.index = interval(index[c], drawn_index[c]);
    candidate.chance_of_best = bootstrap.possible() ? best[c] / rounds : unknown;
    candidate.throughput = std::exp(means.back()[c]);
    candidate.throughput_ratio = interval(means.back()[c] - means.back()[baseline], drawn_throughput[c]);
    candidate.chance_of_fastest = bootstrap.possible() && timed ? fastest[c] / rounds : unknown;
    for (std::size_t m = 0; m < metrics; ++m) {
      const double sign = table.metrics[m].good == Direction::low_is_good ? -1.0 : 1.0;
      std::vector<double> drawn = drawn_effects[c][m];
      for (double& value : drawn) value *= sign;
      candidate.effects.push_back(interval(sign * (means[m][c] - means[m][baseline]), std::move(drawn)));
    }
    evaluation.candidates.push_back(std::move(candidate));
  }
  for (std::size_t out = 0; metrics > 1 && out < metrics; ++out) {
    std::vector<double> rest = weights;
    rest[out] = 0;
    const std::size_t winner = largest(indices(means, metrics, count, baseline, rest));
    evaluation.leave_one_out.push_back(
        {.metric = table.metrics[out].name, .winner = runs.names[winner], .same = winner == largest(index)});
  }
}

}  // namespace

std::size_t Evaluation::best() const {
  std::vector<double> values;
  for (const Candidate& candidate : candidates) values.push_back(candidate.index.value);
  return largest(values);
}

std::size_t Evaluation::fastest() const {
  std::vector<double> values;
  for (const Candidate& candidate : candidates) values.push_back(candidate.throughput);
  return std::none_of(values.begin(), values.end(), is_known) ? best() : largest(values);
}

Result<Evaluation> evaluate(const RunTable& table, const EvaluationOptions& options) {
  if (table.configurations.empty() || table.metrics.empty()) {
    return fail(ErrorCode::invalid_argument, "nothing to compare: there is no run, or no metric");
  }
  const Runs runs = arrange(table);
  const std::string& wanted = options.baseline.empty() ? runs.names.front() : options.baseline;
  const auto found = std::find(runs.names.begin(), runs.names.end(), wanted);
  if (found == runs.names.end()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no run is of the baseline '{}'{}", wanted, suggest(wanted, runs.names)));
  }
  Evaluation evaluation;
  evaluation.baseline = wanted;

  std::vector<std::size_t> all(runs.runs);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<double> correlation = correlations(runs, all);
  const std::vector<std::size_t> groups = duplicate_groups(runs.gains);
  const std::vector<double> equal = group_weights(groups);
  const auto timed =
      static_cast<std::size_t>(std::count_if(runs.throughput.begin(), runs.throughput.end(), is_known));
  evaluation.learned =
      timed >= options.runs_to_learn && runs.names.size() >= fewest_to_learn_from &&
      std::any_of(correlation.begin(), correlation.end(), [](double rho) { return rho > 0; });
  const std::vector<double> weights = evaluation.learned ? learn(correlation, equal) : equal;
  evaluation.agreement_equal = rank_correlation(run_indices(runs, equal), runs.throughput);
  evaluation.agreement_learned = evaluation.learned ? held_out_agreement(runs, equal) : unknown;
  for (std::size_t i = 0; i < table.metrics.size(); ++i) {
    MetricWeight weight{
        .name = table.metrics[i].name, .weight = weights[i], .correlation = correlation[i], .same_as = {}};
    for (std::size_t j = 0; j < groups.size(); ++j) {
      if (j != i && groups[j] == groups[i]) weight.same_as.push_back(table.metrics[j].name);
    }
    evaluation.weights.push_back(std::move(weight));
  }
  add_candidates(evaluation, table, runs, static_cast<std::size_t>(found - runs.names.begin()), weights,
                 options);
  evaluation.meaning = in_words(evaluation);
  return evaluation;
}

}  // namespace weir::analysis
