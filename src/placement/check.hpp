// What must hold of roles and placements whatever algorithm made them; every test that makes one asks here.
//
// Threads: plain functions of their arguments.
#pragma once

#include "placement/placement.hpp"
#include "placement/roles.hpp"
#include "platform/platform.hpp"

namespace weir {

// Servers are ascending, some rank computes, every compute rank has one server, every server has a compute
// rank, and compute ranks of a group are dealt evenly: a server has at most two more than compute_per_server,
// unless servers are on nodes of their own. Mappings without servers have none. Within nodes, a rank is
// served on its node unless one of the two is alone on its own.
Status check(const RolesRequest& request, const Roles& roles);

// Ranks are where the mapping says: on hardware threads that exist and may be used, none used twice but by
// oversubscribe; and each server that shares a node with one of its compute ranks is on another core
// (consecutive), on another thread of the core of one of them (hyperthread), or on the same thread
// (oversubscribe).
Status check(const Roles& roles, const Placement& placement, const Platform& platform);

}  // namespace weir
