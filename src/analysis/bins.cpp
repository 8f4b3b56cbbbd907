#include "analysis/bins.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "analysis/job_analysis.hpp"

namespace weir::analysis {

namespace {

constexpr telemetry::Nanoseconds second = 1'000'000'000;

telemetry::Nanoseconds round_step(telemetry::Nanoseconds least) {
  constexpr std::array<telemetry::Nanoseconds, 27> steps{
      second / 1000,  second / 500,   second / 200,  second / 100,  second / 50,   second / 20,
      second / 10,    second / 5,     second / 2,    second,        2 * second,    5 * second,
      10 * second,    15 * second,    30 * second,   60 * second,   120 * second,  300 * second,
      600 * second,   900 * second,   1800 * second, 3600 * second, 7200 * second, 10800 * second,
      21600 * second, 43200 * second, 86400 * second};
  for (const telemetry::Nanoseconds step : steps) {
    if (step >= least) return step;
  }
  return (least + steps.back() - 1) / steps.back() * steps.back();
}

}  // namespace

Bins::Bins(TimeWindow window, std::size_t most) : window_(window) {
  if (window.to <= window.from || most == 0) throw std::logic_error("bins of no time");
  const telemetry::Nanoseconds length = window.to - window.from;
  const auto limit = static_cast<telemetry::Nanoseconds>(most);
  step_ = round_step(length / limit + (length % limit == 0 ? 0 : 1));
  const auto count = static_cast<std::size_t>(length / step_ + (length % step_ == 0 ? 0 : 1));
  amount_.assign(count, 0.0);
  weight_.assign(count, 0.0);
}

void Bins::add(const telemetry::Interval& interval, double factor) {
  if (!interval.has_rate()) return;
  add(interval.begin, interval.end, static_cast<double>(interval.difference) * factor, interval.seconds());
}

void Bins::add(telemetry::Nanoseconds begin, telemetry::Nanoseconds end, double amount, double weight) {
  if (end <= window_.from || begin >= window_.to || end <= begin) return;
  const auto length = static_cast<double>(end - begin);
  telemetry::Nanoseconds at = std::max(begin, window_.from);
  const telemetry::Nanoseconds stop = std::min(end, window_.to);
  auto bin = static_cast<std::size_t>((at - window_.from) / step_);
  while (at < stop) {
    const telemetry::Nanoseconds edge =
        std::min(stop, window_.from + static_cast<telemetry::Nanoseconds>(bin + 1) * step_);
    const double share = static_cast<double>(edge - at) / length;
    amount_[bin] += amount * share;
    weight_[bin] += weight * share;
    at = edge;
    ++bin;
  }
}

Bins Bins::folded(telemetry::Nanoseconds period) const {
  if (step_ == 0 || period <= step_) return *this;
  const auto group = static_cast<std::size_t>((period + step_ - 1) / step_);
  Bins result;
  result.window_ = window_;
  result.step_ = step_ * static_cast<telemetry::Nanoseconds>(group);
  const std::size_t count = (amount_.size() + group - 1) / group;
  result.amount_.assign(count, 0.0);
  result.weight_.assign(count, 0.0);
  for (std::size_t i = 0; i < amount_.size(); ++i) {
    result.amount_[i / group] += amount_[i];
    result.weight_[i / group] += weight_[i];
  }
  return result;
}

double Bins::length(std::size_t bin) const {
  const telemetry::Nanoseconds begin = window_.from + static_cast<telemetry::Nanoseconds>(bin) * step_;
  return static_cast<double>(std::min(window_.to, begin + step_) - begin) * 1e-9;
}

std::vector<double> Bins::rates(std::size_t parts) const {
  std::vector<double> result(amount_.size(), unknown);
  for (std::size_t i = 0; i < amount_.size(); ++i) {
    const auto count = static_cast<double>(parts);
    if (parts > 0 && weight_[i] >= 0.5 * count * length(i)) result[i] = amount_[i] / weight_[i] * count;
  }
  return result;
}

std::vector<double> Bins::mean_rates() const {
  std::vector<double> result(amount_.size(), unknown);
  for (std::size_t i = 0; i < amount_.size(); ++i) {
    // A sliver of an interval at the border of a bin says too little of it.
    if (weight_[i] > 0.05 * length(i)) result[i] = amount_[i] / weight_[i];
  }
  return result;
}

std::vector<double> Bins::ratios() const {
  std::vector<double> result(amount_.size(), unknown);
  for (std::size_t i = 0; i < amount_.size(); ++i) {
    if (weight_[i] > 0) result[i] = amount_[i] / weight_[i];
  }
  return result;
}

}  // namespace weir::analysis
