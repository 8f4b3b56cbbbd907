#include <fmt/format.h>

#include <algorithm>

#include "placement/emit.hpp"

namespace weir {

namespace {

// Hydra starts a proxy for each run of ranks on a host and takes the list from its beginning for each: it
// works if the runs agree as far as they go. Empty: they do not, or nothing is bound.
std::string binding_list(const Placement& placement, const std::vector<RankRun>& runs) {
  if (placement.pus_of.empty()) return {};
  const RankRun longest = *std::max_element(
      runs.begin(), runs.end(), [](const RankRun& a, const RankRun& b) { return a.count < b.count; });
  for (const RankRun& run : runs) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const auto mine = placement.pus_of[run.first + i];
      const auto theirs = placement.pus_of[longest.first + i];
      if (!std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end())) return {};
    }
  }
  std::string list;
  for (std::uint32_t i = 0; i < longest.count; ++i)
    list += fmt::format("{}{}", i == 0 ? "" : ",", fmt::join(placement.pus_of[longest.first + i], "+"));
  return list;
}

}  // namespace

Result<MpichOptions> mpich_options(const EmitRequest& request) {
  WEIR_TRY(check_emittable(request));
  const Placement& placement = request.placement;
  const std::vector<RankRun> runs = rank_runs(placement);
  MpichOptions options;
  if (request.name_hosts) {
    std::string hosts;
    for (const RankRun& run : runs)
      hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", placement.hosts[run.node], run.count);
    options.words = {"-hosts", hosts};
  } else if (runs.size() > 1) {
    const bool even = std::all_of(runs.begin(), runs.end() - 1,
                                  [&](const RankRun& run) { return run.count == runs[0].count; }) &&
                      runs.back().count <= runs[0].count;
    const bool in_order = std::is_sorted(placement.node_of.begin(), placement.node_of.end());
    if (!even || !in_order) {
      return fail(ErrorCode::invalid_argument,
                  "MPICH can fill nodes unevenly, or in another order, only if their names are known",
                  "give the names with --hosts or --hostfile");
    }
    options.words = {"-ppn", std::to_string(runs[0].count)};
  }
  if (const std::string list = binding_list(placement, runs); !list.empty()) {
    options.words.insert(options.words.end(), {"-bind-to", "user:" + list});
    options.binds = true;
  }
  options.words.insert(options.words.end(), {"-n", std::to_string(placement.node_of.size())});
  return options;
}

Result<std::string> emit_mpich(const EmitRequest& request) {
  WEIR_ASSIGN(const MpichOptions options, mpich_options(request));
  std::string text = "#!/bin/sh\n# sh THIS-FILE PROGRAM ARGUMENTS\n";
  if (!options.binds && !request.placement.pus_of.empty())
    text += "# Nodes need different bindings, which MPICH cannot say: Weir binds as WEIR_PLAN says.\n";
  text += plan_lines(request);
  return text + fmt::format("exec \"${{MPIEXEC:-mpiexec}}\" {} \"$@\"\n", fmt::join(options.words, " "));
}

}  // namespace weir
