#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "placement/emit.hpp"

namespace weir {

namespace {

Status check_named(const EmitRequest& request, std::string_view form) {
  WEIR_TRY(check_emittable(request));
  if (request.name_hosts) return {};
  return fail(ErrorCode::invalid_argument, fmt::format("{}: the names of the hosts have to be known", form),
              "give them with --hosts or --hostfile, or a platform file");
}

}  // namespace

Result<std::string> emit_openmpi5(const EmitRequest& request) {
  WEIR_TRY(check_named(request, "openmpi5"));
  const Placement& placement = request.placement;
  if (request.core_of.size() != placement.node_of.size())
    return fail(ErrorCode::invalid_argument, "openmpi5: the placement has no cores",
                "use fewer ranks or more nodes");
  // PRRTE counts cores as hwloc does, not as the operating system numbers hardware threads.
  std::string text =
      fmt::format("# mpirun --map-by rankfile:file=THIS-FILE -n {}{} PROGRAM\n", placement.node_of.size(),
                  placement.oversubscribe ? " --bind-to core:overload-allowed" : "");
  for (std::size_t rank = 0; rank < placement.node_of.size(); ++rank)
    text += fmt::format("rank {}={} slot={}\n", rank, placement.hosts[placement.node_of[rank]],
                        request.core_of[rank]);
  return text;
}

Result<std::string> emit_openmpi_seq(const EmitRequest& request) {
  WEIR_TRY(check_named(request, "openmpi-seq"));
  std::string text =
      fmt::format("{}# mpirun{} --map-by seq --hostfile THIS-FILE -n {} PROGRAM\n", plan_comment(request),
                  plan_option(request), request.placement.node_of.size());
  for (const std::uint32_t node : request.placement.node_of) text += request.placement.hosts[node] + "\n";
  return text;
}

Result<std::string> emit_mpich_hostfile(const EmitRequest& request) {
  WEIR_TRY(check_named(request, "mpich-hostfile"));
  std::string text = fmt::format("# mpiexec -f THIS-FILE -n {} PROGRAM\n", request.placement.node_of.size());
  for (const RankRun& run : rank_runs(request.placement))
    text += fmt::format("{}:{}\n", request.placement.hosts[run.node], run.count);
  return text;
}

Result<std::string> emit_cray(const EmitRequest& request) {
  WEIR_TRY(check_emittable(request));
  const Placement& placement = request.placement;
  Numbers order(placement.node_of.size());
  std::iota(order.begin(), order.end(), 0U);
  const bool bound = placement.pus_of.size() == order.size();
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (placement.node_of[a] != placement.node_of[b]) return placement.node_of[a] < placement.node_of[b];
    return bound && placement.pus_of[a][0] < placement.pus_of[b][0];
  });
  // The launcher deals the slots: as many to each node, fewer only to the last.
  Numbers ranks_on(*std::max_element(placement.node_of.begin(), placement.node_of.end()) + std::size_t{1}, 0);
  for (const std::uint32_t node : placement.node_of) ++ranks_on[node];
  std::erase(ranks_on, 0U);
  const bool even = std::all_of(ranks_on.begin(), ranks_on.end() - 1,
                                [&](std::uint32_t count) { return count == ranks_on[0]; }) &&
                    ranks_on.back() <= ranks_on[0];
  if (!even) {
    return fail(ErrorCode::invalid_argument,
                "cray: a rank order can only be told to nodes with the same number of ranks",
                "limit the ranks per node (--limit-per-node) to the number of ranks over that of nodes");
  }
  std::string text = fmt::format(
      "# MPICH_RANK_ORDER, in the folder where the job starts, with MPICH_RANK_REORDER_METHOD=3\n"
      "# srun --ntasks={} --ntasks-per-node={} --distribution=block PROGRAM\n",
      order.size(), ranks_on[0]);
  constexpr std::size_t a_line = 16;
  for (std::size_t i = 0; i < order.size(); ++i)
    text += fmt::format("{}{}", order[i], i + 1 == order.size() || i % a_line == a_line - 1 ? "\n" : ",");
  return text;
}

std::string plan_comment(const EmitRequest& request) {
  if (request.plan_command.empty()) return {};
  return fmt::format(
      "# Who does the I/O is in the plan; without it, all ranks compute, and write synchronously:\n# {} -o "
      "plan.json\n",
      request.plan_command);
}

std::string plan_option(const EmitRequest& request) {
  return request.plan_command.empty() ? "" : " -x WEIR_PLAN=\"$PWD/plan.json\"";
}

std::string plan_lines(const EmitRequest& request) {
  if (request.plan_command.empty()) return {};
  return plan_comment(request) +
         "[ -n \"$WEIR_PLAN\" ] || WEIR_PLAN=$(cd \"$(dirname \"$0\")\" && pwd)/plan.json\n"
         "[ -r \"$WEIR_PLAN\" ] || { echo \"no plan in $WEIR_PLAN: see the beginning of $0\" >&2; exit 1; }\n"
         "export WEIR_PLAN\n";
}

const std::vector<Emitter>& emitters() {
  static const std::vector<Emitter> table = {
      {"openmpi-rankfile", "rank file of Open MPI 4", emit_openmpi},
      {"openmpi", "the same", emit_openmpi},
      {"openmpi5", "rank file of Open MPI 5 (PRRTE)", emit_openmpi5},
      {"openmpi-seq", "host file of Open MPI, a host for each rank, without cores", emit_openmpi_seq},
      {"mpich", "launch script for MPICH", emit_mpich},
      {"mpich-hostfile", "host file of MPICH, without cores", emit_mpich_hostfile},
      {"slurm", "launch script for srun", emit_slurm},
      {"cray", "MPICH_RANK_ORDER of Cray MPICH", emit_cray},
      {"romio", "hints of ROMIO for the aggregators (a file for ROMIO_HINTS)", emit_romio},
      {"ompio", "parameters of OMPIO for the aggregators (a file for mpirun --am)", emit_ompio},
  };
  return table;
}

Result<Emitter> find_emitter(std::string_view name) {
  std::vector<std::string> names;
  for (const Emitter& emitter : emitters()) {
    if (emitter.name == name) return emitter;
    names.emplace_back(emitter.name);
  }
  return fail(ErrorCode::invalid_argument, fmt::format("unknown form '{}'{}", name, suggest(name, names)));
}

}  // namespace weir
