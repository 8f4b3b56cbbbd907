#include "analysis/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/statistics.hpp"

namespace weir::analysis {

namespace {

bool known_in_all(const std::vector<JobAnalysis>& jobs, std::string_view id) {
  return std::all_of(jobs.begin(), jobs.end(), [&](const JobAnalysis& job) {
    const Metric* metric = job.find(id);
    return metric != nullptr && is_known(metric->value);
  });
}

// The paper's six where there are at least two of them; else whatever has a good direction and is not
// throughput itself.
std::vector<MetricKind> judged_by(const std::vector<JobAnalysis>& jobs) {
  std::vector<MetricKind> chosen;
  for (const MetricKind& kind : metric_kinds()) {
    if (kind.scored && known_in_all(jobs, kind.id)) chosen.push_back(kind);
  }
  if (chosen.size() >= 2) return chosen;
  const bool by_whole_run =
      std::any_of(jobs.begin(), jobs.end(), counts_whole_run);  // then elapsed is throughput
  for (const MetricKind& kind : metric_kinds()) {
    if (kind.scored || kind.good == Direction::neither || kind.id.ends_with("throughput") ||
        kind.id.starts_with("OST_") || (kind.id == "elapsed" && by_whole_run))
      continue;
    if (known_in_all(jobs, kind.id)) chosen.push_back(kind);
  }
  return chosen;
}

void share_scales(std::vector<JobAnalysis>& jobs) {
  std::map<std::string, double> highest;
  for (const JobAnalysis& job : jobs) {
    for (const Matrix& matrix : job.matrices)
      highest[matrix.id] = std::max(highest[matrix.id], matrix.scale_high);
  }
  for (JobAnalysis& job : jobs) {
    for (Matrix& matrix : job.matrices) matrix.scale_high = highest[matrix.id];
  }
}

ScoreTable score_of(const RunTable& runs, const std::vector<std::string>& names, std::uint64_t seed) {
  RankTable ranks;
  ranks.configurations = names;
  for (std::size_t metric = 0; metric < runs.metrics.size(); ++metric) {
    std::vector<double> means;
    for (const std::string& name : names) {
      std::vector<double> values;
      for (std::size_t run = 0; run < runs.configurations.size(); ++run) {
        if (runs.configurations[run] == name) values.push_back(runs.values[metric][run]);
      }
      means.push_back(mean(values));
    }
    ranks.metrics.push_back(runs.metrics[metric].name);
    ranks.ranks.push_back(ranks_by(means, runs.metrics[metric].good));
  }
  return make_score_table(std::move(ranks), seed);
}

}  // namespace

// A program that hides its I/O behind its work pays for it elsewhere: in cores, in waiting at its end. The
// time it was seen to wait is then no measure; the run's whole time is.
bool counts_whole_run(const JobAnalysis& job) {
  const auto positive = [&](std::string_view name) {
    const auto found = job.job.figures.find(std::string(name));
    return found != job.job.figures.end() && found->second > 0;
  };
  return positive(store::figure::storing_seconds) && positive(store::figure::bytes_written) &&
         job.job.elapsed_seconds > 0;
}

double seen_throughput(const JobAnalysis& job) {
  const auto figure = [&](std::string_view name) {
    const auto found = job.job.figures.find(std::string(name));
    return found == job.job.figures.end() || !(found->second > 0) ? unknown : found->second;
  };
  const double write = figure(store::figure::write_throughput);
  const double read = figure(store::figure::read_throughput);
  const double written = figure(store::figure::bytes_written);
  const double bytes_read = figure(store::figure::bytes_read);
  if (counts_whole_run(job)) {
    return ((is_known(written) ? written : 0) + (is_known(bytes_read) ? bytes_read : 0)) /
           job.job.elapsed_seconds;
  }
  if (is_known(write) && is_known(read)) {
    // Both phases together: all bytes over the time of both.
    if (is_known(written) && is_known(bytes_read))
      return (written + bytes_read) / (written / write + bytes_read / read);
    return 2.0 / (1.0 / write + 1.0 / read);
  }
  if (is_known(write)) return write;
  if (is_known(read)) return read;
  const double seconds = figure(store::figure::io_seconds);
  if (is_known(seconds) && (is_known(written) || is_known(bytes_read))) {
    return ((is_known(written) ? written : 0) + (is_known(bytes_read) ? bytes_read : 0)) / seconds;
  }
  const Metric* metric = job.find("throughput");
  return metric == nullptr ? unknown : metric->value;
}

Result<Comparison> compare(std::vector<JobAnalysis> jobs, const CompareOptions& options) {
  if (jobs.empty()) return fail(ErrorCode::invalid_argument, "no jobs to compare");
  Comparison result;
  result.jobs = std::move(jobs);
  share_scales(result.jobs);
  RunTable runs;
  std::string baseline = options.baseline;
  for (const JobAnalysis& job : result.jobs) {
    result.configurations.push_back(job.job.configuration.empty() ? job.job.id : job.job.configuration);
    if (job.job.id == options.baseline) baseline = result.configurations.back();
    runs.throughput.push_back(seen_throughput(job));
  }
  runs.configurations = result.configurations;
  for (const MetricKind& kind : judged_by(result.jobs)) {
    result.metrics.emplace_back(kind.id);
    runs.metrics.push_back({std::string(kind.id), kind.good});
    runs.values.emplace_back();
    for (const JobAnalysis& job : result.jobs) runs.values.back().push_back(job.find(kind.id)->value);
  }
  std::vector<std::string> names;
  for (const std::string& name : result.configurations) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (!baseline.empty() && std::find(names.begin(), names.end(), baseline) == names.end()) {
    return fail(ErrorCode::invalid_argument, fmt::format("none of the jobs is of the baseline '{}'{}",
                                                         baseline, suggest(baseline, names)));
  }
  if (result.metrics.empty()) {
    result.notes.emplace_back("The jobs have no metric in common by which to judge them.");
    return result;
  }
  if (names.size() < 2) {
    result.notes.emplace_back(
        "All jobs are of one configuration: they are repetitions, and there is nothing to choose.");
  }
  if (std::any_of(result.jobs.begin(), result.jobs.end(), counts_whole_run)) {
    result.notes.emplace_back(
        "Throughput is bytes over the whole run, from its start to its end, also where I/O was hidden behind "
        "other work.");
  }
  result.scores = score_of(runs, names, options.seed);
  WEIR_ASSIGN(Evaluation evaluation, evaluate(runs, {.baseline = baseline, .seed = options.seed}));
  result.evaluation = std::move(evaluation);
  return result;
}

Result<Comparison> compare(store::Store& store, const std::vector<std::string>& job_ids,
                           const AnalyseOptions& how, const CompareOptions& options) {
  WEIR_ASSIGN(const ServerFinder finder, read_servers(store));
  std::vector<JobAnalysis> jobs;
  for (const std::string& id : job_ids) {
    WEIR_ASSIGN(JobAnalysis job, analyse(store, finder, id, how));
    jobs.push_back(std::move(job));
  }
  return compare(std::move(jobs), options);
}

Json to_json(const Comparison& comparison) {
  Json json;
  json["weir_comparison"] = 1;
  json["configurations"] = comparison.configurations;
  json["metrics"] = comparison.metrics;
  json["scores"] = comparison.scores ? to_json(*comparison.scores) : Json(nullptr);
  json["evaluation"] = comparison.evaluation ? to_json(*comparison.evaluation) : Json(nullptr);
  json["notes"] = comparison.notes;
  json["jobs"] = Json::array();
  for (const JobAnalysis& job : comparison.jobs) json["jobs"].push_back(to_json(job));
  return json;
}

}  // namespace weir::analysis
