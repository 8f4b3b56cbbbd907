#include "analysis/evaluation_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/statistics.hpp"

namespace weir::analysis {

namespace {

std::string number(double value) {
  return is_known(value) ? fmt::format("{:.2f}", value) : "?";
}

std::string percent(double share) {
  return is_known(share) ? fmt::format("{:.0f}%", 100 * share) : "?";
}

// An interval that holds 1 says that there may be no difference at all.
bool may_be_the_same(const Interval& interval) {
  return !is_known(interval.low) || (interval.low <= 1.0 && interval.high >= 1.0);
}

// The first column to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
    text += '\n';
  }
  return text;
}

Json json_number(double value) {
  return is_known(value) ? Json(value) : Json(nullptr);
}

Json json_interval(const Interval& interval) {
  return {{"value", json_number(interval.value)},
          {"low", json_number(interval.low)},
          {"high", json_number(interval.high)}};
}

}  // namespace

std::string format_interval(const Interval& interval) {
  if (!is_known(interval.low)) return number(interval.value);
  return fmt::format("{} ({} to {})", number(interval.value), number(interval.low), number(interval.high));
}

std::vector<std::string> in_words(const Evaluation& evaluation) {
  if (evaluation.candidates.size() < 2)
    return {"One configuration alone: there is nothing to compare it with."};
  std::vector<std::string> said;
  const Candidate& best = evaluation.candidates[evaluation.best()];
  const Candidate& fastest = evaluation.candidates[evaluation.fastest()];
  const bool timed = is_known(fastest.throughput);
  const bool sure = is_known(best.chance_of_best);
  if (timed) {
    if (fastest.name == evaluation.baseline) {
      said.push_back(fmt::format("Nothing moved more bytes per second than {}.", evaluation.baseline));
    } else {
      said.push_back(fmt::format("{} moved {} times the bytes per second of {}.", fastest.name,
                                 format_interval(fastest.throughput_ratio), evaluation.baseline));
    }
    if (is_known(fastest.chance_of_fastest)) {
      said.push_back(
          fmt::format("The chance that it is the fastest of them: {}.", percent(fastest.chance_of_fastest)));
    }
  }
  if (best.name == evaluation.baseline) {
    said.push_back(
        fmt::format("By the metrics of servers and links nothing is better than {}.", evaluation.baseline));
  } else {
    said.push_back(fmt::format("By the metrics of servers and links {} is {} times as good as {}{}.",
                               best.name, format_interval(best.index), evaluation.baseline,
                               sure && may_be_the_same(best.index) ? ", which may be chance" : ""));
  }
  if (sure) {
    said.push_back(fmt::format("The chance that it is the best by them: {}.", percent(best.chance_of_best)));
  } else {
    said.emplace_back(
        "With one run each, nothing tells a difference from chance: repeat each at least three times.");
  }
  if (timed && best.name != fastest.name) {
    said.push_back(fmt::format(
        "Metrics and throughput name different winners: the throughput of {} is what a user sees.",
        fastest.name));
  }
  std::map<std::string, std::vector<std::string>> others;
  for (const auto& left : evaluation.leave_one_out) {
    if (!left.same) others[left.winner].push_back(left.metric);
  }
  for (const auto& [winner, metrics] : others) {
    said.push_back(fmt::format("Without {} the best by the metrics would be {}.",
                               fmt::join(metrics, " or without "), winner));
  }
  if (evaluation.learned) {
    said.push_back(
        fmt::format("Metrics count as far as they go with throughput; so weighted, they agree with it to {} "
                    "(rank correlation on "
                    "runs not learned from), with equal weights to {}.",
                    number(evaluation.agreement_learned), number(evaluation.agreement_equal)));
    std::vector<std::string> against;
    for (const MetricWeight& weight : evaluation.weights) {
      if (weight.correlation < -0.3) against.push_back(weight.name);
    }
    if (!against.empty())
      said.push_back(
          fmt::format("{} went against throughput here and did not count.", fmt::join(against, " and ")));
  }
  std::set<std::set<std::string>> groups;
  for (const MetricWeight& weight : evaluation.weights) {
    if (weight.same_as.empty()) continue;
    std::set<std::string> group(weight.same_as.begin(), weight.same_as.end());
    group.insert(weight.name);
    groups.insert(std::move(group));
  }
  for (const std::set<std::string>& group : groups) {
    said.push_back(fmt::format("{} say the same and share one vote.", fmt::join(group, " and ")));
  }
  return said;
}

Json to_json(const Evaluation& evaluation) {
  Json json;
  json["weir_evaluation"] = 1;
  json["baseline"] = evaluation.baseline;
  json["best"] = evaluation.candidates[evaluation.best()].name;
  json["fastest"] = evaluation.candidates[evaluation.fastest()].name;
  json["scores"] = Json::array();
  for (const Candidate& candidate : evaluation.candidates) {
    Json row;
    row["configuration"] = candidate.name;
    row["runs"] = candidate.runs;
    row["score"] = is_known(candidate.rank_score) ? Json(two_decimals(candidate.rank_score)) : Json(nullptr);
    row["score_exact"] = json_number(candidate.rank_score);
    row["index"] = json_interval(candidate.index);
    row["chance_of_best"] = json_number(candidate.chance_of_best);
    row["throughput"] = json_number(candidate.throughput);
    row["throughput_ratio"] = json_interval(candidate.throughput_ratio);
    row["chance_of_fastest"] = json_number(candidate.chance_of_fastest);
    Json effects = Json::object();
    for (std::size_t i = 0; i < candidate.effects.size(); ++i) {
      effects[evaluation.weights[i].name] = json_interval(candidate.effects[i]);
    }
    row["effects"] = std::move(effects);
    json["scores"].push_back(std::move(row));
  }
  json["weights_learned"] = evaluation.learned;
  json["weights"] = Json::array();
  for (const MetricWeight& weight : evaluation.weights) {
    json["weights"].push_back({{"metric", weight.name},
                               {"weight", weight.weight},
                               {"correlation_with_throughput", json_number(weight.correlation)},
                               {"same_as", weight.same_as}});
  }
  json["agreement_with_throughput"] = {{"equal_weights", json_number(evaluation.agreement_equal)},
                                       {"learned_weights", json_number(evaluation.agreement_learned)}};
  json["leave_one_out"] = Json::array();
  for (const auto& left : evaluation.leave_one_out) {
    json["leave_one_out"].push_back({{"metric", left.metric}, {"winner", left.winner}, {"same", left.same}});
  }
  json["meaning"] = evaluation.meaning;
  return json;
}

std::string render(const Evaluation& evaluation) {
  std::vector<std::vector<std::string>> rows{
      {"configuration", "runs", "score", "index", "best", "throughput ratio", "fastest"}};
  for (const Candidate& candidate : evaluation.candidates) {
    rows.push_back({candidate.name, std::to_string(candidate.runs), number(candidate.rank_score),
                    format_interval(candidate.index), percent(candidate.chance_of_best),
                    format_interval(candidate.throughput_ratio), percent(candidate.chance_of_fastest)});
  }
  std::string text = aligned(rows);
  text += fmt::format(
      "score: mean rank, less is better; index and ratio: against {}, more is better, with 95% intervals\n\n",
      evaluation.baseline);
  rows = {{"metric", "weight", "with throughput"}};
  for (const Candidate& candidate : evaluation.candidates) rows.front().push_back(candidate.name);
  for (std::size_t i = 0; i < evaluation.weights.size(); ++i) {
    const MetricWeight& weight = evaluation.weights[i];
    rows.push_back({weight.name, number(weight.weight), number(weight.correlation)});
    for (const Candidate& candidate : evaluation.candidates)
      rows.back().push_back(number(candidate.effects[i].value));
  }
  text += aligned(rows);
  text +=
      "with throughput: rank correlation of the metric, turned so that more is better; then its value over "
      "that of the baseline\n\n";
  for (const std::string& sentence : evaluation.meaning) text += sentence + '\n';
  return text;
}

}  // namespace weir::analysis
