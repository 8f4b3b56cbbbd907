#include "session/session_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>

#include "core/options.hpp"
#include "placement/cores.hpp"
#include "placement/place.hpp"
#include "plan/mapping_plan.hpp"
#include "plan/plan_json.hpp"
#include "platform/binding.hpp"
#include "platform/source.hpp"

namespace weir::session {

namespace {

// Ranks that serve, or have served, a session of this program.
MPI_Group servers_so_far = MPI_GROUP_EMPTY;

bool had_servers() {
  return servers_so_far != MPI_GROUP_EMPTY;
}

// The plan that `weir run` or the user put into the environment.
Result<std::optional<Plan>> plan_of_environment() {
  const char* path = std::getenv("WEIR_PLAN");
  if (path == nullptr || *path == '\0') return std::optional<Plan>();
  WEIR_ASSIGN(Plan plan, load_plan(path));
  return std::optional<Plan>(std::move(plan));
}

// Languages without unsigned numbers hand over negative ones as very large ones.
Status check(const SessionOptions& options) {
  const auto refuse = [](const char* name, auto value, const std::string& advice) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is {}", name, static_cast<std::make_signed_t<decltype(value)>>(value)),
                advice);
  };
  if (options.budget > offload::most_budget)
    return refuse("budget", options.budget,
                  fmt::format("make it a number of bytes, at most {}", format_bytes(offload::most_budget)));
  if (options.compute_per_server > INT32_MAX)
    return refuse("compute_per_server", options.compute_per_server, "make it 0 or more");
  if (options.node_size > INT32_MAX) return refuse("node_size", options.node_size, "make it 0 or more");
  return {};
}

// A plan for thousands of ranks in a few words, which differ if anything in it does.
std::string in_a_few_words(const std::optional<Plan>& plan) {
  if (!plan) return "none";
  const std::string all = plan_to_json(*plan).dump();
  return fmt::format("mode {}, mapping {}, for {} ranks, contents {:016x}", to_string(plan->mode),
                     plan->roles.mapping, plan->ranks == 0 ? "any number of" : std::to_string(plan->ranks),
                     std::hash<std::string>{}(all));
}

std::vector<Setting> settings_of(const SessionOptions& options, const std::optional<Plan>& plan,
                                 bool plan_is_over) {
  const auto option = [](const char* name, std::string value) {
    return Setting{fmt::format("the session's {}", name), std::move(value), "pass the same on every rank"};
  };
  const auto word = [](const std::string& text) { return text.empty() ? "left out" : '\'' + text + '\''; };
  const auto number = [](std::uint32_t value) {
    return value == 0 ? std::string("left out") : std::to_string(value);
  };
  return {option("mode", word(options.mode)),
          option("mapping", word(options.mapping)),
          option("compute_per_server", number(options.compute_per_server)),
          option("node_size", number(options.node_size)),
          option("budget", options.budget == 0 ? std::string("left out") : format_bytes(options.budget)),
          Setting{"the plan of WEIR_PLAN", in_a_few_words(plan),
                  "hand the same plan to all ranks; with Open MPI: mpirun -x WEIR_PLAN=FILE"},
          Setting{"whether an earlier session had I/O servers", plan_is_over ? "yes" : "no",
                  "give the session a communicator whose ranks all took part in that one, or none of them"}};
}

// What the options leave of a plan's decisions.
Status apply(const SessionOptions& options, Plan& plan) {
  if (!options.mode.empty()) {
    WEIR_ASSIGN(plan.mode, parse_mode(options.mode));
  }
  if (!options.mapping.empty()) {
    WEIR_ASSIGN(const Mapping mapping, find_mapping(options.mapping));
    if (options.mode.empty()) plan.mode = mode_of(mapping);
    // Modes without servers leave a mapping alone, so that a program can switch between modes.
    if (plan.mode == Mode::servers && mode_of(mapping) != Mode::servers)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("mode 'servers' contradicts mapping '{}'", options.mapping),
                  "leave out one of them");
    plan.roles.mapping = options.mapping;
  }
  if (plan.mode == Mode::servers && (plan.roles.mapping == "sequential" || plan.roles.mapping == "thread"))
    plan.roles.mapping = "consecutive";
  return {};
}

}  // namespace

Result<Decision> decide(const SessionOptions& options, std::uint32_t ranks) {
  WEIR_TRY(check(options));
  WEIR_ASSIGN(const std::optional<Plan> given, plan_of_environment());
  Decision decision{.plan_is_over = given && given->mode == Mode::servers && had_servers()};
  Plan& plan = decision.plan;
  if (decision.plan_is_over) {  // what it says about files holds
    plan.throttle = given->throttle;
    plan.backend = given->backend;
  } else if (given) {
    plan = *given;
    if (plan.ranks != 0) WEIR_TRY(in(weir::check(plan, ranks), "use plan", std::getenv("WEIR_PLAN")));
  }
  const Plan planned = plan;
  WEIR_TRY(apply(options, plan));
  // Roles and places of a plan that was made for something else do not hold.
  if (plan.mode != planned.mode || plan.roles.mapping != planned.roles.mapping ||
      options.compute_per_server != 0 || options.node_size != 0) {
    plan.roles.servers.clear();
    plan.roles.server_of.clear();
    plan.placement = {};
  }
  if (plan.placement.node_of.empty()) {
    const bool asked = options.mapping == plan.roles.mapping || !planned.placement.pus_of.empty();
    WEIR_ASSIGN(const Mapping mapping, find_mapping(plan.roles.mapping));
    decision.places = asked && mode_of(mapping) == plan.mode;
  }
  decision.settings = settings_of(options, given, decision.plan_is_over);
  return decision;
}

Result<std::uint64_t> decide_budget(const SessionOptions& options) {
  constexpr std::uint64_t usual = std::uint64_t{1} << 30U;
  if (options.budget > 0) return options.budget;
  const char* text = std::getenv("WEIR_BUDGET");
  if (text == nullptr || *text == '\0') return usual;
  const auto bytes = parse_bytes(text);
  if (!bytes || *bytes <= 0 || static_cast<std::uint64_t>(*bytes) > offload::most_budget) {
    return fail(
        ErrorCode::invalid_argument, fmt::format("WEIR_BUDGET is '{}'", text),
        fmt::format("make it a size, such as 512MiB, at most {}", format_bytes(offload::most_budget)));
  }
  return static_cast<std::uint64_t>(*bytes);
}

Status agree_on(const mpi::Comm& comm, const Result<Decision>& mine) {
  const auto words = [&] {
    std::string text = "start a session";
    for (std::size_t i = 0; mine && i < mine->settings.size(); ++i)
      text += fmt::format(", {}: {}", mine->settings[i].name, mine->settings[i].value);
    return text;
  };
  const auto same = mpi::vote(comm, words, mine ? Status() : Status(tl::make_unexpected(mine.error())));
  if (same) return {};
  if (!mine || same.error().code != ErrorCode::disagreement) return tl::make_unexpected(same.error());
  for (const Setting& setting : mine->settings) {
    if (Status one = mpi::same_everywhere(comm, setting.value, setting.name); !one) {
      one.error().operation = "start a session";
      one.error().advice = setting.advice;
      return one;
    }
  }
  return tl::make_unexpected(same.error());
}

namespace {

Result<offload::Parts> divide(const Roles& roles, std::size_t ranks) {
  offload::Parts parts;
  parts.servers.assign(roles.servers.begin(), roles.servers.end());
  parts.server_of.assign(ranks, 0);
  for (const int server : parts.servers) parts.server_of[static_cast<std::size_t>(server)] = -1;
  auto server = roles.server_of.begin();
  for (int& of : parts.server_of) {
    if (of == 0) of = static_cast<int>(*server++);
  }
  for (const std::uint32_t serving : roles.servers) {
    if (std::find(roles.server_of.begin(), roles.server_of.end(), serving) == roles.server_of.end())
      return fail(ErrorCode::invalid_argument, fmt::format("server {} has no compute rank", serving),
                  "give it some, or let it compute");
  }
  return parts;
}

}  // namespace

Result<offload::Parts> assign_parts(Roles& roles, const SessionOptions& options,
                                    const std::vector<std::uint32_t>& node_of) {
  if (roles.servers.empty() || roles.server_of.empty()) {
    WEIR_ASSIGN(roles,
                assign_roles({.mapping = roles.mapping,
                              .ranks = static_cast<std::uint32_t>(node_of.size()),
                              .node_of = options.node_size > 0 ? std::vector<std::uint32_t>() : node_of,
                              .node_size = options.node_size,
                              .compute_per_server = std::max(1U, options.compute_per_server)}));
  }
  return divide(roles, node_of.size());
}

Status pin(const Placement& placement, int rank) {
  const auto number = static_cast<std::size_t>(rank);
  if (placement.pus_of.size() <= number || launcher_bound()) return {};
  const auto pus = placement.pus_of[number];
  if (pus.empty()) return {};
  return bind_this_process({pus.begin(), pus.end()});
}

namespace {

// Whether there is a core for each rank of this node; where there is, this rank is pinned afterwards.
Result<bool> pin_on_this_node(const Roles& roles, int rank, const std::vector<std::uint32_t>& node_of) {
  WEIR_ASSIGN(Platform machine, open_platform({}));
  const bool bound = launcher_bound();
  // What the launcher left to this rank says nothing about what the machine has.
  if (bound) machine.node_types[0].unusable_pus.clear();
  WEIR_TRY(check_threads_for(roles.mapping, machine.node_types[0], machine.nodes[0].name));
  if (bound) return true;
  PlaceRequest request{.ranks = static_cast<std::uint32_t>(node_of.size()), .roles = roles, .node_of = {}};
  const std::uint32_t mine = node_of[static_cast<std::size_t>(rank)];
  for (const std::uint32_t node : node_of) request.node_of.push_back(node == mine ? 0 : elsewhere);
  const auto placement = place_ranks(request, machine);
  if (!placement) return false;
  WEIR_TRY(pin(*placement, rank));
  return true;
}

}  // namespace

Status pin_by_mapping(const mpi::Comm& comm, const Roles& roles, const std::vector<std::uint32_t>& node_of) {
  const auto fits = pin_on_this_node(roles, comm.rank(), node_of);
  WEIR_ASSIGN(const bool overfull,
              mpi::vote(comm, "pin ranks", fits ? Status() : Status(tl::make_unexpected(fits.error())),
                        fits && !*fits));
  if (overfull && comm.rank() == 0)
    fmt::print(stderr, "weir: there are more ranks than cores: they are not bound, and share them\n");
  return {};
}

void note_servers(const mpi::Comm& job, const std::vector<int>& servers) {
  MPI_Group all = MPI_GROUP_NULL, serving = MPI_GROUP_NULL;
  MPI_Comm_group(job.get(), &all);
  MPI_Group_incl(all, static_cast<int>(servers.size()), servers.data(), &serving);
  MPI_Group_free(&all);
  MPI_Group together = MPI_GROUP_NULL;
  MPI_Group_union(servers_so_far, serving, &together);
  MPI_Group_free(&serving);
  if (servers_so_far != MPI_GROUP_EMPTY) MPI_Group_free(&servers_so_far);
  servers_so_far = together;
}

Status check_no_servers_among(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL, among = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  MPI_Group_intersection(group, servers_so_far, &among);
  int count = 0, size = 0;
  MPI_Group_size(among, &count);
  MPI_Group_size(group, &size);
  if (among != MPI_GROUP_EMPTY) MPI_Group_free(&among);
  MPI_Group_free(&group);
  if (count == 0) return {};
  return fail(
      ErrorCode::state,
      fmt::format("{} of the communicator's {} ranks {} part in an earlier session as {}, and in nothing "
                  "after it",
                  count, size, count == 1 ? "takes" : "take", count == 1 ? "an I/O server" : "I/O servers"),
      "use one session for the whole program, or give the next one a duplicate of the first one's "
      "compute communicator");
}

}  // namespace weir::session
