#include "placement/levels.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "placement/rank_order.hpp"

namespace weir {

namespace {

constexpr std::uint32_t nobody = UINT32_MAX;

class NodeSeats {
 public:
  NodeSeats(const PlacementProblem& problem, Assignment& assignment, std::uint32_t node,
            std::span<const std::uint32_t> ranks)
      : problem_(problem), assignment_(assignment), node_(node), ranks_(ranks) {
    const Numbers& cores = problem.machine->cores(node);
    occupant_.assign(cores.back() + std::size_t{1}, nobody);
    for (const std::uint32_t rank : ranks) occupant_[assignment.core_of[rank]] = rank;
  }

  bool pass() {
    bool changed = false;
    for (const std::uint32_t rank : ranks_) {
      for (const std::uint32_t core : problem_.machine->cores(node_)) {
        const std::uint32_t here = assignment_.core_of[rank];
        if (core == here) continue;
        const std::uint32_t other = occupant_[core];
        double change = extra_cost(rank, other, core);
        if (other != nobody) change += extra_cost(other, rank, here);
        if (change >= -1e-18) continue;
        assignment_.core_of[rank] = core;
        occupant_[core] = rank;
        occupant_[here] = other;
        if (other != nobody) assignment_.core_of[other] = here;
        changed = true;
      }
    }
    return changed;
  }

 private:
  double extra_cost(std::uint32_t rank, std::uint32_t partner, std::uint32_t core) const {
    const CorePlace here{node_, assignment_.core_of[rank]}, there{node_, core};
    const auto columns = problem_.recorded->columns_of(rank);
    const auto values = problem_.recorded->values_of(rank);
    double extra = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::uint32_t other = columns[i];
      if (other == partner || other == rank || assignment_.node_of[other] != node_) continue;
      const CorePlace place{node_, assignment_.core_of[other]};
      extra += values[i] * (problem_.machine->cost(there, place) - problem_.machine->cost(here, place));
    }
    return extra;
  }

  const PlacementProblem& problem_;
  Assignment& assignment_;
  std::uint32_t node_;
  std::span<const std::uint32_t> ranks_;
  Numbers occupant_;  // by core
};

}  // namespace

void improve_cores(const PlacementProblem& problem, Assignment& assignment) {
  if (problem.machine->flat_nodes() || problem.recorded == nullptr) return;
  std::vector<Numbers> on_node(problem.machine->nodes());
  for (std::uint32_t rank = 0; rank < problem.ranks; ++rank)
    on_node[assignment.node_of[rank]].push_back(rank);
  constexpr int most_passes = 3;
  for (std::uint32_t node = 0; node < on_node.size(); ++node) {
    if (on_node[node].size() < 2) continue;
    NodeSeats seats(problem, assignment, node, on_node[node]);
    for (int pass = 0; pass < most_passes && seats.pass(); ++pass) {
    }
  }
}

void improve_switches(const PlacementProblem& problem, Numbers& node_of, Numbers& node_of_domain) {
  const Machine& machine = *problem.machine;
  if (!machine.switched() || problem.recorded == nullptr) return;
  // What whole nodes exchange.
  std::vector<pattern::Triple> pairs;
  for (std::uint32_t rank = 0; rank < problem.ranks; ++rank) {
    const auto columns = problem.recorded->columns_of(rank);
    const auto values = problem.recorded->values_of(rank);
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i] > rank && node_of[columns[i]] != node_of[rank] && values[i] > 0)
        pairs.push_back({node_of[rank], node_of[columns[i]], values[i]});
  }
  const pattern::SparseMatrix between = pattern::from_pairs(machine.nodes(), pairs);
  const auto cost_of = [&](const Numbers& new_node) {
    double cost = 0;
    for (const pattern::Triple& pair : pairs)
      cost += pair.value * machine.cost({new_node[pair.row], 0}, {new_node[pair.column], 0});
    return cost;
  };
  // Nodes in the order of their exchange take the places of nodes in the order of switches, each kind of node
  // among itself.
  Numbers by_switch(machine.nodes());
  std::iota(by_switch.begin(), by_switch.end(), 0U);
  std::stable_sort(by_switch.begin(), by_switch.end(), [&](std::uint32_t a, std::uint32_t b) {
    return machine.switch_of(a) < machine.switch_of(b);
  });
  std::vector<Numbers> kinds;  // places of alike nodes, in the order of switches
  Numbers kind_of(machine.nodes());
  for (const std::uint32_t node : by_switch) {
    std::size_t kind = 0;
    while (kind < kinds.size() && !machine.alike(kinds[kind][0], node)) ++kind;
    if (kind == kinds.size()) kinds.emplace_back();
    kinds[kind].push_back(node);
    kind_of[node] = static_cast<std::uint32_t>(kind);
  }
  std::vector<std::size_t> next(kinds.size(), 0);
  Numbers same(machine.nodes()), moved(machine.nodes());
  std::iota(same.begin(), same.end(), 0U);
  for (const std::uint32_t node : order_ranks(between))
    moved[node] = kinds[kind_of[node]][next[kind_of[node]]++];
  if (cost_of(moved) >= cost_of(same)) return;
  for (std::uint32_t& node : node_of) node = moved[node];
  for (std::uint32_t& node : node_of_domain) node = moved[node];
}

}  // namespace weir
