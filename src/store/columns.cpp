#include "store/columns.hpp"

#include <algorithm>
#include <numeric>

namespace weir::store {

void put_in_order(std::vector<std::int64_t>& times, std::vector<std::uint64_t>& values) {
  if (std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) == times.end()) return;
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  std::vector<std::int64_t> sorted_times;
  std::vector<std::uint64_t> sorted_values;
  sorted_times.reserve(times.size());
  sorted_values.reserve(times.size());
  for (const std::size_t i : order) {
    if (!sorted_times.empty() && sorted_times.back() == times[i]) {
      sorted_values.back() = values[i];
    } else {
      sorted_times.push_back(times[i]);
      sorted_values.push_back(values[i]);
    }
  }
  times = std::move(sorted_times);
  values = std::move(sorted_values);
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
