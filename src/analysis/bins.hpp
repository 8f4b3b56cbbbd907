// Growth of counters spread over equal steps of time: what timelines and heat maps are made of.
//
// Threads: plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "telemetry/series.hpp"

namespace weir::analysis {

struct TimeWindow {
  telemetry::Nanoseconds from = 0;
  telemetry::Nanoseconds to = 0;  // exclusive
  double seconds() const { return static_cast<double>(to - from) * 1e-9; }
};

class Bins {
 public:
  Bins() = default;
  // As few nanoseconds a bin as a round step (1, 2, 5, 10, 15, 30 s, 1, 2, 5, ... min) allows with at most
  // `most` bins. REQUIRES: from < to, most > 0.
  Bins(TimeWindow window, std::size_t most);

  // Adds the part of the interval that lies in the window, evenly spread over its time. Intervals of which it
  // is not known when they grew (gaps), or whether, add nothing.
  void add(const telemetry::Interval& interval, double factor = 1.0);
  // Amounts that come with a weight of their own, such as a sum over requests and how many there were.
  void add(telemetry::Nanoseconds begin, telemetry::Nanoseconds end, double amount, double weight);

  std::size_t size() const { return amount_.size(); }
  telemetry::Nanoseconds start() const { return window_.from; }
  telemetry::Nanoseconds step() const { return step_; }

  // Bins joined so that each is at least `period` long: finer steps than those of the samples would be
  // invented.
  Bins folded(telemetry::Nanoseconds period) const;

  // Growth per second: of all parts together, where at least half of parts x time is known; else NaN. A part
  // that is missing counts as the mean of the others.
  std::vector<double> rates(std::size_t parts) const;
  std::vector<double> mean_rates() const;  // per part; NaN where nothing is known
  std::vector<double> ratios() const;      // amount / weight; NaN where there is no weight

 private:
  double length(std::size_t bin) const;  // in seconds; the last one may be cut short by the window

  TimeWindow window_;
  telemetry::Nanoseconds step_ = 0;
  std::vector<double> amount_;
  std::vector<double> weight_;  // seconds known, summed over parts
};

}  // namespace weir::analysis
