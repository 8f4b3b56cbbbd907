#include "telemetry/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace weir::telemetry {

namespace {

// A counter of few bits that falls has wrapped if it was near its end and did not go far: in the last quarter
// before, and less than a quarter on. Anything else is taken for a reset, which costs an interval; a reset
// taken for a wrap would invent traffic.
std::optional<std::uint64_t> wrapped_difference(std::uint64_t before, std::uint64_t after, unsigned bits) {
  if (bits == 0) return std::nullopt;
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t quarter = (mask >> 2U) + 1;
  if (before > mask || before < mask - quarter) return std::nullopt;
  const std::uint64_t difference = (after - before) & mask;
  if (difference > quarter) return std::nullopt;
  return difference;
}

// What a gauge said at a time: its last sample until then.
std::optional<std::uint64_t> value_at(const Series& gauge, Nanoseconds time) {
  const auto after = std::upper_bound(gauge.times.begin(), gauge.times.end(), time);
  if (after == gauge.times.begin()) return std::nullopt;
  return gauge.values[static_cast<std::size_t>(after - gauge.times.begin()) - 1];
}

}  // namespace

std::string describe(const SeriesKey& key) {
  std::string text(counter(key.counter).name);
  if (!key.component.empty()) text += " of " + key.component;
  text += " on " + key.node;
  if (!key.job.empty()) text += " for job " + key.job;
  return text;
}

std::string_view to_string(IntervalMark mark) {
  switch (mark) {
    case IntervalMark::good:
      return "good";
    case IntervalMark::wrap:
      return "wrap";
    case IntervalMark::gap:
      return "gap";
    case IntervalMark::reset:
      return "reset";
    case IntervalMark::clock_step:
      return "clock-step";
  }
  throw std::logic_error("an interval mark that does not exist");
}

Nanoseconds sampling_period(const std::vector<Nanoseconds>& times) {
  std::vector<Nanoseconds> distances;
  distances.reserve(times.size());
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] > times[i - 1]) distances.push_back(times[i] - times[i - 1]);
  }
  if (distances.empty()) return 0;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

std::vector<Interval> intervals(const Series& series, const IntervalOptions& options, const Series* starts) {
  const Counter& declared = counter(series.key.counter);
  if (declared.kind != CounterKind::cumulative)
    throw std::logic_error(fmt::format("differences of {}, which is a gauge", declared.name));
  if (series.times.size() != series.values.size())
    throw std::logic_error("a series with more times than values, or fewer");

  const Nanoseconds period = options.period > 0 ? options.period : sampling_period(series.times);
  const double longest = static_cast<double>(period) * options.gap_factor;
  std::vector<Interval> result;
  result.reserve(series.times.size());
  std::size_t last = 0;
  for (std::size_t i = 1; i < series.times.size(); ++i) {
    const std::uint64_t before = series.values[last];
    const std::uint64_t after = series.values[i];
    if (series.times[i] == series.times[last] && before == after) continue;  // sent twice
    Interval interval{.begin = series.times[last], .end = series.times[i]};
    last = i;
    if (interval.end <= interval.begin) {
      interval.mark = IntervalMark::clock_step;
      result.push_back(interval);
      continue;
    }
    if (starts != nullptr) {
      const auto began = value_at(*starts, interval.begin);
      const auto began_later = value_at(*starts, interval.end);
      if (began && began_later && *began != *began_later) interval.mark = IntervalMark::reset;
    }
    if (interval.mark == IntervalMark::good && after < before) {
      const auto difference = wrapped_difference(before, after, declared.wrap_bits);
      interval.mark = difference ? IntervalMark::wrap : IntervalMark::reset;
      interval.difference = difference.value_or(0);
    } else if (interval.mark == IntervalMark::good) {
      interval.difference = after - before;
    }
    const bool too_long = period > 0 && static_cast<double>(interval.end - interval.begin) > longest;
    if (too_long && interval.has_difference()) interval.mark = IntervalMark::gap;
    result.push_back(interval);
  }
  return result;
}

Growth growth(const std::vector<Interval>& intervals, Nanoseconds from, Nanoseconds to) {
  Growth sum;
  if (to <= from) return sum;
  double covered = 0;
  for (const Interval& interval : intervals) {
    // A step of the clock has no width: it is inside if either end is.
    const auto [low, high] = std::minmax(interval.begin, interval.end);
    if (high <= from || low >= to) continue;
    sum.resets += interval.mark == IntervalMark::reset ? 1 : 0;
    sum.wraps += interval.mark == IntervalMark::wrap ? 1 : 0;
    sum.gaps += interval.mark == IntervalMark::gap ? 1 : 0;
    sum.clock_steps += interval.mark == IntervalMark::clock_step ? 1 : 0;
    if (!interval.has_difference()) continue;
    const double inside = static_cast<double>(std::min(high, to) - std::max(low, from));
    sum.amount += static_cast<double>(interval.difference) * inside / static_cast<double>(high - low);
    covered += inside;
  }
  sum.known = std::min(1.0, covered / static_cast<double>(to - from));
  return sum;
}

std::vector<MeanInterval> interval_means(const std::vector<Interval>& sum,
                                         const std::vector<Interval>& count) {
  std::vector<MeanInterval> means;
  means.reserve(std::min(sum.size(), count.size()));
  auto other = count.begin();
  for (const Interval& total : sum) {
    while (other != count.end() && other->begin < total.begin) ++other;
    if (other == count.end()) break;
    if (other->begin != total.begin || other->end != total.end) continue;
    if (!total.has_difference() || !other->has_difference()) continue;
    MeanInterval mean{.begin = total.begin, .end = total.end, .events = other->difference};
    if (other->difference > 0)
      mean.mean = static_cast<double>(total.difference) / static_cast<double>(other->difference);
    means.push_back(mean);
  }
  return means;
}

void sort_by_time(Series& series) {
  std::vector<std::size_t> order(series.times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return series.times[a] < series.times[b]; });
  Series sorted{.key = series.key};
  sorted.times.reserve(order.size());
  sorted.values.reserve(order.size());
  for (const std::size_t i : order) {
    if (!sorted.times.empty() && sorted.times.back() == series.times[i]) {
      sorted.values.back() = series.values[i];
    } else {
      sorted.times.push_back(series.times[i]);
      sorted.values.push_back(series.values[i]);
    }
  }
  series = std::move(sorted);
}

}  // namespace weir::telemetry
