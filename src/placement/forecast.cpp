#include "placement/forecast.hpp"

#include <algorithm>
#include <stdexcept>

#include "placement/domains.hpp"

namespace weir {

namespace {

struct Traffic {
  double total = 0, across = 0, cost = 0;
};

Traffic traffic_of(const PlacementProblem& problem, const Assignment& assignment) {
  Traffic traffic;
  if (problem.recorded == nullptr) return traffic;
  const pattern::SparseMatrix& matrix = *problem.recorded;
  for (std::uint32_t rank = 0; rank < problem.ranks; ++rank) {
    const auto columns = matrix.columns_of(rank);
    const auto values = matrix.values_of(rank);
    const CorePlace here{assignment.node_of[rank], assignment.core_of[rank]};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] <= rank) continue;  // each pair once
      const CorePlace there{assignment.node_of[columns[i]], assignment.core_of[columns[i]]};
      traffic.total += values[i];
      if (here.node != there.node) traffic.across += values[i];
      traffic.cost += values[i] * problem.machine->cost(here, there);
    }
  }
  return traffic;
}

Numbers domains_of(const PlacementProblem& problem, const Placed& placed) {
  if (!placed.node_of_domain.empty()) return placed.node_of_domain;
  return romio_domains(placed.assignment.node_of, static_cast<std::uint32_t>(problem.shuffle->columns));
}

}  // namespace

Forecast forecast(const PlacementProblem& problem, const Placed& placed) {
  const Assignment& assignment = placed.assignment;
  Forecast result;
  Numbers ranks_on(problem.machine->nodes(), 0);
  for (const std::uint32_t node : assignment.node_of) {
    if (ranks_on[node]++ == 0) ++result.nodes_used;
    result.most_ranks_on_node = std::max(result.most_ranks_on_node, ranks_on[node]);
  }
  const Traffic traffic = traffic_of(problem, assignment);
  result.objective = traffic.cost;
  if (traffic.total > 0) {
    result.cross_node_share = traffic.across / traffic.total;
    result.objective_relative =
        traffic.cost / (traffic.total * problem.machine->seconds_per_byte(Level::node));
  }
  result.cost_relative = result.objective_relative;
  if (problem.shuffle == nullptr) return result;
  result.shuffle_cross_node_bytes =
      crossing_shuffle(problem, assignment.node_of, domains_of(problem, placed));
  if (const double total = problem.shuffle->sum(); total > 0)
    result.shuffle_cross_node_share = result.shuffle_cross_node_bytes / total;
  const Machine& machine = *problem.machine;
  const double dearer = machine.seconds_per_byte(Level::machine) / machine.seconds_per_byte(Level::node);
  result.cost_relative += 1 + (dearer - 1) * result.shuffle_cross_node_share;
  return result;
}

double crossing_shuffle(const PlacementProblem& problem, const Numbers& node_of,
                        const Numbers& node_of_domain) {
  double across = 0;
  for (std::uint32_t rank = 0; rank < problem.ranks; ++rank) {
    const auto domains = problem.shuffle->columns_of(rank);
    const auto bytes = problem.shuffle->values_of(rank);
    for (std::size_t i = 0; i < domains.size(); ++i)
      if (node_of_domain[domains[i]] != node_of[rank]) across += bytes[i];
  }
  return across;
}

double share_with_best_aggregators(const PlacementProblem& problem, const Placed& placed) {
  const double total = problem.shuffle->sum();
  if (total <= 0) return 0;
  const Numbers& node_of = placed.assignment.node_of;
  return std::min(crossing_shuffle(problem, node_of, domains_of(problem, placed)),
                  crossing_shuffle(problem, node_of, assign_domains(problem, node_of))) /
         total;
}

Numbers romio_domains(const Numbers& node_of, std::uint32_t domains) {
  Numbers nodes, ranks_on;
  if (!node_of.empty())
    ranks_on.resize(*std::max_element(node_of.begin(), node_of.end()) + std::size_t{1}, 0);
  for (const std::uint32_t node : node_of)
    if (ranks_on[node]++ == 0) nodes.push_back(node);
  const bool enough = domains <= node_of.size();
  Numbers result;
  while (!nodes.empty() && result.size() < domains) {
    for (const std::uint32_t node : nodes) {
      if (result.size() == domains) break;
      if (enough && ranks_on[node] == 0) continue;
      --ranks_on[node];
      result.push_back(node);
    }
  }
  return result;
}

Numbers aggregator_ranks(const PlacementProblem& problem, const Assignment& assignment,
                         const Numbers& node_of_domain) {
  // The bytes of each domain from ranks on its own node, largest first.
  struct Feed {
    double bytes;
    std::uint32_t domain, rank;
  };
  std::vector<Feed> feeds;
  for (std::uint32_t rank = 0; problem.shuffle != nullptr && rank < problem.ranks; ++rank) {
    const auto domains = problem.shuffle->columns_of(rank);
    const auto bytes = problem.shuffle->values_of(rank);
    for (std::size_t i = 0; i < domains.size(); ++i)
      if (node_of_domain[domains[i]] == assignment.node_of[rank])
        feeds.push_back({bytes[i], domains[i], rank});
  }
  std::stable_sort(feeds.begin(), feeds.end(),
                   [](const Feed& a, const Feed& b) { return a.bytes > b.bytes; });
  constexpr std::uint32_t nobody = UINT32_MAX;
  Numbers aggregators(node_of_domain.size(), nobody);
  std::vector<char> busy(problem.ranks, 0);
  for (const Feed& feed : feeds) {
    if (aggregators[feed.domain] != nobody || busy[feed.rank] != 0) continue;
    aggregators[feed.domain] = feed.rank;
    busy[feed.rank] = 1;
  }
  // Domains that nobody on their node feeds, or whose feeders are taken: any free rank there.
  std::vector<Numbers> free_on(problem.machine->nodes());
  for (std::uint32_t rank = problem.ranks; rank-- > 0;)
    if (busy[rank] == 0) free_on[assignment.node_of[rank]].push_back(rank);
  for (std::size_t domain = 0; domain < aggregators.size(); ++domain) {
    if (aggregators[domain] != nobody) continue;
    Numbers& free = free_on[node_of_domain[domain]];
    if (free.empty()) throw std::logic_error("aggregator_ranks: a node has more file domains than ranks");
    aggregators[domain] = free.back();
    free.pop_back();
  }
  return aggregators;
}

}  // namespace weir
