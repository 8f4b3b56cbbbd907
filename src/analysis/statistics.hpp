// Numbers about numbers. NaN stands for "not known" and is left out everywhere.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "analysis/job_analysis.hpp"

namespace weir::analysis {

// Of the known values; takes them by value because it sorts them.
Distribution distribution(std::vector<double> values);

double mean(std::span<const double> values);  // NaN if none is known

// The value below which the share `q` (0 to 1) lies, interpolated. REQUIRES: sorted, known values.
double quantile(std::span<const double> sorted, double q);

// Ranks from 1; equal values share the mean of their ranks. NaN stays NaN.
std::vector<double> ranks(std::span<const double> values);

// Spearman's rank correlation of the pairs of which both are known, ties allowed. NaN with fewer than 3 pairs
// or where one side does not vary.
double rank_correlation(std::span<const double> a, std::span<const double> b);

// Kendall's W of several rankings of the same things (one vector each): 0 no agreement, 1 the same order.
// With the correction for ties. NaN with fewer than 2 rankings or 2 things.
double kendall_w(const std::vector<std::vector<double>>& rankings);

// Reproducible random numbers, the same on every platform (the standard's distributions are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t limit);  // REQUIRES: limit > 0
  double uniform();                          // in (0, 1)

 private:
  std::mt19937_64 engine_;
};

}  // namespace weir::analysis
