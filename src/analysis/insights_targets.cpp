// Are targets and servers used evenly?
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/insights.hpp"
#include "analysis/statistics.hpp"

namespace weir::analysis {

namespace {

struct Named {
  std::string name;
  double rate = 0;
};

struct Way {
  const CounterParts* counter;
  const char* verb;  // "wrote"
};

std::vector<Named> rates_of(const CounterParts& counter) {
  std::vector<Named> rates;
  for (const Part& part : counter.parts) {
    if (is_known(part.rate()))
      rates.push_back({part.component.empty() ? part.node : part.component, part.rate()});
  }
  std::sort(rates.begin(), rates.end(), [](const Named& a, const Named& b) {
    return a.rate < b.rate || (a.rate == b.rate && a.name < b.name);
  });
  return rates;
}

std::vector<std::string> names_of(const std::vector<Named>& rates, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(rates[i].name);
  return names;
}

double quantile_of(const std::vector<Named>& rates, double q) {
  std::vector<double> values;
  values.reserve(rates.size());
  for (const Named& one : rates) values.push_back(one.rate);
  return quantile(values, q);
}

// Many targets with next to nothing: the load does not reach them. Few slow ones: they hold the others up.
bool judge_spread(const InsightInput& input, const Way& way, std::vector<Insight>& found) {
  const std::vector<Named> rates = rates_of(*way.counter);
  if (rates.size() < 4 || way.counter->amount() < input.thresholds.fewest_bytes) return false;
  const double busy = quantile_of(rates, 0.9);
  const auto idle = static_cast<std::size_t>(std::count_if(rates.begin(), rates.end(), [&](const Named& one) {
    return one.rate < input.thresholds.idle_target_ratio * busy;
  }));
  const auto count = static_cast<double>(rates.size());
  if (static_cast<double>(idle) >= input.thresholds.idle_target_share * count) {
    const double share = static_cast<double>(idle) / count;
    found.push_back(
        {.code = "idle-targets",
         .severity = share >= 0.4 ? Severity::critical : Severity::warning,
         .sentence = fmt::format("{} of {} targets ({}) {} next to nothing while the busy ones reached {}.",
                                 idle, rates.size(), format_percent(share), way.verb, format_rate(busy)),
         .advice = "Stripe the file over all targets (stripe count), and give each target as many "
                   "aggregators as any other.",
         .evidence = {{"idle", static_cast<double>(idle)}, {"targets", count}, {"busy_rate", busy}},
         .objects = names_of(rates, idle)});
    return true;
  }
  const double middle = quantile_of(rates, 0.5);
  const auto slow = static_cast<std::size_t>(std::count_if(rates.begin(), rates.end(), [&](const Named& one) {
    return one.rate < input.thresholds.slow_target_ratio * middle;
  }));
  if (slow == 0 || static_cast<double>(slow) > std::max(1.0, input.thresholds.slow_target_share * count))
    return false;
  const std::vector<std::string> names = names_of(rates, slow);
  found.push_back(
      {.code = "slow-target",
       .severity = Severity::critical,
       .sentence = fmt::format(
           "{} {} at {}, the median of {} targets is {}: a file striped over all waits for the slowest.",
           format_list(names), way.verb, format_rate(rates.front().rate), rates.size(), format_rate(middle)),
       .advice = "Ask the site to look at it (a rebuilding disk, a failing path); until then leave it out of "
                 "the stripes.",
       .evidence = {{"slowest_rate", rates.front().rate},
                    {"median_rate", middle},
                    {"slow", static_cast<double>(slow)}},
       .objects = names});
  return true;
}

void judge_servers(const InsightInput& input, const Traffic& traffic, std::vector<Insight>& found) {
  std::map<std::string, double> sums;
  double bytes = 0;
  for (const CounterParts* counter : {traffic.read, traffic.write}) {
    if (counter == nullptr) continue;
    for (const Part& part : counter->parts) {
      if (is_known(part.rate())) sums[part.node] += part.rate();
      bytes += part.amount;
    }
  }
  if (sums.size() < 4 || bytes < input.thresholds.fewest_bytes) return;
  std::vector<Named> servers;
  std::vector<double> values;
  for (const auto& [name, rate] : sums) {
    servers.push_back({name, rate});
    values.push_back(rate);
  }
  const Distribution spread = distribution(values);
  if (!(spread.variation >= input.thresholds.server_variation) &&
      !(spread.most_over_mean >= input.thresholds.server_excess))
    return;
  std::sort(servers.begin(), servers.end(), [](const Named& a, const Named& b) { return a.rate > b.rate; });
  std::vector<std::string> busy;
  for (const Named& one : servers) {
    if (one.rate > 1.25 * spread.mean) busy.push_back(one.name);
  }
  found.push_back(
      {.code = "uneven-servers",
       .severity = Severity::warning,
       .sentence = fmt::format(
           "The load of {} servers is uneven: the busiest, {}, carried {:.1f} times the mean (coefficient of "
           "variation {:.2f}, Gini {:.2f}).",
           servers.size(), servers.front().name, spread.most_over_mean, spread.variation, spread.gini),
       .advice = "Spread aggregators evenly over servers: a striping-aware, round-robin layout (agg and rr) "
                 "does so.",
       .evidence = {{"variation", spread.variation},
                    {"gini", spread.gini},
                    {"most_over_mean", spread.most_over_mean},
                    {"servers", static_cast<double>(servers.size())}},
       .objects = busy});
}

}  // namespace

void judge_targets(const InsightInput& input, std::vector<Insight>& found) {
  const Traffic traffic = traffic_of(input.seen);
  if (traffic.part != "OST") return;
  bool explained = false;
  for (const Way& way : {Way{traffic.write, "wrote"}, Way{traffic.read, "read"}}) {
    if (way.counter != nullptr && judge_spread(input, way, found)) explained = true;
  }
  // A single slow target or an idle half makes servers uneven too; it is said once.
  if (!explained) judge_servers(input, traffic, found);
}

}  // namespace weir::analysis
