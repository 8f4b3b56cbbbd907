// Constant-time questions about a Platform, for loops over a million ranks.
//
// Ownership: a lookup copies what it needs. REQUIRES: check() of the node type or platform holds.
// Threads: read-only after construction.
#pragma once

#include <optional>

#include "platform/platform.hpp"

namespace weir {

class NodeLookup {
 public:
  explicit NodeLookup(const NodeType& type);

  std::optional<std::uint32_t> core_of(std::uint32_t pu) const;  // none: no such hardware thread
  const Numbers& pus_of(std::uint32_t core) const { return pus_of_[core]; }
  Numbers siblings(std::uint32_t pu) const;  // the other threads of its core
  bool usable(std::uint32_t pu) const;       // exists, and cgroup and affinity mask allow it
  std::uint32_t package_of(std::uint32_t core) const {
    return package_of_[core];
  }  // index into NodeType::packages
  std::uint32_t numa_of(std::uint32_t core) const {
    return numa_of_[core];
  }  // the narrowest domain, into NodeType::numa_domains

  // The smallest part of the node that holds both cores. Where a cache and a NUMA domain hold the same cores
  // it is the cache.
  Level common_level(std::uint32_t core_a, std::uint32_t core_b) const;

 private:
  struct Enclosing {
    CoreSpan cores;
    Level level;
  };
  static constexpr std::uint32_t absent = UINT32_MAX;

  std::vector<std::uint32_t> core_of_;  // by hardware thread
  std::vector<char> usable_;            // by hardware thread
  std::vector<Numbers> pus_of_;
  std::vector<std::uint32_t> package_of_, numa_of_;
  std::vector<std::vector<Enclosing>> enclosing_;  // by core, smallest first
};

// A core of the whole platform.
struct CorePlace {
  std::uint32_t node = 0;
  std::uint32_t core = 0;
};

class PlatformLookup {
 public:
  explicit PlatformLookup(const Platform& platform);

  const NodeLookup& node(std::uint32_t node) const { return types_[type_of_[node]]; }
  // `network_switch` when both nodes are plugged into the same switch.
  Level common_level(CorePlace a, CorePlace b) const;

 private:
  std::vector<NodeLookup> types_;
  std::vector<std::uint32_t> type_of_;    // by node
  std::vector<std::uint32_t> switch_of_;  // by node: the switch it is plugged into, or no_switch
};

}  // namespace weir
