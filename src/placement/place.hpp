// From roles and nodes to hardware threads.
//
// - sequential: the next core of the node; so are compute ranks of the other mappings.
// - consecutive: servers are on the next cores too, behind the compute ranks if their ranks are higher.
// - hyperthread: a server is on the second hardware thread of its first compute rank's core, oversubscribe:
//   on the same hardware thread. A server none of whose compute ranks is on its node takes the next core.
// - thread: the cores of the node are dealt out evenly, so that cores that would be idle do the I/O.
//
// A core's first hardware thread that may be used stands for it. Threads: plain function of its arguments.
#pragma once

#include "placement/placement.hpp"
#include "placement/roles.hpp"
#include "platform/platform.hpp"

namespace weir {

// In PlaceRequest::node_of: on a node that the platform does not have. Such ranks get no hardware threads.
inline constexpr std::uint32_t elsewhere = UINT32_MAX;

struct PlaceRequest {
  std::uint32_t ranks = 0;
  Roles roles;      // as assign_roles() makes them
  Numbers node_of;  // by rank, into Platform::nodes, or elsewhere
};

// The hosts of the result are the nodes that are used. Fails if a node has not enough cores, or hyperthread
// finds one hardware thread a core. REQUIRES: check(platform).
Result<Placement> place_ranks(const PlaceRequest& request, const Platform& platform);

// The same nodes without hardware threads: the operating system moves the ranks about, more of them than
// there are cores.
Result<Placement> place_ranks_unbound(const PlaceRequest& request, const Platform& platform);

}  // namespace weir
