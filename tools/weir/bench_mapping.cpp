// Roles and places of the ranks of a benchmark on this machine: the mappings of the paper on iocomp
// (Table II), and a thread instead of servers.
#include <fmt/format.h>

#include <algorithm>

#include "bench.hpp"
#include "platform/lookup.hpp"
#include "platform/source.hpp"

namespace weir::cli {

namespace {

// The hardware threads that may be used, core by core; cores without any are left out.
Result<std::vector<Numbers>> usable_cores() {
  WEIR_ASSIGN(const Platform platform, open_platform({}));
  const NodeType& type = platform.type_of(0);
  const NodeLookup lookup(type);
  std::vector<Numbers> cores;
  for (const Core& core : type.cores) {
    Numbers usable;
    std::copy_if(core.pus.begin(), core.pus.end(), std::back_inserter(usable),
                 [&](std::uint32_t pu) { return lookup.usable(pu); });
    if (!usable.empty()) cores.push_back(std::move(usable));
  }
  if (cores.empty()) return fail(ErrorCode::unsupported, "this machine has no core that may be used");
  return cores;
}

void place_ranks_on(Plan& plan, const std::vector<std::uint32_t>& pus) {
  for (const std::uint32_t pu : pus) plan.placement.pus_of.add(pu);
  plan.placement.node_of.assign(pus.size(), 0);
  std::vector<std::uint32_t> sorted = pus;
  std::sort(sorted.begin(), sorted.end());
  plan.placement.oversubscribe = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

// A rank and its thread: the core of the rank, and another one if there is one.
Result<BenchLaunch> with_room_for_threads(BenchLaunch launch, const std::vector<Numbers>& cores,
                                          std::uint32_t ranks) {
  launch.ranks = static_cast<int>(ranks);
  launch.plan.ranks = ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Numbers both = {cores[rank % cores.size()][0]};
    if (2 * ranks <= cores.size()) both.push_back(cores[ranks + rank][0]);
    launch.plan.placement.pus_of.add(both);
  }
  launch.plan.placement.node_of.assign(ranks, 0);
  launch.plan.placement.oversubscribe = ranks > cores.size();
  if (2 * ranks > cores.size())
    launch.notes.push_back(
        fmt::format("thread: {} ranks and their threads share {} cores", ranks, cores.size()));
  WEIR_TRY(in(check(launch.plan), "plan the mapping thread"));
  return launch;
}

}  // namespace

std::vector<std::string> bench_mappings() {
  return {"sequential", "consecutive", "hyperthread", "oversubscribe", "thread"};
}

Result<BenchLaunch> launch_of(const std::string& mapping, int compute) {
  const std::vector<std::string> names = bench_mappings();
  if (std::find(names.begin(), names.end(), mapping) == names.end()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("unknown mapping '{}'{}", mapping, suggest(mapping, names)));
  }
  WEIR_ASSIGN(const auto cores, usable_cores());
  const auto n = static_cast<std::uint32_t>(compute);
  const bool servers = mapping != "sequential" && mapping != "thread";

  BenchLaunch launch;
  launch.plan.mode = servers ? Mode::servers : mapping == "thread" ? Mode::thread : Mode::synchronous;
  launch.plan.roles.mapping = mapping;
  std::vector<std::uint32_t> pus;
  const auto core = [&](std::uint32_t number) -> const Numbers& { return cores[number % cores.size()]; };
  for (std::uint32_t rank = 0; rank < n; ++rank) pus.push_back(core(rank)[0]);
  for (std::uint32_t rank = 0; servers && rank < n; ++rank) {
    if (mapping == "hyperthread" && core(rank).size() < 2) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("the mapping hyperthread needs two hardware threads a core, and core {} of this "
                      "machine has one",
                      rank % cores.size()),
          "use consecutive or oversubscribe");
    }
    pus.push_back(mapping == "consecutive"   ? core(n + rank)[0]
                  : mapping == "hyperthread" ? core(rank)[1]
                                             : core(rank)[0]);
    launch.plan.roles.servers.push_back(n + rank);
    launch.plan.roles.server_of.push_back(n + rank);
  }
  if (mapping == "thread") return with_room_for_threads(std::move(launch), cores, n);
  launch.ranks = static_cast<int>(pus.size());
  launch.plan.ranks = static_cast<std::uint32_t>(pus.size());
  place_ranks_on(launch.plan, pus);
  const std::size_t wanted = mapping == "consecutive" ? pus.size() : n;
  if (wanted > cores.size()) {
    launch.notes.push_back(
        fmt::format("{}: {} ranks want cores of their own and there are {}; they share them", mapping, wanted,
                    cores.size()));
  }
  WEIR_TRY(in(check(launch.plan), "plan the mapping " + mapping));
  return launch;
}

}  // namespace weir::cli
