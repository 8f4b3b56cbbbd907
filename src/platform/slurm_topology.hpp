// Switches as Slurm knows them: topology.conf of its tree plugin, or what `scontrol show topology` prints.
//
//   # a comment; a line can go on with a backslash
//   SwitchName=leaf0 Nodes=node[0-15]
//   SwitchName=leaf1 Nodes=node[16-31] LinkSpeed=100
//   SwitchName=spine Switches=leaf[0-1]
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/platform.hpp"

namespace weir {

inline constexpr std::size_t largest_topology = std::size_t{64} << 20U;

struct TopologySwitch {
  std::string name;
  std::vector<std::string> nodes, switches;  // plugged into it
  bool operator==(const TopologySwitch&) const = default;
};

// Failures name the line. Names are unique, switches that are named exist, each has at most one parent, each
// node one switch, and there is no cycle.
Result<std::vector<TopologySwitch>> parse_topology(std::string_view text);

// The platform's nodes get their switches; every one of them must be in the topology, whose other nodes do
// not matter. With `take_nodes` the platform, which must have one node type, gets the topology's nodes
// instead.
Status use_topology(Platform& platform, const std::vector<TopologySwitch>& topology, bool take_nodes);

}  // namespace weir
