#include "pattern/shuffle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir::pattern {

Domains even_domains(const Pattern& pattern, const AccessTable& table, std::uint64_t count,
                     std::uint64_t alignment) {
  if (count == 0 || alignment == 0)
    throw std::logic_error("file domains need a count and an alignment above 0");
  const Totals totals = pattern.totals(table);
  const auto begin = static_cast<std::uint64_t>(totals.begin), end = static_cast<std::uint64_t>(totals.end);
  const std::uint64_t each = (end - begin + count - 1) / count;
  Domains domains{{totals.begin}};
  for (std::uint64_t domain = 1; domain < count; ++domain) {
    std::uint64_t edge = std::min(end, begin + domain * each);
    // Up to the next multiple; what that takes from the last domain may leave it empty.
    if (edge % alignment != 0) edge = std::min(end, edge + (alignment - edge % alignment));
    domains.edges.push_back(static_cast<std::int64_t>(edge));
  }
  domains.edges.push_back(totals.end);
  return domains;
}

SparseMatrix shuffle(const Pattern& pattern, const AccessTable& table, const Domains& domains) {
  if (domains.edges.empty() || !std::is_sorted(domains.edges.begin(), domains.edges.end()))
    throw std::logic_error("the edges of file domains do not ascend");
  SparseMatrix matrix{.rows = pattern.ranks, .columns = domains.count()};
  matrix.row_begin.reserve(pattern.ranks + 1);
  const std::vector<std::int64_t>& edges = domains.edges;
  std::vector<std::pair<std::uint32_t, double>> row;
  for (std::uint64_t rank = 0; rank < pattern.ranks; ++rank) {
    row.clear();
    for (const Use& use : table.of(rank)) {
      const Shape& shape = pattern.shapes[use.shape];
      std::int64_t at = next_byte(shape, use.offset, edges.front());
      std::uint64_t below = bytes_below(shape, use.offset, at);
      while (at < edges.back()) {
        const auto edge = std::upper_bound(edges.begin(), edges.end(), at);
        const std::uint64_t up_to = bytes_below(shape, use.offset, *edge);
        row.emplace_back(static_cast<std::uint32_t>(edge - edges.begin() - 1),
                         static_cast<double>(up_to - below) * use.repeat);
        below = up_to;
        at = next_byte(shape, use.offset, *edge);
      }
    }
    std::sort(row.begin(), row.end());
    for (std::size_t at = 0; at < row.size();) {
      const std::uint32_t domain = row[at].first;
      double sum = 0;
      for (; at < row.size() && row[at].first == domain; ++at) sum += row[at].second;
      matrix.column.push_back(domain);
      matrix.value.push_back(sum);
    }
    matrix.row_begin.push_back(matrix.column.size());
  }
  return matrix;
}

SparseMatrix shuffle_in_groups(const Pattern& pattern, const AccessTable& table,
                               std::span<const std::uint32_t> group_of, std::uint64_t groups) {
  if (group_of.size() != pattern.ranks)
    throw std::logic_error(fmt::format("{} ranks, but {} have a group", pattern.ranks, group_of.size()));
  SparseMatrix matrix{.rows = pattern.ranks, .columns = groups};
  matrix.row_begin.reserve(pattern.ranks + 1);
  for (std::uint64_t rank = 0; rank < pattern.ranks; ++rank) {
    if (group_of[rank] >= groups)
      throw std::logic_error(fmt::format("group {} does not exist", group_of[rank]));
    double sum = 0;
    for (const Use& use : table.of(rank))
      sum += static_cast<double>(bytes(pattern.shapes[use.shape])) * use.repeat;
    if (sum > 0) {
      matrix.column.push_back(group_of[rank]);
      matrix.value.push_back(sum);
    }
    matrix.row_begin.push_back(matrix.column.size());
  }
  return matrix;
}

}  // namespace weir::pattern
