#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "placement/emit.hpp"
#include "platform/host_list.hpp"

namespace weir {

namespace {

bool same_pus(const Placement& placement, std::uint32_t a, std::uint32_t b) {
  const auto left = placement.pus_of[a];
  const auto right = placement.pus_of[b];
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

// Whether the same list of hardware threads serves both.
bool alike(const Placement& placement, const RankRun& a, const RankRun& b) {
  if (a.count != b.count) return false;
  for (std::uint32_t i = 0; i < a.count && !placement.pus_of.empty(); ++i)
    if (!same_pus(placement, a.first + i, b.first + i)) return false;
  return true;
}

std::string mask(std::span<const std::uint32_t> pus) {
  std::string digits;  // lowest first
  for (const std::uint32_t pu : pus) {
    if (digits.size() <= pu / 4) digits.resize(pu / 4 + 1, 0);
    digits[pu / 4] = static_cast<char>(digits[pu / 4] | 1 << pu % 4);
  }
  for (char& digit : digits) digit = "0123456789abcdef"[static_cast<std::size_t>(digit)];
  return "0x" + std::string(digits.rbegin(), digits.rend());
}

std::string binding(const Placement& placement, const RankRun& run) {
  if (placement.pus_of.empty()) return "--cpu-bind=none";
  bool single = true;
  for (std::uint32_t i = 0; i < run.count; ++i)
    single = single && placement.pus_of[run.first + i].size() == 1;
  std::string list;
  for (std::uint32_t i = 0; i < run.count; ++i) {
    const auto pus = placement.pus_of[run.first + i];
    list += fmt::format("{}{}", i == 0 ? "" : ",", single ? std::to_string(pus[0]) : mask(pus));
  }
  return fmt::format("--cpu-bind={}:{}", single ? "map_cpu" : "mask_cpu", list);
}

// What all parts of a step have in common.
std::string common_options(const EmitRequest& request) {
  std::string text;
  // Without the hint, sites that hide second hardware threads by default (ARCHER2) refuse to bind to them.
  if (request.roles.mapping == "hyperthread" || request.roles.mapping == "thread")
    text += " --hint=multithread";
  if (request.placement.oversubscribe) text += " --overcommit";
  return text;
}

// Ranks on nodes in an order of their own: a file names the node of each rank.
Result<std::string> emit_arbitrary(const EmitRequest& request) {
  const Placement& placement = request.placement;
  if (!request.name_hosts) {
    return fail(ErrorCode::invalid_argument,
                "Slurm can put ranks on nodes in another order only if their names are known",
                "give the names with --hosts or --hostfile");
  }
  // By node, the ranks in order: each node must bind them alike.
  std::vector<Numbers> ranks(placement.hosts.size());
  for (std::uint32_t rank = 0; rank < placement.node_of.size(); ++rank)
    ranks[placement.node_of[rank]].push_back(rank);
  const Numbers& longest = *std::max_element(
      ranks.begin(), ranks.end(), [](const Numbers& a, const Numbers& b) { return a.size() < b.size(); });
  bool common = !placement.pus_of.empty();
  for (const Numbers& on_node : ranks) {
    for (std::size_t i = 0; common && i < on_node.size(); ++i)
      common = same_pus(placement, on_node[i], longest[i]);
  }
  Placement in_order;
  if (common) {
    for (const std::uint32_t rank : longest) in_order.pus_of.add(placement.pus_of[rank]);
  }
  std::string text = "#!/bin/sh\n# sh THIS-FILE PROGRAM ARGUMENTS, inside an allocation\n";
  if (!common && !placement.pus_of.empty())
    text +=
        "# Nodes need different bindings, which srun cannot say in this order: Weir binds by WEIR_PLAN.\n";
  text += plan_lines(request);
  text +=
      "SLURM_HOSTFILE=$(mktemp) || exit 1\nexport SLURM_HOSTFILE\ntrap 'rm -f \"$SLURM_HOSTFILE\"' EXIT\n";
  text += "cat > \"$SLURM_HOSTFILE\" <<'HOSTS'\n";
  for (const std::uint32_t node : placement.node_of) text += placement.hosts[node] + "\n";
  text += fmt::format("HOSTS\nsrun --ntasks={} --distribution=arbitrary{} {} \"$@\"\n",
                      placement.node_of.size(), common_options(request),
                      binding(in_order, {.count = static_cast<std::uint32_t>(longest.size())}));
  return text;
}

}  // namespace

std::vector<RankRun> rank_runs(const Placement& placement) {
  std::vector<RankRun> runs;
  for (std::uint32_t rank = 0; rank < placement.node_of.size(); ++rank) {
    if (runs.empty() || runs.back().node != placement.node_of[rank])
      runs.push_back({.first = rank, .count = 0, .node = placement.node_of[rank]});
    ++runs.back().count;
  }
  return runs;
}

Status check_emittable(const EmitRequest& request) {
  const Placement& placement = request.placement;
  if (placement.node_of.empty()) {
    return fail(ErrorCode::invalid_argument, "the plan does not say on which nodes the ranks run",
                "make one with 'weir plan --mapping'");
  }
  if (request.name_hosts) {
    for (const std::uint32_t node : placement.node_of) {
      if (node >= placement.hosts.size())
        return fail(ErrorCode::invalid_argument, fmt::format("the plan does not name node {}", node));
    }
  }
  return {};
}

Result<std::string> emit_slurm(const EmitRequest& request) {
  WEIR_TRY(check_emittable(request));
  const Placement& placement = request.placement;
  if (!std::is_sorted(placement.node_of.begin(), placement.node_of.end())) return emit_arbitrary(request);
  const std::vector<RankRun> runs = rank_runs(placement);
  std::string text = "#!/bin/sh\n# sh THIS-FILE PROGRAM ARGUMENTS, inside an allocation\n" +
                     plan_lines(request) + "exec srun";
  for (std::size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    while (end < runs.size() && alike(placement, runs[begin], runs[end])) ++end;
    text += fmt::format("{} --nodes={} --ntasks={} --ntasks-per-node={}", begin == 0 ? "" : " :", end - begin,
                        (end - begin) * runs[begin].count, runs[begin].count);
    if (request.name_hosts) {
      std::vector<std::string> hosts;
      for (std::size_t i = begin; i < end; ++i) hosts.push_back(placement.hosts[runs[i].node]);
      text += " --nodelist=" + format_host_list(hosts);
    }
    text += fmt::format(" --distribution=block:block{} {} \"$@\"", common_options(request),
                        binding(placement, runs[begin]));
  }
  return text + "\n";
}

}  // namespace weir
