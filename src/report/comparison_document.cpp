// What is said of several configurations: the verdict, how sure it is, and the figures behind it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/job_document.hpp"
#include "report/quantity.hpp"

namespace weir::report {

namespace {

using analysis::Candidate;
using analysis::Evaluation;
using analysis::is_known;

std::string ratio(const analysis::Interval& interval) {
  if (!is_known(interval.value)) return "-";
  const std::string value = fmt::format("{:.2f}×", interval.value);
  return is_known(interval.low) && is_known(interval.high)
             ? fmt::format("{} ({:.2f} to {:.2f})", value, interval.low, interval.high)
             : value;
}

// "A", "A, C": the runs of a configuration.
std::string letters_of(const analysis::Comparison& comparison, const std::string& configuration) {
  std::string letters;
  for (std::size_t i = 0; i < comparison.configurations.size(); ++i) {
    if (comparison.configurations[i] != configuration) continue;
    letters += (letters.empty() ? "" : ", ") + run_letter(i);
  }
  return letters;
}

// Columns that nothing is known for are left out.
void drop_unknown_columns(Grid& grid) {
  for (std::size_t column = grid.columns.size(); column-- > 0;) {
    const bool known =
        std::any_of(grid.rows.begin(), grid.rows.end(), [&](const auto& row) { return row[column] != "-"; });
    if (known) continue;
    const auto at = static_cast<std::ptrdiff_t>(column);
    grid.columns.erase(grid.columns.begin() + at);
    grid.numbers.erase(grid.numbers.begin() + at);
    for (auto& row : grid.rows) row.erase(row.begin() + at);
  }
}

Grid scores(const analysis::Comparison& comparison, const Evaluation& evaluation) {
  Grid grid{
      .title = "Scores",
      .note = fmt::format("Index: how many times as good as {}, over all metrics. Rank score: the mean of "
                          "the ranks, less is better",
                          evaluation.baseline),
      .columns = {"", "configuration", "rank score", "index", "best", "throughput", "over baseline",
                  "fastest"},
      .numbers = {false, false, true, true, true, true, true, true}};
  for (const Candidate& candidate : evaluation.candidates)
    grid.rows.push_back({letters_of(comparison, candidate.name), candidate.name,
                         fmt::format("{:.2f}", candidate.rank_score), ratio(candidate.index),
                         format_share(candidate.chance_of_best), format_quantity(candidate.throughput, "B/s"),
                         ratio(candidate.throughput_ratio), format_share(candidate.chance_of_fastest)});
  drop_unknown_columns(grid);
  return grid;
}

// What the runs took, and how much of it the program waited for I/O: means over the runs of a configuration.
Grid times(const analysis::Comparison& comparison, const Evaluation& evaluation) {
  Grid grid{
      .title = "Time of the runs",
      .note = "I/O: what the program waited for it. Hidden: the share of storing that it did not wait for",
      .columns = {"configuration", "run", "I/O", "storing", "hidden"},
      .numbers = {false, true, true, true, true}};
  for (const Candidate& candidate : evaluation.candidates) {
    const auto mean = [&](const auto& value_of) {
      double sum = 0;
      double count = 0;
      for (std::size_t i = 0; i < comparison.jobs.size(); ++i) {
        if (comparison.configurations[i] != candidate.name) continue;
        const double value = value_of(comparison.jobs[i].job);
        if (!is_known(value)) continue;
        sum += value;
        ++count;
      }
      return count > 0 ? sum / count : analysis::unknown;
    };
    const auto figure = [&](std::string_view name) {
      return mean([&](const analysis::JobHeader& job) {
        const auto found = job.figures.find(std::string(name));
        return found == job.figures.end() ? analysis::unknown : found->second;
      });
    };
    const auto duration = [](double seconds) { return is_known(seconds) ? format_duration(seconds) : "-"; };
    const double hidden = figure("hidden_share");
    grid.rows.push_back({candidate.name,
                         duration(mean([](const analysis::JobHeader& job) { return job.elapsed_seconds; })),
                         duration(figure("io_seconds")), duration(figure("storing_seconds")),
                         is_known(hidden) ? format_share(hidden) : "-"});
  }
  drop_unknown_columns(grid);
  return grid;
}

// In percent of the baseline, as measured.
std::optional<Chart> effects(const Evaluation& evaluation) {
  static constexpr double most = 1000;  // in percent: beyond that only "much more" can be seen
  const auto percent = [](double value) { return is_known(value) ? std::min(most, (value - 1) * 100) : NAN; };
  Chart chart{.title = fmt::format("Difference from {}", evaluation.baseline),
              .y_label = "difference (%)",
              .numbers = false};
  for (const analysis::MetricWeight& weight : evaluation.weights) chart.categories.push_back(weight.name);
  for (const Candidate& candidate : evaluation.candidates) {
    if (candidate.name == evaluation.baseline || chart.series.size() >= max_series) continue;
    Series series{.name = candidate.name};
    bool ranges = true;
    for (const analysis::Interval& effect : candidate.effects) {
      series.values.push_back(percent(effect.value));
      series.low.push_back(percent(effect.low));
      series.high.push_back(percent(effect.high));
      ranges = ranges && is_known(effect.low) && is_known(effect.high);
    }
    if (!ranges) series.low.clear(), series.high.clear();
    chart.series.push_back(std::move(series));
  }
  if (!check(chart)) return std::nullopt;
  return chart;
}

Grid stability(const Evaluation& evaluation) {
  Grid grid{.title = "Who would win without one metric",
            .columns = {"without", "winner", ""},
            .numbers = {false, false, false}};
  for (const auto& each : evaluation.leave_one_out)
    grid.rows.push_back({each.metric, each.winner, each.same ? "the same" : "another"});
  return grid;
}

Grid weights(const Evaluation& evaluation) {
  Grid grid{.title = "What counts how much",
            .note = evaluation.learned
                        ? "Weights are learned: a metric counts as far as it goes with throughput"
                        : "Equal weights; metrics that say the same share one vote",
            .columns = {"metric", "weight", "goes with throughput"},
            .numbers = {false, true, true}};
  for (const analysis::MetricWeight& weight : evaluation.weights)
    grid.rows.push_back({weight.name, format_share(weight.weight),
                         is_known(weight.correlation) ? fmt::format("{:.2f}", weight.correlation) : "-"});
  return grid;
}

}  // namespace

ComparisonPage comparison_page(const analysis::Comparison& comparison) {
  ComparisonPage page;
  if (comparison.evaluation) {
    const Evaluation& evaluation = *comparison.evaluation;
    if (!evaluation.meaning.empty()) page.verdict = evaluation.meaning.front();
    for (std::size_t i = 1; i < evaluation.meaning.size(); ++i)
      page.sure += (page.sure.empty() ? "" : " ") + evaluation.meaning[i];
    page.table = scores(comparison, evaluation);
    page.chart = effects(evaluation);
    if (Grid grid = times(comparison, evaluation); !grid.rows.empty())
      page.details.push_back(std::move(grid));
    if (Grid grid = weights(evaluation); !grid.rows.empty()) page.details.push_back(std::move(grid));
    if (Grid grid = stability(evaluation); !grid.rows.empty()) page.details.push_back(std::move(grid));
  }
  for (const std::string& note : comparison.notes) {
    std::string& place = page.verdict.empty() ? page.verdict : page.sure;
    place += (place.empty() ? "" : " ") + note;
  }
  return page;
}

}  // namespace weir::report
