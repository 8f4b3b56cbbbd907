#include "placement/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "platform/lookup.hpp"

namespace weir {

namespace {

template <class... Arguments>
tl::unexpected<Failure> broken(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return fail(ErrorCode::invalid_argument, fmt::format(format, std::forward<Arguments>(arguments)...));
}

Status check_pairs(const Roles& roles, std::uint32_t ranks) {
  for (std::size_t i = 0; i < roles.servers.size(); ++i) {
    if (roles.servers[i] >= ranks) return broken("server {} is no rank of {}", roles.servers[i], ranks);
    if (i > 0 && roles.servers[i - 1] >= roles.servers[i])
      return broken("server {} is out of order", roles.servers[i]);
  }
  if (roles.servers.size() + roles.server_of.size() != ranks)
    return broken("{} servers and {} compute ranks are not {} ranks", roles.servers.size(),
                  roles.server_of.size(), ranks);
  for (const std::uint32_t server : roles.server_of) {
    if (!std::binary_search(roles.servers.begin(), roles.servers.end(), server))
      return broken("rank {} is said to serve and does not", server);
  }
  return {};
}

// Compute ranks of each server, by rank.
Numbers count_clients(const Roles& roles, std::uint32_t ranks) {
  Numbers clients(ranks, 0);
  for (const std::uint32_t server : roles.server_of) ++clients[server];
  return clients;
}

Status check_nodes(const RolesRequest& request, const Roles& roles) {
  const Numbers server = server_by_rank(roles, request.ranks);
  std::unordered_map<std::uint32_t, std::uint32_t> ranks_on;
  for (const std::uint32_t node : request.node_of) ++ranks_on[node];
  const Numbers& node_of = request.node_of;
  for (std::uint32_t rank = 0; rank < request.ranks; ++rank) {
    if (request.own_nodes) {
      if (server[rank] != rank && node_of[rank] == node_of[server[rank]])
        return broken("rank {} is served by rank {} on its own node", rank, server[rank]);
    } else if (node_of[rank] != node_of[server[rank]] && ranks_on[node_of[rank]] != 1) {
      return broken("rank {} is served by rank {} of another node", rank, server[rank]);
    }
  }
  return {};
}

}  // namespace

Status check(const RolesRequest& request, const Roles& roles) {
  WEIR_ASSIGN(const Mapping mapping, find_mapping(request.mapping));
  if (roles.mapping != request.mapping) return broken("the mapping became '{}'", roles.mapping);
  if (!mapping.servers) {
    if (roles.servers.empty() && roles.server_of.empty()) return {};
    return broken("mapping '{}' has servers", mapping.name);
  }
  if (roles.servers.empty()) return broken("no rank serves");
  if (roles.server_of.empty()) return broken("no rank computes");
  WEIR_TRY(check_pairs(roles, request.ranks));
  const Numbers clients = count_clients(roles, request.ranks);
  for (const std::uint32_t server : roles.servers) {
    if (clients[server] == 0) return broken("server {} has no compute rank", server);
    if (!request.own_nodes && clients[server] > std::uint64_t{request.compute_per_server} + 2)
      return broken("server {} has {} compute ranks", server, clients[server]);
  }
  if (!request.node_of.empty() && (request.node_size == 0 || request.own_nodes))
    return check_nodes(request, roles);
  return {};
}

Status check(const Roles& roles, const Placement& placement, const Platform& platform) {
  const auto ranks = static_cast<std::uint32_t>(placement.node_of.size());
  if (placement.pus_of.size() != ranks)
    return broken("{} ranks have a node, {} hardware threads", ranks, placement.pus_of.size());
  std::unordered_map<std::string_view, std::uint32_t> index;
  for (std::uint32_t i = 0; i < platform.nodes.size(); ++i) index.emplace(platform.nodes[i].name, i);
  std::vector<std::uint32_t> node_of;
  for (const std::uint32_t number : placement.node_of) {
    if (number >= placement.hosts.size()) return broken("node {} has no name", number);
    const auto found = index.find(placement.hosts[number]);
    if (found == index.end()) return broken("'{}' is no node", placement.hosts[number]);
    node_of.push_back(found->second);
  }
  const PlatformLookup lookup(platform);
  std::vector<std::uint64_t> uses;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (placement.pus_of[rank].empty()) return broken("rank {} has no hardware thread", rank);
    for (const std::uint32_t pu : placement.pus_of[rank]) {
      if (!lookup.node(node_of[rank]).usable(pu))
        return broken("rank {} is on hardware thread {}, which may not be used", rank, pu);
      uses.push_back(std::uint64_t{node_of[rank]} << 32U | pu);
    }
  }
  std::sort(uses.begin(), uses.end());
  const bool shared = std::adjacent_find(uses.begin(), uses.end()) != uses.end();
  if (shared && !placement.oversubscribe) return broken("ranks share a hardware thread");
  if (roles.servers.empty()) return {};

  WEIR_TRY(check_pairs(roles, ranks));
  const Numbers server = server_by_rank(roles, ranks);
  // Whether the server has a compute rank on its node, and one on its core or hardware thread.
  std::vector<char> near(ranks, 0), same_core(ranks, 0), same_pu(ranks, 0);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t s = server[rank];
    if (s == rank || node_of[s] != node_of[rank]) continue;
    near[s] = 1;
    const NodeLookup& node = lookup.node(node_of[s]);
    const std::uint32_t mine = placement.pus_of[rank][0];
    const std::uint32_t theirs = placement.pus_of[s][0];
    if (node.core_of(mine) == node.core_of(theirs)) same_core[s] = 1;
    if (mine == theirs) same_pu[s] = 1;
  }
  for (const std::uint32_t s : roles.servers) {
    if (near[s] == 0) continue;
    if (roles.mapping == "consecutive" && same_core[s] != 0)
      return broken("server {} shares a core with a compute rank", s);
    if (roles.mapping == "hyperthread" && (same_core[s] == 0 || same_pu[s] != 0))
      return broken("server {} is not on another thread of a compute rank's core", s);
    if (roles.mapping == "oversubscribe" && same_pu[s] == 0)
      return broken("server {} is not on the hardware thread of a compute rank", s);
  }
  return {};
}

}  // namespace weir
