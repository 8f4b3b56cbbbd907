// One counter of one component of one node over time, and what may be concluded from it.
//
// A difference of two samples becomes a rate only when nothing happened in between that would make it a lie:
// counters that begin anew (reset), clocks that go back, samples that are missing. Each interval says which.
//
// Threads: values and plain functions.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/counter.hpp"

namespace weir::telemetry {

// Which series a sample belongs to.
struct SeriesKey {
  CounterId counter = 0;
  std::string node;       // host name: "io0001"
  std::string component;  // part of it: an OST "lfs-OST0001", a link "X+", a device "sda", an interface
                          // "eth0"; or empty
  std::string job;        // where a counter is kept per job; else empty

  auto operator<=>(const SeriesKey&) const = default;
};

// "ost.write_bytes of lfs-OST0001 on oss1", for messages.
std::string describe(const SeriesKey& key);

using Nanoseconds = std::int64_t;  // since 1970-01-01 UTC, or a span of time

struct Sample {
  SeriesKey key;
  Nanoseconds time = 0;
  std::uint64_t value = 0;
  bool operator==(const Sample&) const = default;
};

// times and values have the same length; times in the order in which the samples were taken.
struct Series {
  SeriesKey key;
  std::vector<Nanoseconds> times;
  std::vector<std::uint64_t> values;
};

enum class IntervalMark : std::uint8_t {
  good,
  wrap,        // the counter passed its largest value; the difference is right
  gap,         // samples are missing: the difference is right, when it grew is not known
  reset,       // the counter began anew: no difference
  clock_step,  // time did not advance between two samples: no difference
};
std::string_view to_string(IntervalMark mark);

struct Interval {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint64_t difference = 0;  // 0 where there is none
  IntervalMark mark = IntervalMark::good;

  bool has_difference() const { return mark <= IntervalMark::gap; }
  bool has_rate() const { return mark <= IntervalMark::wrap; }
  double seconds() const { return static_cast<double>(end - begin) * 1e-9; }
  double rate() const {
    return static_cast<double>(difference) / seconds();
  }  // per second; REQUIRES has_rate()
  bool operator==(const Interval&) const = default;
};

struct IntervalOptions {
  Nanoseconds period = 0;   // samples come this often; 0: as the median distance says
  double gap_factor = 2.5;  // farther apart than so many periods: something is missing
};

// One interval per two neighbouring samples. A sample that repeats the one before it (same time, same value)
// is passed over. `starts` is the series of the gauge counter(key.counter).start of the same component, if
// there is one: where its value changes, the counter was reset although it may have grown beyond its old
// value since. REQUIRES: a cumulative counter.
std::vector<Interval> intervals(const Series& series, const IntervalOptions& options = {},
                                const Series* starts = nullptr);

// The median distance of the samples; 0 with fewer than two.
Nanoseconds sampling_period(const std::vector<Nanoseconds>& times);

// What is known of the growth in [from, to): intervals that reach over a border count with the share that
// lies inside. `known` is the share of the window that intervals with a difference cover, 0 to 1.
struct Growth {
  double amount = 0;
  double known = 0;
  std::size_t resets = 0, wraps = 0, gaps = 0, clock_steps = 0;  // in the window
};
Growth growth(const std::vector<Interval>& intervals, Nanoseconds from, Nanoseconds to);

// Mean per event between samples, d(sum)/d(count): the mean queue depth from req_qdepth.sum and .count. Only
// intervals that both series have with a difference; value is empty where nothing happened (d(count) = 0).
struct MeanInterval {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint64_t events = 0;
  std::optional<double> mean;
};
std::vector<MeanInterval> interval_means(const std::vector<Interval>& sum,
                                         const std::vector<Interval>& count);

// Later samples with the same time win, and times ascend: for series put together from several places.
void sort_by_time(Series& series);

}  // namespace weir::telemetry
