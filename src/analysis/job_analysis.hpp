// Everything that a report shows of one job, as one value: who it was, which servers it used, how complete
// the data is, metrics, timelines, matrices for heat maps, other jobs on the same servers, and findings in
// words. analyse() (analyse.hpp) makes it from a store; renderers only draw it.
//
// A number that is not known is NaN (`unknown`), never 0. Times are nanoseconds since the epoch.
// Threads: plain values.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/metric.hpp"

namespace weir::analysis {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
inline bool is_known(double value) {
  return !std::isnan(value);
}

// How a figure is spread over servers, targets, links or intervals. All NaN when count is 0.
struct Distribution {
  std::uint64_t count = 0;
  double mean = unknown, least = unknown, p5 = unknown, p25 = unknown, median = unknown, p75 = unknown,
         p95 = unknown, p99 = unknown, most = unknown;
  double variation = unknown;        // coefficient of variation: standard deviation / mean
  double gini = unknown;             // 0: all the same; towards 1: one has everything
  double most_over_mean = unknown;   // 1: balanced
  double least_over_mean = unknown;  // of the slowest: 1 balanced, 0 something stands still
};

// One figure of the job, and how it is spread.
struct Metric {
  MetricKind kind;
  double value = unknown;        // the job's one number
  Distribution over_parts;       // of the parts' own numbers
  std::string part;              // what a part is: "OST", "link", "server", "device"
  Distribution over_time;        // of the numbers of intervals, all parts together
  std::string how;               // how it was made, in words: "mean over 192 OSTs of bytes / 600 s"
  double correlation = unknown;  // rank correlation with the job's throughput over its intervals, -1 to 1
};

// Values at equal steps: value k covers [start_ns + k * step_ns, start_ns + (k + 1) * step_ns).
struct Timeline {
  std::string id;     // "write_throughput": the same in every analysis, for comparing runs
  std::string title;  // "Write throughput"
  std::string unit;   // "B/s"
  std::int64_t start_ns = 0;
  std::int64_t step_ns = 0;
  std::vector<double> values;  // NaN where nothing is known (a gap, a reset)
};

// A heat map. values[row * columns.size() + column]; NaN: nothing known there, or no such place.
struct Matrix {
  std::string id;     // "ost_write_position", "ost_write_time", "link_wait"
  std::string title;  // "Write throughput of each OST at its place"
  std::string unit;
  std::string row_title, column_title;     // "Y", "X"
  std::vector<std::string> rows, columns;  // labels
  std::vector<double> values;
  std::vector<std::string> cells;  // a name for each cell (the OST at that place), or empty
  double scale_low = 0;            // the same for every job of a site, so that pictures can be compared
  double scale_high = 0;
};

enum class Severity { info, warning, critical };
std::string_view to_string(Severity severity);

// A finding in words.
struct Insight {
  std::string code;  // "slow-target": stable, for scripts
  Severity severity = Severity::info;
  std::string sentence;  // "OST lio07-2 wrote at 11 MiB/s while the others wrote at 95 MiB/s."
  std::string advice;    // "Ask the site to look at it, or leave it out of the file's stripes."
  std::map<std::string, double> evidence;  // the figures behind it, by name
  std::vector<std::string> objects;        // names of servers, targets, links, jobs it is about (at most 16)
};

// Another job that used some of the same servers meanwhile.
struct Neighbour {
  std::string job_id, user, name;
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint64_t shared_servers = 0;
  double overlap_seconds = 0;
  double bytes = unknown;  // moved on the shared servers during this job
  double share = unknown;  // of all bytes moved there, 0 to 1
  std::string known_by;    // "job counters", "node counters" or "times and nodes" (an upper bound)
};

// How much of what should have been sampled is there. Nothing of this is ever turned into a rate.
struct Completeness {
  std::uint64_t series = 0;
  std::uint64_t samples = 0;
  std::uint64_t intervals = 0;
  double covered = unknown;           // share of series x time that has data, 0 to 1
  double interval_seconds = unknown;  // the usual distance of two samples
  double longest_gap_seconds = 0;
  std::uint64_t resets = 0, wraps = 0, gaps = 0, clock_steps = 0;
  std::vector<std::string> silent;  // servers without any sample (at most 16)
  std::uint64_t silent_count = 0;
};

struct JobHeader {
  std::string id, user, name, state, command;
  std::string
      configuration;  // what was tried, where the job record says so; runs of the same are repetitions
  std::int64_t submit_ns = 0, start_ns = 0,
               end_ns = 0;  // 0: not known. A running job ends at its last sample
  double elapsed_seconds = 0;
  std::uint64_t nodes = 0;    // compute nodes
  std::string shape;          // "8x12x32", or empty
  std::uint64_t servers = 0;  // I/O nodes that served it
  std::uint64_t targets = 0;  // OSTs or devices
  std::uint64_t links = 0;
  std::string rule;  // how servers were found: "I/O zoning (same Z links)", "all", "table", "own nodes"
  double read_bytes = unknown, write_bytes = unknown;  // on its targets, meanwhile, whoever moved them
  double own_bytes = unknown;                          // read and written by the job itself
  std::string own_bytes_known_by;                      // "job record", "job counters", or empty
  double own_share = unknown;                          // own_bytes / (read_bytes + write_bytes), at most 1
  double file_system_bytes = unknown;                  // on all targets of the file system, meanwhile
  double coverage_factor = unknown;                    // own_bytes / file_system_bytes
  std::map<std::string, double> figures;  // what the job record itself says: bytes, throughput, ...
};

struct JobAnalysis {
  JobHeader job;
  Completeness completeness;
  std::vector<Metric> metrics;
  std::vector<Timeline> timelines;
  std::vector<Matrix> matrices;
  std::vector<Neighbour> neighbours;  // largest share first, at most 50
  std::vector<Insight> insights;      // most severe first
  std::vector<std::string> notes;     // what could not be told, and why

  const Metric* find(std::string_view id) const;  // nullptr: not known for this job
};

}  // namespace weir::analysis
