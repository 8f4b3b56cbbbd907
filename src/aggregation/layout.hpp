// Which ranks are aggregators, and in which order file domains are dealt to them.
//
//   blocked (Figure 5.3a of EARTH)      the first ranks, in rank order
//   round_robin (rr, Figure 5.3b)       one rank of each node, then the second of each, and so on
//   striping-aware (agg, Figure 5.1b)   renumbered so that neighbours in the order stand on different paths
//   to the targets
//
// Threads: pure functions of values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregation/striping.hpp"
#include "core/error.hpp"

namespace weir::aggregation {

// Which node each rank is on: numbers from 0, without gaps, in order of each node's lowest rank.
struct Nodes {
  std::vector<std::uint32_t> of_rank;
  std::uint32_t count = 0;

  static Nodes of(std::span<const std::uint64_t> name_of_rank);  // equal names, same node
  static Nodes regular(std::uint32_t nodes, std::uint32_t ranks_per_node);
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(of_rank.size()); }
  std::vector<std::vector<std::uint32_t>> ranks_by_node() const;  // ascending
};
Status check(const Nodes& nodes);

// Aggregators by rank, in serving order.
using Layout = std::vector<std::uint32_t>;

Layout blocked(const Nodes& nodes, std::uint32_t count);
Layout round_robin(const Nodes& nodes, std::uint32_t count);

// The same ranks renumbered. `path_of_node`: which way to the storage each node's traffic takes; empty: nodes
// are dealt to as many paths as there are targets, in blocks.
Layout striping_aware(const Layout& layout, const Nodes& nodes, std::uint32_t targets,
                      std::span<const std::uint32_t> path_of_node = {});

// Every rank exists and none is there twice; at least one.
Status check(const Layout& layout, const Nodes& nodes);

// How many aggregators suit: one per node. Where the number of targets is known: a multiple of that, so that
// every target has equally many, or as few as need not serve more targets each than one per node would.
std::uint32_t suitable_count(const Nodes& nodes, std::uint32_t targets);

}  // namespace weir::aggregation
