// Block devices of plain Linux file servers and of the job's own nodes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/insights.hpp"

namespace weir::analysis {

void judge_devices(const InsightInput& input, std::vector<Insight>& found) {
  if (const CounterParts* busy = input.seen.find("block.busy_ms")) {
    std::vector<std::string> names;
    double most = 0;
    for (const Part& part : busy->parts) {
      const double share = part.rate() * 1e-3;
      if (!is_known(share) || share < input.thresholds.device_busy) continue;
      names.push_back(part.component + " on " + part.node);
      most = std::max(most, std::min(1.0, share));
    }
    if (!names.empty()) {
      found.push_back(
          {.code = "saturated-device",
           .severity = Severity::warning,
           .sentence = fmt::format("{} was busy {} of the time: the device is what limits the job.",
                                   format_list(names), format_percent(most)),
           .advice =
               "Spread the files over more devices, or hide the writing behind computation (I/O servers).",
           .evidence = {{"busy", most}},
           .objects = names});
    }
  }
  for (const auto& [way, verb] : {std::pair{"write", "Writes to"}, std::pair{"read", "Reads of"}}) {
    const CounterParts* bytes = input.seen.find(fmt::format("block.{}_bytes", way));
    const CounterParts* ops = input.seen.find(fmt::format("block.{}_ops", way));
    if (bytes == nullptr || ops == nullptr) continue;
    std::map<std::string, double> counts;
    for (const Part& part : ops->parts) counts[part.node + '\n' + part.component] += part.amount;
    for (const Part& part : bytes->parts) {
      const double count = counts[part.node + '\n' + part.component];
      // Few requests, or few bytes, are nobody's problem.
      if (count < 10000 || part.amount < input.thresholds.fewest_bytes ||
          part.amount / count >= input.thresholds.small_request)
        continue;
      found.push_back(
          {.code = "small-requests",
           .severity = Severity::warning,
           .sentence = fmt::format("{} {} on {} were small: {:.0f} of them, {:.0f} bytes each.", verb,
                                   part.component, part.node, count, part.amount / count),
           .advice = "Collective I/O (two-phase) or buffering makes few large requests of many small ones.",
           .evidence = {{"requests", count}, {"mean_bytes", part.amount / count}},
           .objects = {part.component}});
    }
  }
}

}  // namespace weir::analysis
