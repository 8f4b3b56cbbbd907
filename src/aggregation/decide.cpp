#include "aggregation/decide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/options.hpp"

namespace weir::aggregation {

std::uint32_t Decision::number_of(std::uint32_t rank) const {
  const auto found = std::find(aggregators.begin(), aggregators.end(), rank);
  return found == aggregators.end() ? UINT32_MAX : static_cast<std::uint32_t>(found - aggregators.begin());
}

std::vector<std::uint32_t> segment_groups(const Nodes& nodes, std::uint32_t groups) {
  const auto by_node = nodes.ranks_by_node();
  std::vector<std::uint32_t> group_of(nodes.ranks());
  groups = std::clamp(groups, 1U, nodes.ranks());
  if (groups < nodes.count) {  // whole nodes
    for (std::uint32_t rank = 0; rank < nodes.ranks(); ++rank)
      group_of[rank] = static_cast<std::uint32_t>(std::uint64_t{nodes.of_rank[rank]} * groups / nodes.count);
    return group_of;
  }
  // One group per node, and the rest where a group has the most ranks.
  std::vector<std::uint32_t> parts(nodes.count, 1);
  for (std::uint32_t left = groups - nodes.count; left > 0; --left) {
    std::uint32_t best = 0;
    for (std::uint32_t n = 1; n < nodes.count; ++n)
      if (by_node[n].size() * parts[best] > by_node[best].size() * parts[n]) best = n;
    ++parts[best];
  }
  std::uint32_t first = 0;
  for (std::uint32_t n = 0; n < nodes.count; ++n) {
    for (std::size_t i = 0; i < by_node[n].size(); ++i)
      group_of[by_node[n][i]] = first + static_cast<std::uint32_t>(i * parts[n] / by_node[n].size());
    first += parts[n];
  }
  return group_of;
}

namespace {

// A visit to a local file costs as much as copying about so many bytes: a system call, and for a write also
// what the file system does for pages that it covers in part.
constexpr std::uint64_t local_read = 4096;
constexpr std::uint64_t local_write = 16U << 10U;

std::uint64_t mean_piece(const CallFacts& facts) {
  return facts.bytes / std::max<std::uint64_t>(facts.pieces, 1);
}

// Pieces of a size that is worth gathering only if that leaves far fewer of them.
bool is_medium(const CallFacts& facts) {
  return !facts.shared_locks && !facts.reading && mean_piece(facts) >= local_read &&
         mean_piece(facts) < local_write;
}

}  // namespace

bool needs_node_pieces(const CallFacts& facts, const Nodes& nodes, const Settings& settings) {
  return settings.algorithm == Algorithm::automatic && settings.ranks.empty() && facts.bytes > 0 &&
         (nodes.count > 1 ? mean_piece(facts) < large_request(facts, settings) : is_medium(facts));
}

std::uint64_t large_request(const CallFacts& facts, const Settings& settings) {
  constexpr std::uint64_t shared_read = 64U << 10U;
  if (!facts.shared_locks) return facts.reading ? local_read : local_write;
  return facts.reading ? shared_read : std::max<std::uint64_t>(settings.striping.unit, 1U << 20U);
}

bool all_direct(const CallFacts& facts, const Settings& settings) {
  if (settings.requests > 0) return false;
  if (settings.algorithm != Algorithm::automatic) return settings.algorithm == Algorithm::direct;
  return settings.ranks.empty() && (facts.pieces == 0 || mean_piece(facts) >= large_request(facts, settings));
}

namespace {

struct Choice {
  Algorithm algorithm;
  std::string reason;
};

Choice choose(const CallFacts& facts, const Nodes& nodes, const Settings& settings) {
  if (settings.algorithm != Algorithm::automatic) return {settings.algorithm, "asked for"};
  if (!settings.ranks.empty()) return {Algorithm::two_phase, "aggregators are given"};
  const std::uint64_t large = large_request(facts, settings);
  const std::uint64_t mean = mean_piece(facts);
  if (mean >= large)
    return {Algorithm::direct,
            fmt::format("pieces of {} are large enough to go straight to the file", format_bytes(mean))};
  if (is_medium(facts)) {
    // Gathering copies every byte once more.
    const std::uint64_t gathered = facts.node_pieces == 0 ? facts.pieces : facts.node_pieces;
    if (gathered >= facts.pieces || facts.pieces - gathered <= facts.bytes / local_write)
      return {Algorithm::direct,
              fmt::format("pieces of {} would not become much larger within a node", format_bytes(mean))};
  }
  if (nodes.count == 1)
    return {Algorithm::two_phase, fmt::format("pieces of {} are gathered in the node", format_bytes(mean))};
  const std::uint64_t in_node = facts.node_pieces == 0 ? mean : facts.bytes / facts.node_pieces;
  if (in_node >= (facts.shared_locks ? large : local_read))
    return {Algorithm::segmented, fmt::format("pieces of {} become {} when each node gathers its own",
                                              format_bytes(mean), format_bytes(in_node))};
  return {Algorithm::two_phase,
          fmt::format("pieces of {} are small even where a node gathers its own", format_bytes(mean))};
}

// One where nothing is known.
std::uint32_t targets_of(const Settings& settings) {
  return settings.striping.known() ? settings.striping.factor : 1;
}

Layout ordered(Layout layout, const Nodes& nodes, const Settings& settings) {
  return settings.striping_aware ? striping_aware(layout, nodes, settings.striping.factor) : layout;
}

Layout choose_aggregators(const Nodes& nodes, const Settings& settings) {
  if (!settings.ranks.empty()) return settings.ranks;
  if (settings.aggregators > 0) {
    const std::uint32_t count = std::min(settings.aggregators, nodes.ranks());
    return ordered(settings.round_robin ? round_robin(nodes, count) : blocked(nodes, count), nodes, settings);
  }
  Layout layout = round_robin(nodes, suitable_count(nodes, targets_of(settings)));
  if (!settings.round_robin) std::sort(layout.begin(), layout.end());
  return ordered(std::move(layout), nodes, settings);
}

Domains choose_domains(const CallFacts& facts, std::uint32_t aggregators, const Settings& settings) {
  DomainKind kind = settings.domains;
  if (kind == DomainKind::automatic) {
    // Requests per target can only be counted where an aggregator keeps to its targets.
    const bool by_target = targets_of(settings) > 1 && (settings.striping_aware || settings.requests > 0);
    if (!settings.striping.known())
      kind = DomainKind::even;
    else
      kind = by_target ? DomainKind::cyclic : DomainKind::aligned;
  }
  Striping striping = settings.striping;
  if (!striping.known()) striping.unit = usual_stripe;
  switch (kind) {
    case DomainKind::aligned:
      return Domains::aligned(facts.begin, facts.end, aggregators, striping);
    case DomainKind::cyclic:
      return Domains::cyclic(facts.begin, facts.end, aggregators, striping);
    default:
      return Domains::even(facts.begin, facts.end, aggregators);
  }
}

}  // namespace

Decision decide(const CallFacts& facts, const Nodes& nodes, const Settings& settings) {
  Choice choice = choose(facts, nodes, settings);
  Decision decision{.algorithm = choice.algorithm, .reason = std::move(choice.reason)};
  switch (decision.algorithm) {
    case Algorithm::two_phase:
      decision.aggregators = choose_aggregators(nodes, settings);
      decision.domains =
          choose_domains(facts, static_cast<std::uint32_t>(decision.aggregators.size()), settings);
      break;
    case Algorithm::segmented: {
      const std::uint32_t groups = settings.aggregators > 0 ? settings.aggregators : nodes.count;
      decision.group_of_rank = segment_groups(nodes, groups);
      decision.aggregators.assign(
          *std::max_element(decision.group_of_rank.begin(), decision.group_of_rank.end()) + 1, UINT32_MAX);
      for (std::uint32_t rank = 0; rank < nodes.ranks(); ++rank) {
        std::uint32_t& aggregator = decision.aggregators[decision.group_of_rank[rank]];
        if (aggregator == UINT32_MAX) aggregator = rank;
      }
      break;
    }
    default:
      decision.algorithm = Algorithm::direct;
      decision.aggregators =
          settings.round_robin ? round_robin(nodes, nodes.ranks()) : blocked(nodes, nodes.ranks());
      decision.aggregators = ordered(std::move(decision.aggregators), nodes, settings);
  }
  decision.steps = Steps::of(static_cast<std::uint32_t>(decision.aggregators.size()), targets_of(settings),
                             settings.requests);
  return decision;
}

std::vector<std::string> settings_without_effect(const Decision& decision, const Settings& settings) {
  std::vector<std::string> notes;
  const std::uint32_t targets = targets_of(settings);
  const auto counted = [](std::size_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  if (settings.striping_aware && targets == 1)
    notes.emplace_back(
        "agg=1 changes nothing: no more than one storage target is known (WEIR_STRIPING, as 1MiB x 4, names "
        "more)");
  else if (settings.striping_aware && decision.algorithm == Algorithm::segmented)
    notes.emplace_back("agg=1 changes nothing: every node gathers its own");
  else if (settings.striping_aware && decision.algorithm == Algorithm::direct && !decision.steps.throttled())
    notes.emplace_back("agg=1 changes nothing: ranks touch the file for themselves, in no order");
  if (settings.requests > 0 && !decision.steps.throttled())
    notes.push_back(fmt::format(
        "req={} changes nothing: {} cannot make more requests to {} at a time", settings.requests,
        counted(decision.aggregators.size(), decision.algorithm == Algorithm::direct ? "rank" : "aggregator"),
        counted(targets, "storage target")));
  return notes;
}

Piece blocks_to_ask_for(const CallFacts& writes, std::uint64_t allocated) {
  constexpr std::uint64_t least = 256U << 10U;  // below, asking costs more than it saves
  const std::uint64_t begin = std::max(writes.begin, allocated);
  if (writes.end < least || begin > writes.end - least) return {};
  const std::uint64_t whole = writes.end - writes.begin;
  if (writes.bytes < whole - whole / 8) return {};  // blocks of large holes would be lost
  return {.offset = begin, .length = writes.end - begin};
}

Status check(const Decision& decision, const Nodes& nodes) {
  if (decision.algorithm == Algorithm::automatic)
    return fail(ErrorCode::invalid_argument, "nothing was decided");
  WEIR_TRY(check(decision.aggregators, nodes));
  WEIR_TRY(check(decision.steps));
  if (decision.steps.aggregators != decision.aggregators.size())
    return fail(ErrorCode::invalid_argument, "steps are for another number of aggregators");
  if (decision.algorithm == Algorithm::two_phase) {
    if (!decision.domains || decision.domains->aggregators() != decision.aggregators.size())
      return fail(ErrorCode::invalid_argument, "an aggregator has no file domain");
    WEIR_TRY(check(*decision.domains));
  }
  if (decision.algorithm == Algorithm::segmented) {
    if (decision.group_of_rank.size() != nodes.ranks())
      return fail(ErrorCode::invalid_argument, "a rank has no group");
    for (std::size_t g = 0; g < decision.aggregators.size(); ++g)
      if (decision.group_of_rank[decision.aggregators[g]] != g)
        return fail(ErrorCode::invalid_argument,
                    fmt::format("the aggregator of group {} is in another group", g));
  }
  return {};
}

}  // namespace weir::aggregation
