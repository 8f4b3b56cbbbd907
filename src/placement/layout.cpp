#include "placement/layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "placement/cores.hpp"

namespace weir {

namespace {

// What a node has room for.
struct Room {
  std::uint32_t cores = 0;    // compute ranks that find a core, if nothing else needed one
  std::uint32_t compute = 0;  // compute ranks, with room left for their servers
};

constexpr std::uint32_t plenty = most_ranks;

tl::unexpected<Failure> too_small(const LayoutRequest& request, std::uint64_t has) {
  return fail(ErrorCode::invalid_argument,
              fmt::format("mapping '{}' of {} compute ranks does not fit: the nodes have room for {}",
                          request.mapping, request.compute, has),
              "use fewer ranks, more nodes, or mapping 'oversubscribe' where only the servers lack cores");
}

class Planner {
 public:
  Planner(const LayoutRequest& request, const Platform& platform, const Mapping& mapping)
      : request_(request), platform_(platform), mapping_(mapping) {}

  Result<Layout> lay_out(std::uint32_t nodes);
  Result<std::uint32_t> nodes_needed();

 private:
  std::uint32_t servers(std::uint32_t compute) const {
    return mapping_.servers ? servers_for(compute, request_.compute_per_server) : 0;
  }
  bool shares_cores() const { return mapping_.name == "hyperthread" || mapping_.name == "oversubscribe"; }
  // Ranks in one block of the seed's rule, and how many of the ranks in a row are on one node.
  std::uint64_t block() const { return std::uint64_t{request_.node_size} + servers(request_.node_size); }
  std::uint64_t ranks_per_node() const { return shares_cores() ? block() : request_.node_size; }
  std::uint64_t ranks_in_blocks(std::uint32_t compute) const {
    const std::uint32_t full = compute / request_.node_size;
    return std::uint64_t{compute} + std::uint64_t{full} * servers(request_.node_size) +
           servers(compute % request_.node_size);
  }

  Status measure();  // fills rooms_
  Room room(std::uint32_t node) const { return rooms_[node]; }
  Result<Layout> by_blocks(std::uint32_t nodes);
  Result<Layout> within_nodes(std::uint32_t nodes);
  Result<Layout> across_nodes(std::uint32_t nodes);
  Result<Layout> in_groups(std::uint32_t nodes, std::uint32_t groups);
  Result<Numbers> deal(const Numbers& rooms, std::uint32_t compute, bool spread) const;
  Status add(Layout& layout, std::uint32_t node, std::uint64_t ranks) const;

  const LayoutRequest& request_;
  const Platform& platform_;
  const Mapping& mapping_;
  std::vector<Room> rooms_;  // by node
};

Status Planner::measure() {
  std::vector<std::uint32_t> cores_of;  // by type
  for (const NodeType& type : platform_.node_types) {
    const std::uint32_t threads = mapping_.name == "hyperthread" ? 2 : 1;
    cores_of.push_back(static_cast<std::uint32_t>(usable_cores(type, threads).size()));
  }
  rooms_.clear();
  for (const Node& node : platform_.nodes) {
    const std::uint32_t cores = cores_of[node.type];
    if (cores == 0) WEIR_TRY(check_threads_for(mapping_.name, platform_.node_types[node.type], node.name));
    if (request_.node_size > cores && !request_.overfull) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("a node size of {} is more than the {} cores of node '{}'", request_.node_size,
                              cores, node.name));
    }
    const std::uint32_t used = request_.node_size != 0 ? std::min(request_.node_size, cores) : cores;
    // Slots count all ranks of a node; without them, every core takes one, and its other thread another.
    const std::uint32_t slots = node.slots != 0 ? node.slots : plenty;
    const std::uint64_t group = std::uint64_t{request_.compute_per_server} + 1;
    const auto with_servers = [&](std::uint32_t ranks) {
      return ranks - static_cast<std::uint32_t>((ranks + group - 1) / group);
    };
    Room room{.cores = std::min(used, slots)};
    room.compute = room.cores;
    if (mapping_.name == "consecutive") room.compute = with_servers(room.cores);
    if (mapping_.name == "hyperthread") room.compute = std::min(used, with_servers(slots));
    if (mapping_.name == "oversubscribe") room = {.cores = used, .compute = used};
    rooms_.push_back(room);
  }
  return {};
}

Status Planner::add(Layout& layout, std::uint32_t node, std::uint64_t ranks) const {
  if (layout.node_of.size() + ranks > most_ranks)
    return fail(ErrorCode::invalid_argument, fmt::format("more than {} ranks", most_ranks));
  layout.node_of.insert(layout.node_of.end(), static_cast<std::size_t>(ranks), node);
  layout.ranks = static_cast<std::uint32_t>(layout.node_of.size());
  return {};
}

// How many compute ranks each node takes.
Result<Numbers> Planner::deal(const Numbers& rooms, std::uint32_t compute, bool spread) const {
  Numbers dealt(rooms.size(), 0);
  if (compute == 0) return rooms;
  std::uint32_t left = compute;
  for (std::size_t i = 0; spread && i < rooms.size(); ++i) {
    const auto fair = static_cast<std::uint32_t>((left + (rooms.size() - i) - 1) / (rooms.size() - i));
    dealt[i] = std::min(rooms[i], fair);
    left -= dealt[i];
  }
  for (std::size_t i = 0; left > 0 && i < rooms.size(); ++i) {
    const std::uint32_t more = std::min(rooms[i] - dealt[i], left);
    dealt[i] += more;
    left -= more;
  }
  if (left == 0) return dealt;
  std::uint64_t all = 0;
  for (const std::uint32_t each : rooms) all += each;
  return too_small(request_, all);
}

Result<Layout> Planner::by_blocks(std::uint32_t nodes) {
  const std::uint64_t ranks =
      request_.compute != 0 ? ranks_in_blocks(request_.compute) : std::uint64_t{nodes} * request_.node_size;
  const std::uint64_t needed = (ranks + ranks_per_node() - 1) / ranks_per_node();
  if (needed > nodes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("mapping '{}' of {} ranks, {} on a node, needs {} nodes, there are {}",
                            request_.mapping, ranks, ranks_per_node(), needed, nodes),
                "use more nodes or fewer ranks");
  }
  Layout layout;
  for (std::uint32_t node = 0; node < needed; ++node) {
    layout.overfull = layout.overfull || room(node).cores < request_.node_size;
    WEIR_TRY(add(layout, node, std::min(ranks_per_node(), ranks - node * ranks_per_node())));
  }
  return layout;
}

Result<Layout> Planner::within_nodes(std::uint32_t nodes) {
  Numbers rooms;
  for (std::uint32_t node = 0; node < nodes; ++node) rooms.push_back(room(node).compute);
  // Nodes of a single core: their one rank computes or serves.
  if (mapping_.servers && std::all_of(rooms.begin(), rooms.end(), [](std::uint32_t r) { return r == 0; }))
    return across_nodes(nodes);
  WEIR_ASSIGN(const Numbers compute, deal(rooms, request_.compute, request_.spread));
  Layout layout;
  for (std::uint32_t node = 0; node < nodes; ++node)
    WEIR_TRY(add(layout, node, std::uint64_t{compute[node]} + servers(compute[node])));
  return layout;
}

// Exactly these nodes, in groups whose last one serves; as assign_roles() groups them.
Result<Layout> Planner::in_groups(std::uint32_t nodes, std::uint32_t groups) {
  const auto begin_of = [&](std::uint32_t group) {
    return static_cast<std::uint32_t>(std::uint64_t{group} * nodes / groups);
  };
  Numbers rooms;  // of the computing nodes
  for (std::uint32_t group = 0; group < groups; ++group) {
    for (std::uint32_t node = begin_of(group); node + 1 < begin_of(group + 1); ++node)
      rooms.push_back(room(node).cores);
  }
  WEIR_ASSIGN(const Numbers compute, deal(rooms, request_.compute, true));
  Layout layout;
  std::size_t next = 0;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const std::uint32_t server_node = begin_of(group + 1) - 1;
    std::uint32_t clients = 0;
    for (std::uint32_t node = begin_of(group); node < server_node; ++node, ++next) {
      WEIR_TRY(add(layout, node, compute[next]));
      clients += compute[next];
    }
    WEIR_TRY(add(layout, server_node, std::min(servers(clients), room(server_node).cores)));
  }
  return layout;
}

Result<Layout> Planner::across_nodes(std::uint32_t nodes) {
  if (nodes < 2) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("mapping '{}' needs a second node for the servers, there is 1", request_.mapping),
                "use more nodes, or let servers share the nodes of compute ranks");
  }
  const std::uint32_t serving = servers_among(nodes, request_.compute_per_server);
  if (request_.compute == 0) return in_groups(nodes, serving);
  std::uint32_t computing = std::min(nodes - serving, request_.compute);
  std::uint64_t room_so_far = 0;
  for (std::uint32_t node = 0; !request_.spread && node < computing; ++node) {
    room_so_far += room(node).cores;
    if (room_so_far >= request_.compute) computing = node + 1;
  }
  if (computing < nodes - serving) {
    const std::uint32_t few = servers_for(computing, request_.compute_per_server);
    // Where nodes differ the first ones may have been the large ones: then all are needed.
    if (auto layout = in_groups(computing + few, few)) return layout;
  }
  return in_groups(nodes, serving);
}

Result<Layout> Planner::lay_out(std::uint32_t nodes) {
  WEIR_TRY(measure());
  if (request_.node_size != 0 && !request_.own_nodes) return by_blocks(nodes);
  const auto attempt = [&] {
    return request_.own_nodes && mapping_.servers ? across_nodes(nodes) : within_nodes(nodes);
  };
  Result<Layout> layout = attempt();
  if (layout && layout->ranks == 0) layout = too_small(request_, 0);
  if (layout || !request_.overfull || request_.compute == 0) return layout;
  const auto each = static_cast<std::uint32_t>((std::uint64_t{request_.compute} + nodes - 1) / nodes);
  for (Room& room : rooms_) room = {.cores = request_.compute, .compute = each};
  layout = attempt();
  if (layout) layout->overfull = true;
  return layout;
}

Result<std::uint32_t> Planner::nodes_needed() {
  WEIR_TRY(measure());
  std::uint64_t nodes = 0;
  const std::uint64_t compute = request_.compute;
  if (request_.node_size != 0 && !request_.own_nodes) {
    nodes = (ranks_in_blocks(request_.compute) + ranks_per_node() - 1) / ranks_per_node();
  } else {
    const bool apart = mapping_.servers && (request_.own_nodes || room(0).compute == 0);
    const std::uint32_t each = apart ? room(0).cores : room(0).compute;
    if (each == 0) return too_small(request_, 0);
    nodes = (compute + each - 1) / each;
    if (apart) nodes += servers(static_cast<std::uint32_t>(nodes));
  }
  if (nodes > most_nodes)
    return fail(ErrorCode::invalid_argument, fmt::format("{} nodes are more than {}", nodes, most_nodes));
  return static_cast<std::uint32_t>(nodes);
}

Result<Mapping> check_request(const LayoutRequest& request, const Platform& platform) {
  WEIR_ASSIGN(const Mapping mapping, find_mapping(request.mapping));
  if (request.compute > most_ranks) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} compute ranks are more than {}", request.compute, most_ranks));
  }
  if (request.compute_per_server == 0)
    return fail(ErrorCode::invalid_argument, "0 compute ranks per server: give 1 or more");
  if (platform.nodes.empty()) return fail(ErrorCode::invalid_argument, "the platform has no nodes");
  return mapping;
}

}  // namespace

Result<Layout> lay_out(const LayoutRequest& request, const Platform& platform) {
  WEIR_ASSIGN(const Mapping mapping, check_request(request, platform));
  return Planner(request, platform, mapping).lay_out(static_cast<std::uint32_t>(platform.nodes.size()));
}

Result<std::uint32_t> nodes_needed(const LayoutRequest& request, const Platform& platform) {
  WEIR_ASSIGN(const Mapping mapping, check_request(request, platform));
  return Planner(request, platform, mapping).nodes_needed();
}

}  // namespace weir
