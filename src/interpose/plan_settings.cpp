#include "interpose/plan_settings.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "plan/plan_json.hpp"

namespace weir::interpose {

namespace {

// Numbers in MPI_COMM_WORLD as numbers in another communicator.
std::vector<std::uint32_t> translated(const Numbers& world_ranks, MPI_Comm comm) {
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  std::vector<int> from(world_ranks.begin(), world_ranks.end());
  std::vector<int> to(from.size(), MPI_UNDEFINED);
  PMPI_Group_translate_ranks(world, static_cast<int>(from.size()), from.data(), group, to.data());
  PMPI_Group_free(&world);
  PMPI_Group_free(&group);
  std::vector<std::uint32_t> ranks;
  for (const int rank : to)
    if (rank != MPI_UNDEFINED) ranks.push_back(static_cast<std::uint32_t>(rank));
  return ranks;
}

}  // namespace

Result<aggregation::Settings> settings_of_plan(MPI_Comm comm) {
  aggregation::Settings settings;
  const char* const path = std::getenv("WEIR_PLAN");
  if (path == nullptr || *path == '\0') return settings;
  static const Result<Plan> plan = load_plan(path);
  WEIR_TRY(in(plan, "WEIR_PLAN", path));
  int world = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &world);
  WEIR_TRY(in(check(*plan, static_cast<std::uint32_t>(world)), "WEIR_PLAN", path));
  settings.requests = plan->throttle.requests_per_target;
  settings.ranks = translated(plan->aggregators.ranks, comm);
  return settings;
}

}  // namespace weir::interpose
