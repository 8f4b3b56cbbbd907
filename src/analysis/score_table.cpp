#include "analysis/score_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/near_duplicates.hpp"
#include "analysis/statistics.hpp"

namespace weir::analysis {

namespace {

constexpr std::size_t weightings = 4000;
constexpr double equal_scores = 1e-9;

std::size_t lowest(const std::vector<double>& scores) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] < scores[best] - equal_scores) best = i;
  }
  return best;
}

// Weights drawn evenly from all that sum to 1; a tie is shared among its winners.
std::vector<double> wins_under_random_weights(const RankTable& table, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> wins(table.configurations.size(), 0.0);
  std::vector<double> weights(table.metrics.size());
  for (std::size_t round = 0; round < weightings; ++round) {
    for (double& weight : weights) weight = -std::log(random.uniform());
    const std::vector<double> scores = rank_scores(table, weights);
    const double best = *std::min_element(scores.begin(), scores.end());
    std::vector<std::size_t> winners;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] <= best + equal_scores) winners.push_back(i);
    }
    for (const std::size_t winner : winners) {
      wins[winner] += 1.0 / static_cast<double>(winners.size());
    }
  }
  for (double& share : wins) share /= static_cast<double>(weightings);
  return wins;
}

std::vector<ScoreTable::LeftOut> leave_each_out(const RankTable& table, std::size_t best) {
  std::vector<ScoreTable::LeftOut> result;
  if (table.metrics.size() < 2) return result;
  for (std::size_t out = 0; out < table.metrics.size(); ++out) {
    std::vector<double> weights(table.metrics.size(), 1.0);
    weights[out] = 0;
    const std::vector<double> scores = rank_scores(table, weights);
    const bool same = scores[best] <= scores[lowest(scores)] + equal_scores;
    result.push_back({.metric = table.metrics[out],
                      .winner = table.configurations[same ? best : lowest(scores)],
                      .same = same});
  }
  return result;
}

std::vector<std::string> explain(const ScoreTable& table) {
  std::vector<std::string> said;
  const std::vector<std::string>& names = table.ranks.configurations;
  const std::size_t best = table.best();
  if (names.size() == 1) return {"One configuration alone: there is nothing to compare it with."};
  std::vector<std::string> tied;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (table.scores[i] <= table.scores[best] + equal_scores) tied.push_back(names[i]);
  }
  if (tied.size() > 1) {
    said.push_back(fmt::format("{} share the best score, {:.2f} (less is better).", fmt::join(tied, " and "),
                               two_decimals(table.scores[best])));
  } else {
    said.push_back(fmt::format("{} has the best score, {:.2f} (less is better).", names[best],
                               two_decimals(table.scores[best])));
  }
  std::map<std::string, std::vector<std::string>> others;
  for (const ScoreTable::LeftOut& left : table.leave_one_out) {
    if (!left.same) others[left.winner].push_back(left.metric);
  }
  for (const auto& [winner, metrics] : others) {
    said.push_back(
        fmt::format("Without {} the winner would be {}.", fmt::join(metrics, " or without "), winner));
  }
  if (others.empty() && !table.leave_one_out.empty())
    said.push_back("It stays the best whichever single metric is left out.");
  said.push_back(fmt::format("With other weights of the metrics it would win in {:.0f}% of cases: {}.",
                             100 * table.wins[best],
                             table.wins[best] > 0.8   ? "a clear result"
                             : table.wins[best] > 0.5 ? "a result that depends somewhat on the weights"
                                                      : "the equal weights decide it, not the measurements"));
  if (is_known(table.agreement)) {
    said.push_back(fmt::format("The metrics {} on the order (Kendall's W = {:.2f}).",
                               table.agreement < 0.3   ? "hardly agree"
                               : table.agreement < 0.7 ? "agree in part"
                                                       : "agree",
                               table.agreement));
  }
  for (const std::vector<std::string>& group : table.duplicates) {
    const std::size_t merged = lowest(table.merged_scores);
    said.push_back(fmt::format(
        "{} say the same (rank correlation beyond {}) and count {}; as one vote the best is {} with {:.2f}.",
        fmt::join(group, " and "), duplicate_limit, group.size() == 2 ? "twice" : "several times",
        names[merged], table.merged_scores[merged]));
  }
  for (const auto& [one, other] : table.opposed) {
    said.push_back(fmt::format("{} and {} contradict each other: what is good for one is bad for the other.",
                               one, other));
  }
  return said;
}

}  // namespace

std::size_t ScoreTable::best() const {
  return lowest(scores);
}

ScoreTable make_score_table(RankTable ranks, std::uint64_t seed) {
  ScoreTable table;
  table.ranks = std::move(ranks);
  table.scores = rank_scores(table.ranks);
  const std::vector<std::size_t> groups = duplicate_groups(table.ranks.ranks);
  table.merged_scores = rank_scores(table.ranks, group_weights(groups));
  std::map<std::size_t, std::vector<std::string>> members;
  for (std::size_t i = 0; i < groups.size(); ++i) members[groups[i]].push_back(table.ranks.metrics[i]);
  for (auto& [first, names] : members) {
    if (names.size() > 1) table.duplicates.push_back(std::move(names));
  }
  for (const auto& [one, other] : opposed_pairs(table.ranks.ranks)) {
    table.opposed.emplace_back(table.ranks.metrics[one], table.ranks.metrics[other]);
  }
  table.wins = wins_under_random_weights(table.ranks, seed);
  table.agreement = kendall_w(table.ranks.ranks);
  table.leave_one_out = leave_each_out(table.ranks, table.best());
  table.meaning = explain(table);
  return table;
}

Json to_json(const ScoreTable& table) {
  Json json;
  json["weir_scores"] = 1;
  json["lesser_is_better"] = true;
  json["metrics"] = table.ranks.metrics;
  json["scores"] = Json::array();
  for (std::size_t i = 0; i < table.scores.size(); ++i) {
    Json row;
    row["configuration"] = table.ranks.configurations[i];
    row["score"] = two_decimals(table.scores[i]);
    row["score_exact"] = table.scores[i];
    row["score_without_duplicates"] = table.merged_scores[i];
    row["wins_under_random_weights"] = table.wins[i];
    Json ranks = Json::object();
    for (std::size_t metric = 0; metric < table.ranks.metrics.size(); ++metric) {
      ranks[table.ranks.metrics[metric]] = table.ranks.ranks[metric][i];
    }
    row["ranks"] = std::move(ranks);
    json["scores"].push_back(std::move(row));
  }
  json["best"] = table.ranks.configurations[table.best()];
  json["kendall_w"] = is_known(table.agreement) ? Json(table.agreement) : Json(nullptr);
  json["duplicate_metrics"] = table.duplicates;
  json["opposed_metrics"] = table.opposed;
  json["leave_one_out"] = Json::array();
  for (const ScoreTable::LeftOut& left : table.leave_one_out) {
    json["leave_one_out"].push_back({{"metric", left.metric}, {"winner", left.winner}, {"same", left.same}});
  }
  json["meaning"] = table.meaning;
  return json;
}

std::string render(const ScoreTable& table) {
  std::size_t widest = std::string_view("configuration").size();
  for (const std::string& name : table.ranks.configurations) widest = std::max(widest, name.size());
  std::string text = fmt::format("{:<{}}", "configuration", widest);
  for (const std::string& metric : table.ranks.metrics) text += fmt::format("  {:>4}", metric);
  text += fmt::format("  {:>5}\n", "score");
  for (std::size_t i = 0; i < table.scores.size(); ++i) {
    text += fmt::format("{:<{}}", table.ranks.configurations[i], widest);
    for (std::size_t metric = 0; metric < table.ranks.metrics.size(); ++metric) {
      text += fmt::format("  {:>{}}", table.ranks.ranks[metric][i],
                          std::max<std::size_t>(4, table.ranks.metrics[metric].size()));
    }
    text += fmt::format("  {:>5.2f}{}\n", two_decimals(table.scores[i]), i == table.best() ? "  best" : "");
  }
  text += '\n';
  for (const std::string& sentence : table.meaning) text += sentence + '\n';
  return text;
}

}  // namespace weir::analysis
