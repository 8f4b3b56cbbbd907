#include "placement/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "placement/cores.hpp"

namespace weir {

namespace {

constexpr std::uint32_t nobody = UINT32_MAX;

Status check_request(const PlaceRequest& request, const Platform& platform) {
  WEIR_ASSIGN(const Mapping mapping, find_mapping(request.roles.mapping));
  if (request.node_of.size() != request.ranks) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} ranks, but {} have a node", request.ranks, request.node_of.size()));
  }
  for (std::uint32_t rank = 0; rank < request.ranks; ++rank) {
    if (request.node_of[rank] != elsewhere && request.node_of[rank] >= platform.nodes.size()) {
      return fail(ErrorCode::invalid_argument, fmt::format("rank {} is on node {}, there are {} nodes", rank,
                                                           request.node_of[rank], platform.nodes.size()));
    }
  }
  const Numbers& servers = request.roles.servers;
  if (mapping.servers && (servers.empty() || servers.back() >= request.ranks ||
                          servers.size() + request.roles.server_of.size() != request.ranks)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the roles are not for {} ranks of mapping '{}'", request.ranks, mapping.name));
  }
  return {};
}

// Numbers the nodes that are used, in the platform's order, and names them.
void name_hosts(const PlaceRequest& request, const Platform& platform, Placement& placement) {
  Numbers number(platform.nodes.size(), nobody);
  for (const std::uint32_t node : request.node_of)
    if (node != elsewhere) number[node] = 0;
  for (std::size_t node = 0; node < number.size(); ++node) {
    if (number[node] == nobody) continue;
    number[node] = static_cast<std::uint32_t>(placement.hosts.size());
    placement.hosts.push_back(platform.nodes[node].name);
  }
  placement.node_of.reserve(request.ranks);
  for (const std::uint32_t node : request.node_of)
    placement.node_of.push_back(node == elsewhere ? elsewhere : number[node]);
}

class Placer {
 public:
  Placer(const PlaceRequest& request, const Platform& platform)
      : request_(request),
        platform_(platform),
        mapping_(request.roles.mapping),
        core_of_(request.ranks, nobody),
        next_core_(platform.nodes.size(), 0) {
    const std::uint32_t threads = mapping_ == "hyperthread" ? 2 : 1;
    for (const NodeType& type : platform.node_types) cores_.push_back(usable_cores(type, threads));
  }

  Result<NumberLists> place() {
    if (mapping_ == "thread") return deal_cores();
    server_of_ = request_.roles.servers.empty() ? Numbers() : server_by_rank(request_.roles, request_.ranks);
    const bool shares = mapping_ == "hyperthread" || mapping_ == "oversubscribe";
    for (std::uint32_t rank = 0; rank < request_.ranks; ++rank) {
      if (!shares || !serves(rank)) WEIR_TRY(take_core(rank));
    }
    thread_of_.assign(request_.ranks, 0);
    if (shares) WEIR_TRY(share_cores());
    NumberLists pus;
    pus.reserve(request_.ranks);
    for (std::uint32_t rank = 0; rank < request_.ranks; ++rank) {
      if (is_elsewhere(rank))
        pus.add(Numbers());
      else
        pus.add(cores(request_.node_of[rank])[core_of_[rank]][thread_of_[rank]]);
    }
    return pus;
  }

 private:
  bool is_elsewhere(std::uint32_t rank) const { return request_.node_of[rank] == elsewhere; }
  bool serves(std::uint32_t rank) const { return !server_of_.empty() && server_of_[rank] == rank; }
  const std::vector<Numbers>& cores(std::uint32_t node) const { return cores_[platform_.nodes[node].type]; }

  tl::unexpected<Failure> no_core(std::uint32_t node) const {
    const std::string& name = platform_.nodes[node].name;
    const NodeType& type = platform_.node_types[platform_.nodes[node].type];
    if (const Status possible = check_threads_for(mapping_, type, name); !possible)
      return tl::make_unexpected(possible.error());
    const auto ranks = std::count(request_.node_of.begin(), request_.node_of.end(), node);
    return fail(ErrorCode::invalid_argument,
                fmt::format("mapping '{}' puts {} ranks on node '{}', which has not enough cores: {}",
                            mapping_, ranks, name, cores(node).size()),
                "use fewer ranks or more nodes");
  }

  Status take_core(std::uint32_t rank) {
    if (is_elsewhere(rank)) return {};
    const std::uint32_t node = request_.node_of[rank];
    if (next_core_[node] >= cores(node).size()) return no_core(node);
    core_of_[rank] = next_core_[node]++;
    return {};
  }

  // Each server goes to the core of its first compute rank on the same node.
  Status share_cores() {
    for (std::uint32_t rank = 0; rank < request_.ranks; ++rank) {
      const std::uint32_t server = server_of_[rank];
      if (server == rank || core_of_[server] != nobody) continue;
      if (request_.node_of[server] != request_.node_of[rank]) continue;
      core_of_[server] = core_of_[rank];
      thread_of_[server] = mapping_ == "hyperthread" ? 1 : 0;
    }
    for (const std::uint32_t server : request_.roles.servers) {
      if (core_of_[server] == nobody) WEIR_TRY(take_core(server));
    }
    return {};
  }

  Result<NumberLists> deal_cores() const {
    Numbers ranks_on(platform_.nodes.size(), 0), next(platform_.nodes.size(), 0);
    for (const std::uint32_t node : request_.node_of)
      if (node != elsewhere) ++ranks_on[node];
    NumberLists pus;
    pus.reserve(request_.ranks);
    Numbers mine;
    for (std::uint32_t rank = 0; rank < request_.ranks; ++rank) {
      mine.clear();
      if (is_elsewhere(rank)) {
        pus.add(mine);
        continue;
      }
      const std::uint32_t node = request_.node_of[rank];
      const std::vector<Numbers>& all = cores(node);
      if (ranks_on[node] > all.size()) return no_core(node);
      const std::size_t begin = std::size_t{next[node]} * all.size() / ranks_on[node];
      const std::size_t end = std::size_t{++next[node]} * all.size() / ranks_on[node];
      for (std::size_t core = begin; core < end; ++core)
        mine.insert(mine.end(), all[core].begin(), all[core].end());
      std::sort(mine.begin(), mine.end());
      pus.add(mine);
    }
    return pus;
  }

  const PlaceRequest& request_;
  const Platform& platform_;
  const std::string& mapping_;
  std::vector<std::vector<Numbers>> cores_;  // by node type: the usable hardware threads of each core
  Numbers server_of_;                        // by rank; of a server, itself; empty: no servers
  Numbers core_of_, thread_of_;              // by rank, into cores_
  Numbers next_core_;                        // by node
};

}  // namespace

Result<Placement> place_ranks(const PlaceRequest& request, const Platform& platform) {
  WEIR_TRY(check_request(request, platform));
  Placement placement;
  WEIR_ASSIGN(placement.pus_of, Placer(request, platform).place());
  name_hosts(request, platform, placement);
  placement.oversubscribe = request.roles.mapping == "oversubscribe";
  return placement;
}

Result<Placement> place_ranks_unbound(const PlaceRequest& request, const Platform& platform) {
  WEIR_TRY(check_request(request, platform));
  Placement placement;
  name_hosts(request, platform, placement);
  placement.oversubscribe = true;
  return placement;
}

}  // namespace weir
