#include "interpose/plan_settings.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "aggregation/layout.hpp"
#include "plan/plan_json.hpp"

namespace weir::interpose {

namespace {

std::uint32_t ranks_of_world() {
  int ranks = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return static_cast<std::uint32_t>(ranks);
}

}  // namespace

Result<aggregation::Settings> settings_of_plan() {
  aggregation::Settings settings;
  const char* const path = std::getenv("WEIR_PLAN");
  if (path == nullptr || *path == '\0') return settings;
  static const Result<Plan> plan = load_plan(path);
  WEIR_TRY(in(plan, "WEIR_PLAN", path));
  WEIR_TRY(in(check(*plan, ranks_of_world()), "WEIR_PLAN", path));
  settings.requests = plan->throttle.requests_per_target;
  settings.ranks.assign(plan->aggregators.ranks.begin(), plan->aggregators.ranks.end());
  return settings;
}

Result<std::vector<std::uint32_t>> aggregators_in(MPI_Comm comm,
                                                  const std::vector<std::uint32_t>& world_ranks) {
  std::vector<std::uint32_t> ranks;
  if (world_ranks.empty()) return ranks;
  WEIR_TRY(check(world_ranks, aggregation::Nodes::regular(1, ranks_of_world())));
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  const std::vector<int> from(world_ranks.begin(), world_ranks.end());
  std::vector<int> to(from.size(), MPI_UNDEFINED);
  PMPI_Group_translate_ranks(world, static_cast<int>(from.size()), from.data(), group, to.data());
  PMPI_Group_free(&world);
  PMPI_Group_free(&group);
  for (const int rank : to)
    if (rank != MPI_UNDEFINED) ranks.push_back(static_cast<std::uint32_t>(rank));
  return ranks;
}

}  // namespace weir::interpose
