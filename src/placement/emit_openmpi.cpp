#include <fmt/format.h>

#include "placement/emit.hpp"

namespace weir {

Result<std::string> emit_openmpi(const EmitRequest& request) {
  WEIR_TRY(check_emittable(request));
  const Placement& placement = request.placement;
  if (placement.pus_of.empty()) {
    return fail(ErrorCode::invalid_argument,
                "the placement has no hardware threads, and a rank file cannot do without",
                "use fewer ranks or more nodes");
  }
  std::string text = fmt::format(
      "{}# mpirun{} --mca rmaps_rank_file_physical 1 --use-hwthread-cpus --rankfile THIS-FILE -n {} "
      "PROGRAM\n",
      plan_comment(request), plan_option(request), placement.node_of.size());
  for (std::uint32_t rank = 0; rank < placement.node_of.size(); ++rank) {
    const std::uint32_t node = placement.node_of[rank];
    const std::string host = request.name_hosts ? placement.hosts[node] : fmt::format("+n{}", node);
    text += fmt::format("rank {}={} slot={}\n", rank, host, fmt::join(placement.pus_of[rank], ","));
  }
  return text;
}

}  // namespace weir
