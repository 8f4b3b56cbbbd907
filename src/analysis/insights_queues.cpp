// Do requests wait in servers?
#include <fmt/format.h>

#include <algorithm>

#include "analysis/insights.hpp"

namespace weir::analysis {

void judge_queues(const InsightInput& input, std::vector<Insight>& found) {
  const Metric* depth = input.job.find("req_qdepth");
  if (depth == nullptr || !(depth->value >= input.thresholds.deep_queue)) return;
  const Metric* wait = input.job.find("req_waittime");
  const Metric* use = input.job.find("R_BW");
  const Metric* active = input.job.find("req_active");
  std::map<std::string, double> evidence{{"req_qdepth", depth->value}};
  std::string waiting;
  if (wait != nullptr && is_known(wait->value)) {
    evidence["req_waittime"] = wait->value;
    waiting = fmt::format(" and waited {:.3g} s", wait->value);
  }
  if (active != nullptr && is_known(active->value)) evidence["req_active"] = active->value;
  if (use != nullptr && use->value < input.thresholds.idle_link_use) {
    evidence["R_BW"] = use->value;
    found.push_back({.code = "queue-idle-links",
                     .severity = Severity::critical,
                     .sentence = fmt::format("A request found {:.0f} others in the server's queue{}, while "
                                             "links were used to {} only: the servers "
                                             "are the bottleneck, not the network.",
                                             depth->value, waiting, format_percent(use->value)),
                     .advice = "Send fewer requests at a time to each target (throttle, req), with fewer and "
                               "larger requests (two-phase I/O).",
                     .evidence = std::move(evidence),
                     .objects = {}});
    return;
  }
  found.push_back({.code = "deep-queue",
                   .severity = Severity::warning,
                   .sentence = fmt::format("A request found {:.0f} others in the server's queue{}.",
                                           depth->value, waiting),
                   .advice = "Send fewer requests at a time to each target (throttle, req).",
                   .evidence = std::move(evidence),
                   .objects = {}});
}

}  // namespace weir::analysis
