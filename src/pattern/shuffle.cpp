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

std::optional<Period> period_of(const Pattern& pattern, const AccessTable& table) {
  Period period;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = 0;
  for (const Use& use : table.uses) {
    const Shape& shape = pattern.shapes[use.shape];
    const auto outermost = std::find_if(shape.levels.begin(), shape.levels.end(),
                                        [](const Level& level) { return level.count > 1; });
    if (outermost == shape.levels.end()) return std::nullopt;
    if (period.parts == 1) period.parts = outermost->count, period.stride = outermost->stride;
    if (period.parts != outermost->count || period.stride != outermost->stride) return std::nullopt;
    begin = std::min(begin, use.offset);
    end = std::max(end, use.offset + static_cast<std::int64_t>(span(shape)) -
                            static_cast<std::int64_t>(period.parts - 1) * period.stride);
  }
  if (period.parts == 1 || end - begin > period.stride) return std::nullopt;
  period.begin = begin;
  period.length = end - begin;
  return period;
}

Domains even_domains_of_calls(const Pattern& pattern, const AccessTable& table, std::uint64_t count,
                              std::uint64_t calls) {
  if (calls <= 1) return even_domains(pattern, table, count);
  if (count == 0) throw std::logic_error("file domains need a count above 0");
  const Totals totals = pattern.totals(table);
  const auto whole = static_cast<std::uint64_t>(totals.end - totals.begin);
  std::uint64_t each = (whole + calls - 1) / calls, length = each;
  if (const auto period = period_of(pattern, table); period && period->parts == calls) {
    each = static_cast<std::uint64_t>(period->stride);
    length = static_cast<std::uint64_t>(period->length);
  }
  Domains domains{.edges = {}, .calls = calls};
  const std::uint64_t part = (length + count - 1) / count;
  for (std::uint64_t call = 0; call < calls; ++call)
    for (std::uint64_t domain = 0; domain < count; ++domain)
      domains.edges.push_back(totals.begin + static_cast<std::int64_t>(std::min(
                                                 whole, call * each + std::min(domain * part, each))));
  domains.edges.push_back(totals.end);
  return domains;
}

namespace {

using Row = std::vector<std::pair<std::uint32_t, double>>;

void check_edges(const Domains& domains) {
  if (domains.edges.empty() || !std::is_sorted(domains.edges.begin(), domains.edges.end()))
    throw std::logic_error("the edges of file domains do not ascend");
  if (domains.calls == 0 || (domains.edges.size() - 1) % domains.calls != 0)
    throw std::logic_error("the calls have different numbers of file domains");
}

// What one rank has in each domain, in order of domains.
void fill_row(const Pattern& pattern, std::span<const Use> uses, const Domains& domains, Row& row) {
  const std::vector<std::int64_t>& edges = domains.edges;
  const auto count = static_cast<std::ptrdiff_t>(domains.count());
  row.clear();
  for (const Use& use : uses) {
    const Shape& shape = pattern.shapes[use.shape];
    std::int64_t at = next_byte(shape, use.offset, edges.front());
    std::uint64_t below = bytes_below(shape, use.offset, at);
    while (at < edges.back()) {
      const auto edge = std::upper_bound(edges.begin(), edges.end(), at);
      const std::uint64_t up_to = bytes_below(shape, use.offset, *edge);
      row.emplace_back(static_cast<std::uint32_t>((edge - edges.begin() - 1) % count),
                       static_cast<double>(up_to - below) * use.repeat);
      below = up_to;
      at = next_byte(shape, use.offset, *edge);
    }
  }
  std::sort(row.begin(), row.end());
  std::size_t last = 0;
  for (std::size_t at = 1; at < row.size(); ++at) {
    if (row[at].first == row[last].first) {
      row[last].second += row[at].second;
    } else {
      row[++last] = row[at];
    }
  }
  if (!row.empty()) row.resize(last + 1);
}

// The most bytes of a shape that lie within any `length` bytes of the file, or more than that.
double most_within(const Shape& shape, std::uint64_t length) {
  std::uint64_t inner_span = shape.block;
  double most = static_cast<double>(std::min(shape.block, length));
  for (std::size_t at = shape.levels.size(); at-- > 0;) {
    const Level& level = shape.levels[at];
    if (level.count == 1) continue;
    const auto stride = static_cast<std::uint64_t>(level.stride);
    most *= static_cast<double>(std::min(level.count, (length - 1 + inner_span - 1) / stride + 1));
    inner_span += (level.count - 1) * stride;
  }
  return most;
}

}  // namespace

std::optional<SparseMatrix> shuffle_up_to(std::uint64_t most_values, const Pattern& pattern,
                                          const AccessTable& table, const Domains& domains) {
  check_edges(domains);
  Row row;
  constexpr std::uint64_t sample = 64;
  if (pattern.ranks > sample) {
    double values = 0;
    for (std::uint64_t i = 0; i < sample; ++i) {
      fill_row(pattern, table.of(i * pattern.ranks / sample), domains, row);
      values += static_cast<double>(row.size());
    }
    constexpr double surely = 1.25;
    if (values / sample * static_cast<double>(pattern.ranks) > surely * static_cast<double>(most_values))
      return std::nullopt;
  }
  SparseMatrix matrix{.rows = pattern.ranks, .columns = domains.count()};
  matrix.row_begin.reserve(pattern.ranks + 1);
  for (std::uint64_t rank = 0; rank < pattern.ranks; ++rank) {
    fill_row(pattern, table.of(rank), domains, row);
    if (matrix.column.size() + row.size() > most_values) return std::nullopt;
    for (const auto& [domain, bytes] : row) {
      matrix.column.push_back(domain);
      matrix.value.push_back(bytes);
    }
    matrix.row_begin.push_back(matrix.column.size());
  }
  return matrix;
}

SparseMatrix shuffle(const Pattern& pattern, const AccessTable& table, const Domains& domains) {
  return *shuffle_up_to(UINT64_MAX, pattern, table, domains);
}

double most_in_one_domain(const Pattern& pattern, const AccessTable& table, const Domains& domains) {
  check_edges(domains);
  std::int64_t widest = 0;
  for (std::size_t domain = 0; domain + 1 < domains.edges.size(); ++domain)
    widest = std::max(widest, domains.edges[domain + 1] - domains.edges[domain]);
  if (widest == 0) return 0;
  double total = 0, most = 0;
  for (const Use& use : table.uses) {
    const Shape& shape = pattern.shapes[use.shape];
    const auto all = static_cast<double>(bytes(shape));
    total += all * use.repeat;
    const double in_call = most_within(shape, static_cast<std::uint64_t>(widest));
    most += std::min(all, in_call * static_cast<double>(domains.calls)) * use.repeat;
  }
  return total > 0 ? most / total : 0;
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
