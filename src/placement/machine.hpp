// The machine as placement algorithms see it: how many ranks a node takes, and what a byte costs between two
// places. This is the architecture matrix of SetMatch in closed form: its element P_ij is the bandwidth of
// the closest level that two cores share.
//
// A level without a link of its own takes that of the next wider one of the node, or of the network. Where
// nothing is known, bandwidths are those of the SetMatch paper: 5800 MB/s within a node, 2100 MB/s between
// nodes; where one of the two is known, the other follows in the same proportion.
//
// Ownership: copies what it needs. Threads: read-only after construction.
#pragma once

#include <array>

#include "platform/lookup.hpp"
#include "platform/platform.hpp"

namespace weir {

inline constexpr double default_node_bandwidth = 5800e6;  // bytes a second
inline constexpr double default_network_bandwidth = 2100e6;

struct PlacementLimits {
  std::uint32_t ranks_per_node = 0;   // 0: as many as there are cores, or slots where they are fewer
  std::uint64_t memory_per_rank = 0;  // bytes; 0: memory is no limit
};

class Machine {
 public:
  // Fails if a memory limit is set and the memory of a node is not known, or no node takes a rank.
  // REQUIRES: check(platform).
  static Result<Machine> of(const Platform& platform, const PlacementLimits& limits = {});

  // The same machine with at most so many ranks on a node.
  Machine limited(std::uint32_t ranks_per_node) const;

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(capacity_.size()); }
  std::uint32_t capacity(std::uint32_t node) const { return capacity_[node]; }
  const Numbers& capacities() const { return capacity_; }
  std::uint32_t largest_capacity() const { return largest_; }
  std::uint64_t total_capacity() const { return total_; }

  // The cores that ranks take on the node, in this order; at least capacity(node) of them.
  const Numbers& cores(std::uint32_t node) const { return cores_[type_of_[node]]; }
  // The same node type, memory and slots: ranks of two such nodes can change places as a whole.
  bool alike(std::uint32_t a, std::uint32_t b) const {
    return type_of_[a] == type_of_[b] && capacity_[a] == capacity_[b];
  }

  double seconds_per_byte(Level level) const { return cost_[static_cast<std::size_t>(level)]; }
  double cost(CorePlace a, CorePlace b) const {
    if (a.node != b.node && !switched_) return seconds_per_byte(Level::machine);
    if (a.node == b.node && flat_nodes_) return seconds_per_byte(Level::node);
    return seconds_per_byte(lookup_.common_level(a, b));
  }
  double cheapest_within_node() const;
  double cheapest_between_nodes() const;

  bool flat_nodes() const { return flat_nodes_; }  // all cores of a node are equally near to each other
  bool switched() const { return switched_; }      // nodes of one switch are nearer to each other than others
  std::uint32_t switch_of(std::uint32_t node) const { return switch_of_[node]; }

 private:
  explicit Machine(const Platform& platform);

  PlatformLookup lookup_;
  Numbers type_of_, switch_of_, capacity_;  // by node
  std::vector<Numbers> cores_;              // by node type
  std::array<double, level_count> cost_{};
  std::uint32_t largest_ = 0;
  std::uint64_t total_ = 0;
  bool flat_nodes_ = true, switched_ = false;
};

}  // namespace weir
