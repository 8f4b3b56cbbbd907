// Axes: round numbers along them, and numbers as text.
#pragma once

#include <string>
#include <vector>

#include "report/chart.hpp"

namespace weir::report {

// An axis from value `first` to value `last`, with ticks.
struct Axis {
  Scale scale = Scale::linear;
  double first = 0;
  double last = 1;
  std::vector<double> ticks = {};
  std::vector<std::string> labels = {};

  double position(double value) const;  // 0 at first, 1 at last
};

// From a round number at or below `low` to one at or above `high`, with about `wanted` steps of 1, 2 or 5
// times a power of ten between them. REQUIRES: low <= high, both finite and of an amount of at most 1e300.
Axis linear_axis(double low, double high, int wanted);

// Ticks at powers of two, or at every second, third, ... so that there are at most `most`. REQUIRES: 0 < low
// <= high.
Axis log2_axis(double low, double high, int most);

// Three significant digits: "0.125", "12.3", "1230", "1.23×10⁶".
std::string format_number(double value);

}  // namespace weir::report
