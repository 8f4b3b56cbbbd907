// Roles: which ranks compute, which serve I/O, and who serves whom. Computed without MPI, at start-up by each
// rank for itself: the same request gives the same roles everywhere.
//
// The rule, for k compute ranks per server:
// - A group is the ranks of a node. Its low ranks compute, its high ranks serve: n ranks give ceil(n / (1 +
//   k)) servers, but never more servers than compute ranks (of 3 ranks with k = 1, two compute). Compute
//   ranks are dealt to the servers of their group in order and evenly.
// - With a node size S (NODESIZE of iocomp) a group is a block of S + ceil(S / k) ranks instead, 2 S for
//   k = 1, whatever node they are on; a last block that is not full is split by the same rule.
// - Nodes with a single rank cannot split it. Such ranks are taken together, node after node, in groups of at
//   most 1 + k (2 or 3 for k = 1); the last one of a group serves. If there is just one of them (or a last
//   block of one rank), it computes and joins the last server of the group before it, or after it if it is
//   the first.
// - With nodes of their own for the servers, a group is up to 1 + k whole nodes, and its last node serves. If
//   that one has more ranks than the others together, the group's smallest node serves instead.
//
// So every server has a compute rank, and every compute rank one server. Linear in the number of ranks.
//
// Threads: plain functions of their arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "platform/numbers.hpp"

namespace weir {

// More ranks than this are refused.
inline constexpr std::uint32_t most_ranks = 1U << 24;

struct Roles {
  std::string mapping =
      "sequential";   // the rule that made the rest: sequential, consecutive, hyperthread, ...
  Numbers servers;    // ranks that serve I/O, ascending; all others compute
  Numbers server_of;  // of the first compute rank, of the second, ...; empty: left to the run
  bool operator==(const Roles&) const = default;
};

// Where the servers are put. One declaration for checks, messages and help.
struct Mapping {
  std::string_view name;
  std::string_view what;  // one line, for --help
  bool servers;           // some ranks do nothing but I/O
};
const std::vector<Mapping>& mappings();
Result<Mapping> find_mapping(std::string_view name);

struct RolesRequest {
  std::string mapping;
  std::uint32_t ranks = 0;             // all of them
  std::vector<std::uint32_t> node_of;  // by rank, any numbers; empty: ranks are numbered node by node
  std::uint32_t node_size = 0;         // iocomp's NODESIZE; 0: from node_of, and without it one node
  std::uint32_t compute_per_server = 1;
  bool own_nodes = false;  // servers on nodes of their own
};

// No servers for mappings without them (sequential, thread). Fails if there is no rank left to serve.
Result<Roles> assign_roles(const RolesRequest& request);

// How many of `ranks` in one group serve. REQUIRES: compute_per_server > 0.
std::uint32_t servers_among(std::uint32_t ranks, std::uint32_t compute_per_server);

// The servers that `compute` ranks need. REQUIRES: compute_per_server > 0.
std::uint32_t servers_for(std::uint32_t compute, std::uint32_t compute_per_server);

// Ascending. REQUIRES: roles.servers are ascending and below `ranks`.
Numbers compute_ranks(const Roles& roles, std::uint32_t ranks);

// By rank: the server of a compute rank; of a server, itself. REQUIRES: roles.server_of is for `ranks`.
Numbers server_by_rank(const Roles& roles, std::uint32_t ranks);

}  // namespace weir
