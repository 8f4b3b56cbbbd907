#include "placement/roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace weir {

namespace {

constexpr std::uint32_t nobody = UINT32_MAX;

using Ranks = std::span<const std::uint32_t>;

// The ranks of each node, node after node.
struct NodeRanks {
  Numbers ranks;
  Numbers starts;  // of each node in `ranks`, and the end

  std::size_t size() const { return starts.size() - 1; }
  Ranks operator[](std::size_t node) const {
    return Ranks(ranks).subspan(starts[node], starts[node + 1] - starts[node]);
  }
};

NodeRanks group_by_node(const Numbers& node_of) {
  NodeRanks nodes;
  nodes.ranks.resize(node_of.size());
  std::iota(nodes.ranks.begin(), nodes.ranks.end(), 0U);
  if (!std::is_sorted(node_of.begin(), node_of.end())) {
    std::stable_sort(nodes.ranks.begin(), nodes.ranks.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return node_of[a] < node_of[b]; });
  }
  for (std::uint32_t i = 0; i < nodes.ranks.size(); ++i) {
    if (i == 0 || node_of[nodes.ranks[i - 1]] != node_of[nodes.ranks[i]]) nodes.starts.push_back(i);
  }
  nodes.starts.push_back(static_cast<std::uint32_t>(nodes.ranks.size()));
  return nodes;
}

// Who serves whom, as it grows group by group.
class Pairing {
 public:
  explicit Pairing(std::uint32_t ranks) : server_of_(ranks, nobody) {}

  void deal(Ranks compute, Ranks servers) {
    for (std::size_t i = 0; i < compute.size(); ++i)
      server_of_[compute[i]] = servers[i * servers.size() / compute.size()];
    for (const std::uint32_t server : servers) server_of_[server] = server;
    last_server_ = servers.back();
  }
  void split(Ranks group, std::uint32_t compute_per_server) {
    const std::uint32_t serving = servers_among(static_cast<std::uint32_t>(group.size()), compute_per_server);
    deal(group.first(group.size() - serving), group.last(serving));
  }
  void join(std::uint32_t rank, std::uint32_t server) { server_of_[rank] = server; }
  std::uint32_t last_server() const { return last_server_; }

  Roles finish(const std::string& mapping) const {
    Roles roles{.mapping = mapping};
    for (std::uint32_t rank = 0; rank < server_of_.size(); ++rank)
      (server_of_[rank] == rank ? roles.servers : roles.server_of)
          .push_back(server_of_[rank] == rank ? rank : server_of_[rank]);
    return roles;
  }

 private:
  Numbers server_of_;  // by rank; of a server, itself
  std::uint32_t last_server_ = nobody;
};

void pair_by_blocks(const RolesRequest& request, Pairing& pairing) {
  const std::uint64_t block =
      std::uint64_t{request.node_size} + servers_for(request.node_size, request.compute_per_server);
  Numbers ranks(static_cast<std::size_t>(std::min<std::uint64_t>(block, request.ranks)));
  for (std::uint64_t first = 0; first < request.ranks; first += block) {
    std::iota(ranks.begin(), ranks.end(), static_cast<std::uint32_t>(first));
    const Ranks group = Ranks(ranks).first(static_cast<std::size_t>(std::min(block, request.ranks - first)));
    if (group.size() == 1) {
      pairing.join(group[0], pairing.last_server());
    } else {
      pairing.split(group, request.compute_per_server);
    }
  }
}

void pair_within_nodes(const NodeRanks& nodes, std::uint32_t compute_per_server, Pairing& pairing) {
  Numbers lone;
  std::uint32_t neighbour = nobody;  // the server that a single lone rank would join
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (nodes[node].size() == 1) {
      lone.push_back(nodes[node][0]);
      if (lone.size() == 1) neighbour = pairing.last_server();
    } else {
      pairing.split(nodes[node], compute_per_server);
      if (neighbour == nobody) neighbour = pairing.last_server();
    }
  }
  if (lone.empty()) return;
  if (lone.size() == 1) {
    pairing.join(lone[0], neighbour);
    return;
  }
  const std::size_t groups = servers_among(static_cast<std::uint32_t>(lone.size()), compute_per_server);
  for (std::size_t i = 0; i < groups; ++i) {
    const std::size_t begin = i * lone.size() / groups;
    const std::size_t end = (i + 1) * lone.size() / groups;
    const Ranks group = Ranks(lone).subspan(begin, end - begin);
    pairing.deal(group.first(group.size() - 1), group.last(1));
  }
}

void pair_across_nodes(const NodeRanks& nodes, std::uint32_t compute_per_server, Pairing& pairing) {
  const std::size_t groups = servers_among(static_cast<std::uint32_t>(nodes.size()), compute_per_server);
  Numbers compute;
  for (std::size_t i = 0; i < groups; ++i) {
    const std::size_t begin = i * nodes.size() / groups;
    const std::size_t end = (i + 1) * nodes.size() / groups;
    std::size_t serving = end - 1;
    const std::size_t others = nodes.starts[serving] - nodes.starts[begin];
    if (nodes[serving].size() > others) {
      for (std::size_t node = begin; node < end; ++node)
        if (nodes[node].size() < nodes[serving].size()) serving = node;
    }
    compute.clear();
    for (std::size_t node = begin; node < end; ++node) {
      if (node != serving) compute.insert(compute.end(), nodes[node].begin(), nodes[node].end());
    }
    std::sort(compute.begin(), compute.end());
    pairing.deal(compute, nodes[serving]);
  }
}

Status check_request(const RolesRequest& request, const Mapping& mapping) {
  if (request.ranks == 0 || request.ranks > most_ranks) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("roles for {} ranks: there can be 1 to {}", request.ranks, most_ranks));
  }
  if (request.compute_per_server == 0)
    return fail(ErrorCode::invalid_argument, "0 compute ranks per server: give 1 or more");
  if (!request.node_of.empty() && request.node_of.size() != request.ranks) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} ranks, but the nodes of {} are known",
                                                         request.ranks, request.node_of.size()));
  }
  if (mapping.servers && request.ranks == 1) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("mapping '{}' needs a rank to compute and one to serve I/O, but there is only 1",
                            mapping.name),
                "start 2 ranks or more, or use mapping 'thread'");
  }
  if (request.own_nodes && mapping.servers && mapping.name != "consecutive") {
    return fail(ErrorCode::invalid_argument,
                fmt::format("servers on nodes of their own share no core with compute ranks, as mapping '{}' "
                            "wants it",
                            mapping.name),
                "use mapping 'consecutive'");
  }
  return {};
}

}  // namespace

const std::vector<Mapping>& mappings() {
  static const std::vector<Mapping> list = {
      {"sequential", "no servers: every rank computes, then writes", false},
      {"consecutive", "servers on the next cores", true},
      {"hyperthread", "servers on the second hardware thread of their compute rank's core", true},
      {"oversubscribe", "servers on the hardware thread of their compute rank", true},
      {"thread", "no servers: a background thread in every rank", false},
  };
  return list;
}

Result<Mapping> find_mapping(std::string_view name) {
  std::vector<std::string> names;
  for (const Mapping& mapping : mappings()) {
    if (mapping.name == name) return mapping;
    names.emplace_back(mapping.name);
  }
  return fail(ErrorCode::invalid_argument, fmt::format("unknown mapping '{}'{}", name, suggest(name, names)));
}

std::uint32_t servers_among(std::uint32_t ranks, std::uint32_t compute_per_server) {
  const std::uint64_t group = std::uint64_t{compute_per_server} + 1;
  return std::min(static_cast<std::uint32_t>((ranks + group - 1) / group), ranks / 2);
}

std::uint32_t servers_for(std::uint32_t compute, std::uint32_t compute_per_server) {
  return static_cast<std::uint32_t>((std::uint64_t{compute} + compute_per_server - 1) / compute_per_server);
}

Numbers compute_ranks(const Roles& roles, std::uint32_t ranks) {
  Numbers compute;
  compute.reserve(ranks - roles.servers.size());
  auto server = roles.servers.begin();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (server != roles.servers.end() && *server == rank) {
      ++server;
    } else {
      compute.push_back(rank);
    }
  }
  return compute;
}

Numbers server_by_rank(const Roles& roles, std::uint32_t ranks) {
  Numbers server(ranks);
  auto next_server = roles.servers.begin();
  auto of = roles.server_of.begin();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (next_server != roles.servers.end() && *next_server == rank) {
      server[rank] = *next_server++;
    } else {
      server[rank] = *of++;
    }
  }
  return server;
}

Result<Roles> assign_roles(const RolesRequest& request) {
  WEIR_ASSIGN(const Mapping mapping, find_mapping(request.mapping));
  WEIR_TRY(check_request(request, mapping));
  if (!mapping.servers) return Roles{.mapping = request.mapping};

  Pairing pairing(request.ranks);
  if (request.node_size != 0 && !request.own_nodes) {
    pair_by_blocks(request, pairing);
    return pairing.finish(request.mapping);
  }
  Numbers node_of = request.node_of;
  if (node_of.empty()) {
    node_of.assign(request.ranks, 0);
    for (std::uint32_t rank = 0; request.node_size != 0 && rank < request.ranks; ++rank)
      node_of[rank] = rank / request.node_size;
  }
  const NodeRanks nodes = group_by_node(node_of);
  if (!request.own_nodes) {
    pair_within_nodes(nodes, request.compute_per_server, pairing);
    return pairing.finish(request.mapping);
  }
  if (nodes.size() == 1) {
    return fail(ErrorCode::invalid_argument,
                "servers on nodes of their own need 2 nodes or more, but all ranks are on one",
                "start on more nodes, or let servers share the nodes of compute ranks");
  }
  pair_across_nodes(nodes, request.compute_per_server, pairing);
  return pairing.finish(request.mapping);
}

}  // namespace weir
