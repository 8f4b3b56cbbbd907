#include "plan/placement_plan.hpp"

#include "placement/forecast.hpp"

namespace weir {

Result<Plan> plan_placement(const PlacementProblem& problem, const Placed& placed, const Platform& platform) {
  Plan plan{.ranks = problem.ranks, .placement = to_placement(placed.assignment, platform)};
  if (problem.shuffle != nullptr) {
    Numbers nodes = placed.node_of_domain;
    const auto domains = static_cast<std::uint32_t>(problem.shuffle->columns);
    if (nodes.empty()) nodes = romio_domains(placed.assignment.node_of, domains);
    plan.aggregators.ranks = aggregator_ranks(problem, placed.assignment, nodes);
  }
  WEIR_TRY(check(plan, plan.ranks, platform));
  return plan;
}

}  // namespace weir
