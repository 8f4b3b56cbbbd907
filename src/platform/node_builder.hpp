// Builds a NodeType from a walk over a hardware tree, parents before children: the one place where a tree (of
// hwloc, or read from its XML) becomes spans of cores.
//
// REQUIRES: begin() and end() are paired. Threads: one builder, one thread.
#pragma once

#include "platform/platform.hpp"

namespace weir {

class NodeBuilder {
 public:
  enum class Kind { machine, package, numa, memory_cache, cache, core, pu, other };

  struct Object {
    Kind kind = Kind::other;
    std::uint32_t os_number = 0;    // of a PU or a NUMA domain
    std::uint32_t cache_level = 0;  // of a cache
    std::uint64_t bytes = 0;        // of a cache, or the memory of a NUMA domain or a machine
  };

  Status begin(const Object& object);
  void end();
  void set_model(std::string_view model);  // the first one is kept

  // Supplies what the tree left out (one package, one NUMA domain), sorts, and checks.
  Result<NodeType> finish(std::string name);

 private:
  struct Open {
    Object object;
    std::uint32_t first_core = 0;
    std::vector<NumaDomain> domains;  // memory attached here: near to all cores below
  };

  NodeType type_;
  std::vector<Open> open_;
  std::uint64_t machine_memory_ = 0;
  bool in_core_ = false;
};

}  // namespace weir
