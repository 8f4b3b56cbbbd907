// Findings in words: what the figures of a job say that somebody should know, how serious it is, what shows
// it, and what to do. Codes are stable; scripts may look for them.
//
//   slow-target         a few targets are much slower than the others
//   idle-targets        many targets carry nothing
//   uneven-servers      some servers carry much more than others
//   shared-servers      other jobs used the same servers
//   hot-link            packets waited on a few links
//   full-link           links near their bandwidth
//   queue-idle-links    requests wait in servers while links are idle
//   deep-queue          requests wait in servers
//   sampling-gap        samples are missing in the middle
//   silent-servers      servers without samples
//   incomplete-data     samples cover too little of the job
//   counter-reset       counters began anew
//   coarse-sampling     the job is too short for the interval of samples
//   saturated-device    a block device was busy all the time
//   small-requests      requests of few bytes
//   no-data, no-io      nothing to judge
//
// Threads: pure functions.
#pragma once

#include <vector>

#include "analysis/figures.hpp"
#include "analysis/job_analysis.hpp"
#include "analysis/observations.hpp"
#include "analysis/serving.hpp"
#include "analysis/thresholds.hpp"

namespace weir::analysis {

struct InsightInput {
  const JobAnalysis& job;  // all but its insights
  const Observations& seen;
  const Serving& serving;
  const Machine& machine;
  const Thresholds& thresholds;
};

// Most severe first; of equal severity in the order above.
std::vector<Insight> find_insights(const InsightInput& input);

// The parts, one file each.
void judge_targets(const InsightInput& input, std::vector<Insight>& found);
void judge_links(const InsightInput& input, std::vector<Insight>& found);
void judge_queues(const InsightInput& input, std::vector<Insight>& found);
void judge_neighbours(const InsightInput& input, std::vector<Insight>& found);
void judge_data(const InsightInput& input, std::vector<Insight>& found);
void judge_devices(const InsightInput& input, std::vector<Insight>& found);

inline constexpr std::size_t most_objects = 16;
std::string format_rate(double bytes_per_second);                // "95.2 MiB/s"
std::string format_list(const std::vector<std::string>& names);  // "a, b, c and 5 more"
std::string format_percent(double share);                        // "61%"

}  // namespace weir::analysis
