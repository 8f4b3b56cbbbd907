// Did others use the same servers?
#include <fmt/format.h>

#include <algorithm>

#include "analysis/insights.hpp"

namespace weir::analysis {

void judge_neighbours(const InsightInput& input, std::vector<Insight>& found) {
  const JobAnalysis& job = input.job;
  // On a laptop the neighbours are the user's other programs; where every server serves every job, all jobs
  // are neighbours, and only what is known to be much traffic is worth saying.
  double others = 0;
  bool known = false;
  std::vector<std::string> ids;
  for (const Neighbour& neighbour : job.neighbours) {
    if (!is_known(neighbour.share)) continue;
    known = true;
    others += neighbour.share;
    if (neighbour.share >= 0.02) ids.push_back(neighbour.job_id);
  }
  if (known) {
    if (others < input.thresholds.neighbour_share || ids.empty()) return;
    const Neighbour& first = job.neighbours.front();
    found.push_back({.code = "shared-servers",
                     .severity = others >= input.thresholds.neighbour_critical_share ? Severity::critical
                                                                                     : Severity::warning,
                     .sentence = fmt::format("Other jobs moved {} of the bytes on this job's servers; job "
                                             "{}{} alone {}, on {} of its servers.",
                                             format_percent(others), first.job_id,
                                             first.user.empty() ? "" : " of " + first.user,
                                             format_percent(first.share), first.shared_servers),
                     .advice = "Compare with a run at another time before blaming the configuration; ask for "
                               "nodes whose servers are not shared.",
                     .evidence = {{"others_share", others},
                                  {"largest_share", first.share},
                                  {"jobs", static_cast<double>(ids.size())}},
                     .objects = ids});
    return;
  }
  if (job.neighbours.empty() || input.serving.own_nodes || input.serving.rule.starts_with("all")) return;
  const Neighbour& first = job.neighbours.front();
  const double share = static_cast<double>(first.shared_servers) /
                       static_cast<double>(std::max<std::uint64_t>(1, job.job.servers));
  if (share < input.thresholds.neighbour_share ||
      first.overlap_seconds < input.thresholds.neighbour_share * job.job.elapsed_seconds)
    return;
  found.push_back(
      {.code = "shared-servers",
       .severity = Severity::warning,
       .sentence = fmt::format("Job {} ran on {} of this job's {} servers for {:.0f} s of its {:.0f} s; how "
                               "much it moved is not known.",
                               first.job_id, first.shared_servers, job.job.servers, first.overlap_seconds,
                               job.job.elapsed_seconds),
       .advice = "Collect counters per job (Lustre job_stats), or compare with a run at another time.",
       .evidence = {{"shared_servers", static_cast<double>(first.shared_servers)},
                    {"overlap_seconds", first.overlap_seconds}},
       .objects = {first.job_id}});
}

}  // namespace weir::analysis
