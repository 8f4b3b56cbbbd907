// Layout: how many ranks a mapping needs, and how many of them go to which node. Servers come on top of the
// compute ranks: n compute ranks of a node bring ceil(n / k) servers with them, for k compute ranks per
// server. Ranks are numbered node by node.
//
// - On a node of C cores, sequential, thread, hyperthread and oversubscribe have room for C compute ranks,
//   consecutive for as many as leave the servers a core each.
// - With a node size S (NODESIZE of iocomp) a node has S cores, whatever else it has. consecutive then fills
//   nodes with S ranks one after the other, so that the servers of S compute ranks are on the next node.
// - With own_nodes, servers are on nodes of their own, each behind the k compute nodes it serves.
//
// Threads: plain functions of their arguments.
#pragma once

#include "placement/roles.hpp"
#include "platform/platform.hpp"

namespace weir {

struct LayoutRequest {
  std::string mapping;
  std::uint32_t compute = 0;    // compute ranks; 0: as many as the nodes have room for
  std::uint32_t node_size = 0;  // 0: the cores of the node, or its slots
  std::uint32_t compute_per_server = 1;
  bool own_nodes = false;
  bool spread = false;    // over all nodes, evenly; else a node is filled before the next is used
  bool overfull = false;  // where there are not enough cores: more ranks than cores, and Layout::overfull
};

struct Layout {
  std::uint32_t ranks = 0;
  Numbers node_of;  // by rank, into Platform::nodes; never descending
  bool overfull = false;
};

// Fails if the platform has not enough nodes or cores, unless overfull is allowed, or if hyperthread finds a
// single hardware thread a core. REQUIRES: check(platform).
Result<Layout> lay_out(const LayoutRequest& request, const Platform& platform);

// How many nodes like the platform's first one the compute ranks fill. REQUIRES: request.compute > 0.
Result<std::uint32_t> nodes_needed(const LayoutRequest& request, const Platform& platform);

}  // namespace weir
