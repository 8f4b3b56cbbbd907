// Is the data good enough to judge by?
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/insights.hpp"

namespace weir::analysis {

namespace {

std::string plural(std::uint64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace

void judge_data(const InsightInput& input, std::vector<Insight>& found) {
  const Completeness& data = input.job.completeness;
  if (data.series == 0) {
    found.push_back(
        {.code = "no-data",
         .severity = Severity::warning,
         .sentence = "No counter of this job's servers was sampled while it ran: there is nothing to judge.",
         .advice = "Check that `weir collect` or the site's fluentd was running, and that the node table "
                   "names the servers as they do.",
         .evidence = {},
         .objects = {}});
    return;
  }
  if (data.gaps > 0) {
    found.push_back({.code = "sampling-gap",
                     .severity = Severity::warning,
                     .sentence = fmt::format("Samples are missing: {} in {}, the longest {:.4g} s where "
                                             "samples come every {:.3g} s. Timelines are "
                                             "empty there; sums are still right.",
                                             plural(data.gaps, "gap"), fmt::format("{} series", data.series),
                                             data.longest_gap_seconds, data.interval_seconds),
                     .advice = "Look at the collectors' logs of that time; `weir collect --forward` keeps a "
                               "spool while its receiver is away.",
                     .evidence = {{"gaps", static_cast<double>(data.gaps)},
                                  {"longest_gap_seconds", data.longest_gap_seconds},
                                  {"interval_seconds", data.interval_seconds},
                                  {"covered", data.covered}},
                     .objects = {}});
  }
  if (data.resets > 0) {
    std::set<std::string> servers;
    for (const std::string_view name :
         {"ost.read_bytes", "ost.write_bytes", "link.bytes", "link.wait_cycles", "block.write_bytes"}) {
      if (const CounterParts* counter = input.seen.find(name)) {
        for (const Part& part : counter->parts) {
          if (part.resets > 0) servers.insert(part.node);
        }
      }
    }
    found.push_back(
        {.code = "counter-reset",
         .severity = Severity::warning,
         .sentence =
             fmt::format("Counters began anew {} while the job ran{}{}: a server was restarted or its "
                         "statistics were cleared. "
                         "What was counted in between is lost and not guessed.",
                         data.resets == 1 ? "once" : fmt::format("{} times", data.resets),
                         servers.empty() ? "" : " on ", format_list({servers.begin(), servers.end()})),
         .advice =
             "If nobody cleared them, the server failed over or crashed during the job: look at its log.",
         .evidence = {{"resets", static_cast<double>(data.resets)}},
         .objects = {servers.begin(), servers.end()}});
  }
  if (data.silent_count > 0) {
    found.push_back(
        {.code = "silent-servers",
         .severity = Severity::warning,
         .sentence = fmt::format("{} of the job's {} servers sent no sample: {}.", data.silent_count,
                                 input.job.job.servers, format_list(data.silent)),
         .advice = "Their part of the traffic is missing in every figure here: check their collectors.",
         .evidence = {{"silent", static_cast<double>(data.silent_count)}},
         .objects = data.silent});
  }
  if (is_known(data.interval_seconds) &&
      input.job.job.elapsed_seconds < input.thresholds.fewest_intervals * data.interval_seconds) {
    found.push_back(
        {.code = "coarse-sampling",
         .severity = Severity::info,
         .sentence = fmt::format("The job lasted {:.3g} s and samples come every {:.3g} s: too coarse to see "
                                 "what happened within it.",
                                 input.job.job.elapsed_seconds, data.interval_seconds),
         .advice = data.interval_seconds > 1.5
                       ? "Sample more often: one sample a second of 50 counters costs less than a thousandth "
                         "of a core."
                       : "Look at a longer run, or sample more often: weir run --interval 50ms.",
         .evidence = {{"elapsed_seconds", input.job.job.elapsed_seconds},
                      {"interval_seconds", data.interval_seconds}},
         .objects = {}});
  } else if (data.gaps == 0 && data.resets == 0 && data.covered < input.thresholds.coverage) {
    found.push_back(
        {.code = "incomplete-data",
         .severity = Severity::warning,
         .sentence = fmt::format("Samples cover {} of the job's time.", format_percent(data.covered)),
         .advice = "Figures are those of the time that is known; start collecting before the job and stop "
                   "after it.",
         .evidence = {{"covered", data.covered}},
         .objects = {}});
  }
  const double bytes = (is_known(input.job.job.read_bytes) ? input.job.job.read_bytes : 0) +
                       (is_known(input.job.job.write_bytes) ? input.job.job.write_bytes : 0);
  if (bytes < input.thresholds.fewest_bytes && !input.seen.find("link.bytes")) {
    found.push_back(
        {.code = "no-io",
         .severity = Severity::info,
         .sentence =
             "The storage moved next to nothing while this job ran; what it wrote may still be in memory.",
         .advice = "If it did write, let it sync (fsync, MPI_File_sync) or look at a longer run.",
         .evidence = {{"bytes", bytes}},
         .objects = {}});
  }
}

}  // namespace weir::analysis
