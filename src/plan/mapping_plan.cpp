#include "plan/mapping_plan.hpp"

#include "placement/place.hpp"

namespace weir {

Mode mode_of(const Mapping& mapping) {
  if (mapping.servers) return Mode::servers;
  return mapping.name == "thread" ? Mode::thread : Mode::synchronous;
}

Result<Plan> plan_mapping(const LayoutRequest& request, const Platform& platform) {
  WEIR_ASSIGN(const Mapping mapping, find_mapping(request.mapping));
  WEIR_ASSIGN(Layout layout, lay_out(request, platform));
  Plan plan{.ranks = layout.ranks, .mode = mode_of(mapping)};
  // The seed's rule counts in blocks, whatever node they are on; all others go by nodes.
  WEIR_ASSIGN(plan.roles, assign_roles({.mapping = request.mapping,
                                        .ranks = layout.ranks,
                                        .node_of = layout.node_of,
                                        .node_size = request.node_size,
                                        .compute_per_server = request.compute_per_server,
                                        .own_nodes = request.own_nodes}));
  const PlaceRequest place{.ranks = layout.ranks, .roles = plan.roles, .node_of = std::move(layout.node_of)};
  WEIR_ASSIGN(plan.placement,
              layout.overfull ? place_ranks_unbound(place, platform) : place_ranks(place, platform));
  WEIR_TRY(check(plan, plan.ranks, platform));
  return plan;
}

std::vector<PairRow> pair_rows(const Plan& plan) {
  const Placement& placement = plan.placement;
  const bool paired = !plan.roles.servers.empty() && !plan.roles.server_of.empty();
  const Numbers server_of = paired ? server_by_rank(plan.roles, plan.ranks) : Numbers();
  std::vector<Numbers> clients(plan.ranks);
  for (std::uint32_t rank = 0; rank < server_of.size(); ++rank)
    if (server_of[rank] != rank) clients[server_of[rank]].push_back(rank);
  std::vector<char> serves(plan.ranks, 0);
  for (const std::uint32_t server : plan.roles.servers) serves[server] = 1;

  std::vector<PairRow> rows;
  rows.reserve(plan.ranks);
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    PairRow row{.type = serves[rank] != 0 ? "IO" : "COMP",
                .rank = std::to_string(rank),
                .size = std::to_string(plan.ranks),
                .cpus = "-",
                .node = "-",
                .pair = "-"};
    if (rank < placement.pus_of.size()) row.cpus = format_numbers(placement.pus_of[rank]);
    if (rank < placement.node_of.size()) {
      const std::uint32_t node = placement.node_of[rank];
      row.node = node < placement.hosts.size() ? placement.hosts[node] : std::to_string(node);
    }
    if (paired)
      row.pair = serves[rank] != 0 ? format_numbers(clients[rank]) : std::to_string(server_of[rank]);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace weir
