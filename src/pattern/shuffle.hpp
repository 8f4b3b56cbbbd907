// The shuffle: the true bytes between each rank and each file domain in collective I/O.
//
// Two-phase: the range that is accessed is cut into contiguous domains, one for each aggregator. Dynamic
// segmentation: ranks form groups, and a group's aggregator takes whatever its ranks touch.
//
// Threads: plain functions of their arguments.
#pragma once

#include <optional>

#include "pattern/pattern.hpp"
#include "pattern/sparse_matrix.hpp"

namespace weir::pattern {

// Contiguous file domains: domain d is [edges[d], edges[d + 1]). Ascending; a domain may be empty. With
// several calls, each part of the file that a call touches is cut by itself, and domain d is that of all of
// them.
struct Domains {
  std::vector<std::int64_t> edges{0};
  std::uint64_t calls = 1;
  std::uint64_t count() const { return (edges.size() - 1) / calls; }
};

// The range that the table touches in `count` parts of equal size (the last one may be smaller, or empty),
// whose inner edges are multiples of `alignment`. Throws std::logic_error for a count or alignment of 0.
Domains even_domains(const Pattern& pattern, const AccessTable& table, std::uint64_t count,
                     std::uint64_t alignment = 1);

// What is touched `parts` times, each time a stride further on, without an overlap: time steps, it may be, or
// the rows of one array. None if the accesses do not all repeat alike.
struct Period {
  std::uint64_t parts = 1;
  std::int64_t stride = 0;
  std::int64_t begin = 0, length = 0;  // of the first part
};
std::optional<Period> period_of(const Pattern& pattern, const AccessTable& table);

// The same where the file is touched by several collective calls, one part after the other: the parts of
// period_of() if there are as many, else equal ones. Throws std::logic_error for a count of 0.
Domains even_domains_of_calls(const Pattern& pattern, const AccessTable& table, std::uint64_t count,
                              std::uint64_t calls);

// Ranks by domains: bytes, repetitions included. What lies outside of all domains is left out.
// REQUIRES: pattern.check().
SparseMatrix shuffle(const Pattern& pattern, const AccessTable& table, const Domains& domains);

// The same, unless it would have more than `most_values` values: 12 bytes each. Where it would, that is
// noticed from a few ranks, nearly always before the work is done.
std::optional<SparseMatrix> shuffle_up_to(std::uint64_t most_values, const Pattern& pattern,
                                          const AccessTable& table, const Domains& domains);

// A share of the bytes, at least that which ranks have in the one domain they feed most. Looks at shapes
// only, so that it takes no time where the shuffle itself cannot be had.
double most_in_one_domain(const Pattern& pattern, const AccessTable& table, const Domains& domains);

// Dynamic segmentation: ranks by groups. REQUIRES: group_of names a group below `groups` for every rank.
SparseMatrix shuffle_in_groups(const Pattern& pattern, const AccessTable& table,
                               std::span<const std::uint32_t> group_of, std::uint64_t groups);

}  // namespace weir::pattern
