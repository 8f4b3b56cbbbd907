// Do links hold the I/O up?
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/insights.hpp"
#include "analysis/statistics.hpp"

namespace weir::analysis {

namespace {

std::string link_name(const Part& part) {
  return part.node + " " + part.component;
}

// The names of hot links.
std::set<std::string> judge_waits(const InsightInput& input, std::vector<Insight>& found) {
  const CounterParts* waits = input.seen.find("link.wait_cycles");
  if (waits == nullptr || !(input.machine.clock_hz > 0)) return {};
  std::vector<double> shares;
  for (const Part& part : waits->parts) shares.push_back(part.rate() / input.machine.clock_hz);
  const Distribution spread = distribution(shares);
  if (spread.count < 4) return {};
  const double limit =
      std::max(input.thresholds.hot_link_wait, input.thresholds.hot_link_ratio * spread.median);
  std::vector<std::size_t> hot;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (is_known(shares[i]) && shares[i] >= limit) hot.push_back(i);
  }
  if (hot.empty()) return {};
  std::sort(hot.begin(), hot.end(), [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  std::vector<std::string> names;
  std::set<std::string> links;
  std::set<std::string> nodes;
  for (const std::size_t i : hot) {
    names.push_back(link_name(waits->parts[i]));
    links.insert(waits->parts[i].component);
    nodes.insert(waits->parts[i].node);
  }
  const Part& worst = waits->parts[hot.front()];
  std::string where = format_list(names);
  if (links.size() == 1 && nodes.size() > 1)
    where = fmt::format("link {} of {} I/O nodes", *links.begin(), nodes.size());
  found.push_back(
      {.code = "hot-link",
       .severity = Severity::critical,
       .sentence = fmt::format("Packets waited on {}: {} of the time on {}, {} on the median of {} links.",
                               where, format_percent(shares[hot.front()]), link_name(worst),
                               format_percent(spread.median), spread.count),
       .advice = "Move aggregators so that traffic to the targets behind this link takes other paths "
                 "(striping-aware layout), or send "
                 "fewer requests at a time (throttle).",
       .evidence = {{"wait_share", shares[hot.front()]},
                    {"median_wait_share", spread.median},
                    {"longest_wait_seconds", worst.peak_amount / input.machine.clock_hz},
                    {"links", static_cast<double>(hot.size())}},
       .objects = names});
  return {names.begin(), names.end()};
}

// What is hot has been said.
void judge_use(const InsightInput& input, const std::set<std::string>& hot, std::vector<Insight>& found) {
  const CounterParts* bytes = input.seen.find("link.bytes");
  if (bytes == nullptr || !(input.machine.link_bytes_per_second > 0)) return;
  std::vector<std::string> full;
  double most = 0;
  for (const Part& part : bytes->parts) {
    const double use = part.rate() / input.machine.link_bytes_per_second;
    if (!is_known(use) || use < input.thresholds.link_full || hot.contains(link_name(part))) continue;
    full.push_back(link_name(part));
    most = std::max(most, use);
  }
  if (full.empty()) return;
  found.push_back(
      {.code = "full-link",
       .severity = Severity::warning,
       .sentence = fmt::format("{} of {} links ran near their bandwidth, up to {}: {}.", full.size(),
                               bytes->parts.size(), format_percent(most), format_list(full)),
       .advice = "The network is what limits this job: spread its I/O over more I/O nodes, or write less "
                 "(reduce, compress).",
       .evidence = {{"links", static_cast<double>(full.size())}, {"most_use", most}},
       .objects = full});
}

}  // namespace

void judge_links(const InsightInput& input, std::vector<Insight>& found) {
  judge_use(input, judge_waits(input, found), found);
}

}  // namespace weir::analysis
