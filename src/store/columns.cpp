#include "store/columns.hpp"

#include <algorithm>
#include <numeric>

namespace weir::store {

std::size_t put_in_order(std::span<std::int64_t> times, std::span<std::uint64_t> values) {
  if (std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) == times.end())
    return times.size();
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  const std::vector<std::int64_t> old_times(times.begin(), times.end());
  const std::vector<std::uint64_t> old_values(values.begin(), values.end());
  std::size_t count = 0;
  for (const std::size_t i : order) {
    if (count == 0 || times[count - 1] != old_times[i]) ++count;
    times[count - 1] = old_times[i];
    values[count - 1] = old_values[i];
  }
  return count;
}

void put_in_order(std::vector<std::int64_t>& times, std::vector<std::uint64_t>& values) {
  const std::size_t count = put_in_order(std::span(times), std::span(values));
  times.resize(count);
  values.resize(count);
}

void SampleHeap::add(std::int64_t series, std::span<const std::int64_t> times,
                     std::span<const std::uint64_t> values) {
  runs_.push_back({series, times_.size(), times.size()});
  times_.insert(times_.end(), times.begin(), times.end());
  values_.insert(values_.end(), values.begin(), values.end());
}

std::vector<ColumnView> SampleHeap::columns() {
  std::stable_sort(runs_.begin(), runs_.end(),
                   [](const Run& a, const Run& b) { return a.series < b.series; });
  std::vector<std::int64_t> times;
  std::vector<std::uint64_t> values;
  times.reserve(times_.size());
  values.reserve(values_.size());
  std::vector<std::pair<std::int64_t, std::size_t>> ends;  // a series, and where it ends
  for (const Run& run : runs_) {
    const auto at = static_cast<std::ptrdiff_t>(run.begin),
               end = static_cast<std::ptrdiff_t>(run.begin + run.count);
    times.insert(times.end(), times_.begin() + at, times_.begin() + end);
    values.insert(values.end(), values_.begin() + at, values_.begin() + end);
    if (ends.empty() || ends.back().first != run.series) ends.emplace_back(run.series, 0);
    ends.back().second = times.size();
  }
  times_ = std::move(times);
  values_ = std::move(values);
  runs_.clear();
  std::vector<ColumnView> views;
  views.reserve(ends.size());
  std::size_t begin = 0;
  for (const auto& [series, end] : ends) {
    const auto series_times = std::span(times_).subspan(begin, end - begin);
    const auto series_values = std::span(values_).subspan(begin, end - begin);
    const std::size_t count = put_in_order(series_times, series_values);
    if (count > 0) views.push_back({series, series_times.first(count), series_values.first(count)});
    begin = end;
  }
  return views;
}

Segment merge_segments(std::vector<Segment>& segments) {
  std::stable_sort(segments.begin(), segments.end(),
                   [](const Segment& a, const Segment& b) { return a.order < b.order; });
  Segment merged = std::move(segments.front());
  for (std::size_t i = 1; i < segments.size(); ++i) {
    merged.order = std::max(merged.order, segments[i].order);
    merged.times.insert(merged.times.end(), segments[i].times.begin(), segments[i].times.end());
    merged.values.insert(merged.values.end(), segments[i].values.begin(), segments[i].values.end());
  }
  segments.clear();
  put_in_order(merged.times, merged.values);
  return merged;
}

void cut_into_blocks(std::span<const ColumnView> columns,
                     const std::function<void(std::span<const ColumnView>)>& each) {
  if (columns.empty()) return;
  const ColumnView& longest = *std::max_element(
      columns.begin(), columns.end(),
      [](const ColumnView& a, const ColumnView& b) { return a.times.size() < b.times.size(); });
  const std::size_t rows = std::max<std::size_t>(samples_of_a_block / columns.size(), 1);
  // A rest of less than half a block goes with the stretch before it.
  std::vector<std::int64_t> cuts;
  for (std::size_t at = rows; at + rows / 2 < longest.times.size(); at += rows)
    cuts.push_back(longest.times[at]);

  std::vector<std::size_t> begin(columns.size(), 0);
  std::vector<ColumnView> part;
  for (std::size_t c = 0; c <= cuts.size(); ++c) {
    part.clear();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const ColumnView& column = columns[i];
      const auto from = column.times.begin() + static_cast<std::ptrdiff_t>(begin[i]);
      const auto to =
          c == cuts.size() ? column.times.end() : std::lower_bound(from, column.times.end(), cuts[c]);
      const auto count = static_cast<std::size_t>(to - from);
      if (count > 0)
        part.push_back(
            {column.series, column.times.subspan(begin[i], count), column.values.subspan(begin[i], count)});
      begin[i] += count;
    }
    if (!part.empty()) each(part);
  }
}

}  // namespace weir::store
