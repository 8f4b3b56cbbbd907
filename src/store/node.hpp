// Nodes with their places and roles, and the topology that gives the places a meaning.
//
// Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"

namespace weir::store {

// The roles of the seed's machine: boot-I/O nodes start the system, global-I/O nodes are gateways to the
// global file system, local-I/O nodes are the object storage servers of the local one.
enum class NodeRole { compute, boot_io, global_io, local_io };

std::string_view to_string(NodeRole role);  // "compute", "boot-io", "global-io", "local-io"
std::optional<NodeRole> node_role(std::string_view name);

struct Node {
  std::string name;
  NodeRole role = NodeRole::compute;
  std::vector<std::int32_t> coordinates;  // along the topology's dimensions; empty: not known
  std::string rack;                       // may be empty
  std::vector<std::string> targets;       // the OSTs it serves, as the component of their series is called
  std::vector<std::string> servers;       // who serves it, by the rule "table"; else empty

  bool operator==(const Node&) const = default;
};

struct Dimension {
  std::string name;         // "X"
  std::int32_t extent = 0;  // coordinates run from 0 to extent - 1
  bool wraps = false;       // a torus, else a mesh

  bool operator==(const Dimension&) const = default;
};

struct Topology {
  std::string name;                   // "k-computer"
  std::vector<Dimension> dimensions;  // slowest first
  std::vector<std::string> links;     // of every node, as the component of their series is called: "X+"
  double link_bytes_per_second = 0;   // one direction; 0: not known
  double clock_hz = 0;                // of counters in cycles; 0: not known
  // How a job's nodes lead to the servers that serve it: "z-link" (the I/O nodes that differ only in Z),
  // "all" (every server serves every job), or "table" (`servers` of the job's nodes in the node table).
  std::string serving_rule = "all";

  bool operator==(const Topology&) const = default;
};

Json to_json(const Topology& topology);
Result<Topology> topology_from_json(const Json& json);

Status check(const Node& node);
Status check(const Topology& topology);

}  // namespace weir::store
