// What the counters of a job's servers did in its window, gathered from series as they stream by: one pass,
// memory for the parts (targets, links, devices) and the bins of time, not for the samples.
//
// Only the two series of a mean (sum and count of requests) are kept until both have come.
// Threads: an Observations belongs to one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/bins.hpp"
#include "analysis/job_analysis.hpp"
#include "analysis/serving.hpp"
#include "telemetry/counter.hpp"
#include "telemetry/series.hpp"

namespace weir::analysis {

inline constexpr std::size_t most_timeline_bins = 1440;
inline constexpr std::size_t most_matrix_bins = 240;

// One counter of one target, link, device or server.
struct Part {
  std::string node, component;
  double amount = 0;       // growth in the window, as far as it is known
  double seconds = 0;      // time of the window for which it is known
  double peak_amount = 0;  // largest growth within the window in one interval
  double peak_rate = 0;    // highest rate of an interval
  std::uint64_t resets = 0;
  double longest_gap = 0;  // seconds
  Bins over_time;          // only where asked for

  double rate() const { return seconds > 0 ? amount / seconds : unknown; }
};

struct CounterParts {
  std::vector<Part> parts;
  Bins total;                         // all parts together
  telemetry::Nanoseconds period = 0;  // of samples, the longest of the parts'
  double elsewhere = 0;               // growth of parts that did not serve the job

  double amount() const;   // of all parts; NaN where there are none
  double seconds() const;  // summed over parts
};

// d(sum)/d(count) of one server.
struct MeanPart {
  std::string node;
  double sum = 0;
  double count = 0;
  double seconds = 0;
  double mean() const { return count > 0 ? sum / count : unknown; }
};

struct MeanParts {
  std::vector<MeanPart> parts;
  Bins total;  // amount: sums, weight: counts
  telemetry::Nanoseconds period = 0;
};

struct JobTraffic {
  double bytes = 0;
  std::unordered_set<std::string> targets;
};

class Observations {
 public:
  // `gap_periods`: a distance of samples of so many periods is a gap. REQUIRES: window.from < window.to
  Observations(TimeWindow window, const Serving& serving, std::vector<std::string> own_nodes,
               double gap_periods = 2.5);

  // In any order, but gauges of start times first (counters() gives the order). Series that say nothing of
  // the job are passed over.
  void take(const telemetry::Series& series);

  // Counters in groups to be read one after the other; `everywhere`: of all nodes, else of nodes().
  struct Wish {
    std::vector<std::string> counters;
    bool everywhere = false;
  };
  static std::vector<Wish> wishes();
  const std::vector<std::string>& nodes() const { return nodes_; }  // servers, and the job's own nodes

  const CounterParts* find(std::string_view counter) const;  // nullptr: no such series came
  const MeanParts* find_mean(std::string_view sum) const;    // by the counter of the sum
  const std::map<std::string, JobTraffic>& traffic() const { return traffic_; }  // by job, from job counters
  const TimeWindow& window() const { return window_; }
  Completeness completeness() const;  // of the series that came
  // The usual distance of samples, in seconds; NaN: none came.
  double period_seconds() const;
  bool heard(const std::string& node) const { return heard_.contains(node); }

 private:
  void take_growth(const telemetry::Series& series);
  void take_mean(const telemetry::Series& series, bool is_sum);
  void take_job(const telemetry::Series& series);
  double note(const std::vector<telemetry::Interval>& intervals, const telemetry::Series& series);
  const telemetry::Series* starts_of(const telemetry::SeriesKey& key) const;
  bool is_ours(const telemetry::SeriesKey& key) const;

  TimeWindow window_;
  telemetry::IntervalOptions how_;
  std::unordered_set<std::string> servers_;
  std::unordered_set<std::string> targets_;
  std::vector<std::string> nodes_;
  std::unordered_set<std::string> node_set_;
  std::unordered_set<std::string> heard_;
  std::map<telemetry::CounterId, CounterParts> growth_;
  std::map<telemetry::CounterId, MeanParts> means_;
  std::unordered_map<std::string, telemetry::Series> waiting_;  // half of a pair
  std::unordered_map<std::string, telemetry::Series> starts_;   // only where they change
  std::map<std::string, JobTraffic> traffic_;
  std::map<telemetry::Nanoseconds, std::uint64_t> periods_;
  Completeness counts_;
  double known_seconds_ = 0;
};

}  // namespace weir::analysis
