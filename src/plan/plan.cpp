#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "platform/host_list.hpp"
#include "platform/lookup.hpp"

namespace weir {

namespace {

constexpr std::array<std::string_view, 3> mode_names = {"synchronous", "servers", "thread"};

class Problems {
 public:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (++count_ < most) list_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  std::vector<std::string> take() {
    if (count_ >= most) list_.push_back(fmt::format("and {} more", count_ - most + 1));
    return std::move(list_);
  }

 private:
  static constexpr std::size_t most = 20;
  std::size_t count_ = 0;
  std::vector<std::string> list_;
};

// Each of the ranks exists; with `ascending` also: in order, none twice. Otherwise only: none twice.
void check_ranks(const Plan& plan, const Numbers& ranks, std::string_view what, bool ascending,
                 Problems& problems) {
  std::vector<char> seen(plan.ranks, 0);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::uint32_t rank = ranks[i];
    if (rank >= plan.ranks) {
      problems.add("{}: rank {} does not exist, there are {} ranks", what, rank, plan.ranks);
      continue;
    }
    if (seen[rank]++ != 0) problems.add("{}: rank {} is named twice", what, rank);
    if (ascending && i > 0 && ranks[i - 1] > rank) problems.add("{}: rank {} is out of order", what, rank);
  }
}

void check_roles(const Plan& plan, Problems& problems) {
  const Roles& roles = plan.roles;
  if (!is_host_name(roles.mapping)) problems.add("roles: '{}' is not the name of a mapping", roles.mapping);
  if (plan.mode != Mode::servers && !roles.servers.empty()) {
    problems.add("roles: there are servers, but the mode is '{}'", to_string(plan.mode));
  }
  if (plan.ranks == 0) return;
  check_ranks(plan, roles.servers, "servers", true, problems);
  if (plan.mode == Mode::servers && roles.servers.empty())
    problems.add("roles: the mode is 'servers', but no rank serves");
  if (roles.servers.size() >= plan.ranks) {
    problems.add("roles: no rank is left to compute");
    return;
  }
  if (roles.server_of.empty()) return;
  const std::size_t compute = plan.ranks - roles.servers.size();
  if (roles.server_of.size() != compute) {
    problems.add("roles: {} compute ranks have {} servers assigned", compute, roles.server_of.size());
  }
  const std::unordered_set<std::uint32_t> servers(roles.servers.begin(), roles.servers.end());
  for (std::size_t i = 0; i < roles.server_of.size(); ++i) {
    if (!servers.contains(roles.server_of[i])) {
      problems.add("roles: compute rank number {} is sent to rank {}, which is no server", i,
                   roles.server_of[i]);
    }
  }
}

void check_placement(const Plan& plan, Problems& problems) {
  const Placement& placement = plan.placement;
  std::unordered_set<std::string_view> names;
  for (const std::string& host : placement.hosts) {
    if (!is_host_name(host)) problems.add("placement: '{}' is not the name of a host", host);
    if (!names.insert(host).second) problems.add("placement: host '{}' is named twice", host);
  }
  if (!placement.node_of.empty() && placement.node_of.size() != plan.ranks) {
    problems.add("placement: {} ranks have a node, of {}", placement.node_of.size(), plan.ranks);
  }
  if (!placement.pus_of.empty() && placement.pus_of.size() != placement.node_of.size()) {
    problems.add("placement: {} ranks are bound to hardware threads, but {} have a node",
                 placement.pus_of.size(), placement.node_of.size());
  }
  if (placement.hosts.empty()) return;
  for (std::size_t rank = 0; rank < placement.node_of.size(); ++rank) {
    if (placement.node_of[rank] >= placement.hosts.size()) {
      problems.add("placement: rank {} is on host number {}, there are {} hosts", rank,
                   placement.node_of[rank], placement.hosts.size());
    }
  }
}

void check_aggregators(const Plan& plan, Problems& problems) {
  const Aggregators& aggregators = plan.aggregators;
  check_ranks(plan, aggregators.ranks, "aggregators", false, problems);
  if (plan.mode == Mode::servers && !plan.roles.servers.empty()) {
    const std::unordered_set<std::uint32_t> servers(plan.roles.servers.begin(), plan.roles.servers.end());
    for (const std::uint32_t rank : aggregators.ranks) {
      if (rank < plan.ranks && !servers.contains(rank)) {
        problems.add("aggregators: rank {} computes, but the servers do the I/O", rank);
      }
    }
  }
  if (!aggregators.targets_of.empty() && aggregators.targets_of.size() != aggregators.ranks.size()) {
    problems.add("aggregators: {} ranks, but targets for {}", aggregators.ranks.size(),
                 aggregators.targets_of.size());
  }
}

void check_alone(const Plan& plan, Problems& problems) {
  if (plan.ranks > most_ranks) {
    problems.add("{} ranks are more than {}", plan.ranks, most_ranks);
    return;
  }
  const bool names_ranks = !plan.roles.servers.empty() || !plan.roles.server_of.empty() ||
                           !plan.placement.node_of.empty() || !plan.placement.pus_of.empty() ||
                           !plan.aggregators.ranks.empty();
  if (plan.ranks == 0 && names_ranks) {
    problems.add("the plan names ranks, but does not say for how many ranks it is");
    return;
  }
  check_roles(plan, problems);
  check_placement(plan, problems);
  check_aggregators(plan, problems);
  if (plan.backend.name.empty() && !plan.backend.options.empty())
    problems.add("backend: there are options, but no name");
}

void check_count(const Plan& plan, std::uint32_t ranks, Problems& problems) {
  if (plan.ranks != 0 && plan.ranks != ranks)
    problems.add("the plan is for {} ranks, the run has {}", plan.ranks, ranks);
}

// The platform's node for each number that node_of uses; none where there is no such node.
std::vector<std::optional<std::uint32_t>> resolve_nodes(const Plan& plan, const Platform& platform,
                                                        Problems& problems) {
  std::vector<std::optional<std::uint32_t>> nodes;
  if (plan.placement.hosts.empty()) {
    for (std::uint32_t i = 0; i < platform.nodes.size(); ++i) nodes.emplace_back(i);
    return nodes;
  }
  std::unordered_map<std::string_view, std::uint32_t> index;
  for (std::uint32_t i = 0; i < platform.nodes.size(); ++i) index.emplace(platform.nodes[i].name, i);
  for (const std::string& host : plan.placement.hosts) {
    const auto found = index.find(host);
    nodes.push_back(found == index.end() ? std::nullopt : std::optional(found->second));
    if (found == index.end()) problems.add("placement: host '{}' is not in the platform", host);
  }
  return nodes;
}

void check_on_platform(const Plan& plan, const Platform& platform, Problems& problems) {
  const Placement& placement = plan.placement;
  const auto nodes = resolve_nodes(plan, platform, problems);
  const PlatformLookup lookup(platform);
  std::vector<std::uint32_t> ranks_on(platform.nodes.size(), 0);
  struct Use {
    std::uint32_t node, pu, rank;
    bool operator<(const Use& other) const {
      return std::tie(node, pu, rank) < std::tie(other.node, other.pu, other.rank);
    }
  };
  std::vector<Use> uses;
  for (std::uint32_t rank = 0; rank < placement.node_of.size(); ++rank) {
    const std::uint32_t number = placement.node_of[rank];
    if (number >= nodes.size()) {
      if (placement.hosts.empty())
        problems.add("placement: rank {} is on node {}, there are {} nodes", rank, number, nodes.size());
      continue;
    }
    if (!nodes[number]) continue;
    const std::uint32_t node = *nodes[number];
    ++ranks_on[node];
    if (rank >= placement.pus_of.size()) continue;
    for (const std::uint32_t pu : placement.pus_of[rank]) {
      if (!lookup.node(node).core_of(pu)) {
        problems.add("placement: rank {} is bound to hardware thread {}, which node '{}' does not have", rank,
                     pu, platform.nodes[node].name);
      } else if (!lookup.node(node).usable(pu)) {
        problems.add("placement: rank {} is bound to hardware thread {} of node '{}', which may not be used",
                     rank, pu, platform.nodes[node].name);
      } else {
        uses.push_back({node, pu, rank});
      }
    }
  }
  if (!placement.oversubscribe) {
    std::sort(uses.begin(), uses.end());
    for (std::size_t i = 1; i < uses.size(); ++i) {
      if (uses[i - 1].node != uses[i].node || uses[i - 1].pu != uses[i].pu) continue;
      problems.add("placement: ranks {} and {} share hardware thread {} of node '{}'", uses[i - 1].rank,
                   uses[i].rank, uses[i].pu, platform.nodes[uses[i].node].name);
    }
    for (std::uint32_t node = 0; node < ranks_on.size(); ++node) {
      const std::uint32_t slots = platform.nodes[node].slots;
      if (slots != 0 && ranks_on[node] > slots) {
        problems.add("placement: {} ranks on node '{}', which has {} slots", ranks_on[node],
                     platform.nodes[node].name, slots);
      }
    }
  }
  if (platform.storage.empty()) return;
  for (const std::uint32_t target : plan.aggregators.targets_of.values()) {
    if (target >= platform.storage.size()) {
      problems.add("aggregators: target {} does not exist, there are {} storage targets", target,
                   platform.storage.size());
    }
  }
}

Status first_of(const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  std::string cause = problems.front();
  if (problems.size() > 1) cause += fmt::format(" (the first of {} problems)", problems.size());
  return in(Status(fail(ErrorCode::invalid_argument, std::move(cause))), "check the plan");
}

}  // namespace

std::string_view to_string(Mode mode) {
  return mode_names.at(static_cast<std::size_t>(mode));
}

Result<Mode> parse_mode(std::string_view name) {
  const auto found = std::find(mode_names.begin(), mode_names.end(), name);
  if (found != mode_names.end()) return static_cast<Mode>(found - mode_names.begin());
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("unknown mode '{}'{}", name, suggest(name, {mode_names.begin(), mode_names.end()})));
}

std::vector<std::uint32_t> Plan::aggregators_among_writers() const {
  std::vector<std::uint32_t> writers;
  for (const std::uint32_t rank : aggregators.ranks) {
    std::uint32_t number = rank;
    if (mode == Mode::servers) {
      number = 0;
      for (const std::uint32_t server : roles.servers) number += server < rank ? 1U : 0U;
    }
    writers.push_back(number);
  }
  return writers;
}

Numbers Plan::compute_ranks() const {
  return weir::compute_ranks(roles, ranks);
}

std::vector<std::string> problems(const Plan& plan) {
  Problems found;
  check_alone(plan, found);
  return found.take();
}

std::vector<std::string> problems(const Plan& plan, std::uint32_t ranks) {
  Problems found;
  check_alone(plan, found);
  check_count(plan, ranks, found);
  return found.take();
}

std::vector<std::string> problems(const Plan& plan, std::uint32_t ranks, const Platform& platform) {
  Problems found;
  check_alone(plan, found);
  check_count(plan, ranks, found);
  check_on_platform(plan, platform, found);
  return found.take();
}

Status check(const Plan& plan) {
  return first_of(problems(plan));
}
Status check(const Plan& plan, std::uint32_t ranks) {
  return first_of(problems(plan, ranks));
}
Status check(const Plan& plan, std::uint32_t ranks, const Platform& platform) {
  return first_of(problems(plan, ranks, platform));
}

}  // namespace weir
