#include "placement/algorithm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>

#include "placement/roles.hpp"

namespace weir {

namespace {

tl::unexpected<Failure> refuse(std::string cause, std::string advice = {}) {
  return fail(ErrorCode::invalid_argument, std::move(cause), std::move(advice));
}

Status check_matrix(const pattern::SparseMatrix* matrix, std::string_view what, std::uint64_t ranks,
                    bool square) {
  if (matrix == nullptr) return {};
  if (matrix->rows != ranks || (square && matrix->columns != ranks)) {
    return refuse(fmt::format("the {} is {} by {}, but there are {} ranks", what, matrix->rows,
                              matrix->columns, ranks));
  }
  return {};
}

Status check_problem(const PlacementProblem& problem, const PlacementAlgorithm& algorithm) {
  if (problem.ranks == 0 || problem.ranks > most_ranks)
    return refuse(fmt::format("{} ranks: there can be 1 to {}", problem.ranks, most_ranks));
  WEIR_TRY(check_matrix(problem.recorded, "application matrix", problem.ranks, true));
  WEIR_TRY(check_matrix(problem.cartesian, "Cartesian matrix", problem.ranks, true));
  WEIR_TRY(check_matrix(problem.shuffle, "shuffle", problem.ranks, false));
  if (problem.machine->total_capacity() < problem.ranks) {
    return refuse(fmt::format("{} ranks do not fit: {} nodes take {}, a core each and within their limits",
                              problem.ranks, problem.machine->nodes(), problem.machine->total_capacity()),
                  "give more nodes or raise the limits; where ranks share cores, describe the nodes with as "
                  "many cores as they take ranks (--hosts LIST --platform NODESxRANKS)");
  }
  if (algorithm.recorded && problem.recorded == nullptr)
    return refuse(fmt::format("'{}' needs an application matrix", algorithm.name));
  if (algorithm.cartesian && problem.cartesian == nullptr)
    return refuse(fmt::format("'{}' needs a Cartesian grid", algorithm.name), "add --grid");
  if (algorithm.shuffle && problem.shuffle == nullptr)
    return refuse(fmt::format("'{}' needs the bytes between ranks and file domains", algorithm.name),
                  "give a pattern, not a matrix; of very many ranks and domains they are left out");
  return {};
}

bool has_what_it_needs(const PlacementAlgorithm& algorithm, const PlacementProblem& problem) {
  return (!algorithm.recorded || problem.recorded != nullptr) &&
         (!algorithm.cartesian || problem.cartesian != nullptr) &&
         (!algorithm.shuffle || problem.shuffle != nullptr);
}

// Ranks per node if all nodes get alike; 0: they cannot, or it is no limit.
std::uint32_t even_share(const PlacementProblem& problem) {
  const Machine& machine = *problem.machine;
  const std::uint32_t share = (problem.ranks + machine.nodes() - 1) / machine.nodes();
  std::uint64_t room = 0;
  for (const std::uint32_t capacity : machine.capacities()) room += std::min(capacity, share);
  return share < machine.largest_capacity() && room >= problem.ranks ? share : 0;
}

}  // namespace

const std::vector<PlacementAlgorithm>& placement_algorithms() {
  static const std::vector<PlacementAlgorithm> table = {
      {"byslot", "nodes filled one after the other", "ranks per node", false, false, false, place_byslot},
      {"bynode", "a rank to each node in turn", "", false, false, false, place_bynode},
      {"mpipp", "pairwise exchange from a random start, on the Cartesian grid", "passes", false, true, false,
       place_mpipp},
      {"mpippg", "the same on the recorded matrix", "passes", true, false, false, place_mpippg},
      {"setmatch", "sets of strongly joined ranks to nodes, on the Cartesian grid", "percentage", false, true,
       false, place_setmatch},
      {"setmatchg", "the same on the recorded matrix", "percentage", true, false, false, place_setmatchg},
      {"treematch", "groups from the cores upwards, on the recorded matrix", "", true, false, false,
       place_treematch},
      {"scotch", "the Scotch library maps to nodes", "", true, false, false, place_scotch},
      {"joint", "ranks and aggregators together; the application matrix decides, then the shuffle", "", true,
       false, false, place_joint},
      {"joint-shuffle", "ranks and aggregators together; the shuffle decides, then the application matrix",
       "", true, false, true, place_joint_shuffle},
  };
  return table;
}

Result<AlgorithmChoice> parse_algorithm(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  AlgorithmChoice choice{.text = std::string(text)};
  std::vector<std::string> names;
  for (const PlacementAlgorithm& algorithm : placement_algorithms()) {
    if (algorithm.name == name) choice.algorithm = &algorithm;
    names.emplace_back(algorithm.name);
  }
  if (choice.algorithm == nullptr)
    return refuse(fmt::format("unknown placement algorithm '{}'{}", name, suggest(name, names)));
  if (colon == std::string_view::npos) return choice;

  const std::string_view digits = text.substr(colon + 1);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (choice.algorithm->parameter.empty())
    return refuse(fmt::format("'{}': algorithm '{}' takes no parameter", text, name));
  if (error != std::errc{} || end != digits.data() + digits.size() || value == 0 || value > 1'000'000)
    return refuse(
        fmt::format("'{}': the {} must be a whole number of 1 or more", text, choice.algorithm->parameter));
  if (choice.algorithm->parameter == "percentage") {
    if (value > 100) return refuse(fmt::format("'{}': a percentage is at most 100", text));
    choice.options.percentage = value;
  } else if (choice.algorithm->parameter == "passes") {
    choice.options.passes = value;
  } else {
    choice.options.ranks_per_node = value;
  }
  return choice;
}

Result<std::vector<AlgorithmChoice>> parse_algorithms(std::string_view text,
                                                      const PlacementProblem& problem) {
  std::vector<AlgorithmChoice> choices;
  const auto add = [&](std::string_view one) -> Status {
    WEIR_ASSIGN(AlgorithmChoice choice, parse_algorithm(one));
    const bool there = std::any_of(choices.begin(), choices.end(),
                                   [&](const AlgorithmChoice& other) { return other.text == choice.text; });
    if (!there) choices.push_back(std::move(choice));
    return {};
  };
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word != "all") {
      WEIR_TRY(add(word));
      continue;
    }
    for (const PlacementAlgorithm& algorithm : placement_algorithms()) {
      if (!has_what_it_needs(algorithm, problem)) continue;
      WEIR_TRY(add(algorithm.name));
      if (algorithm.name == "byslot" && even_share(problem) != 0)
        WEIR_TRY(add(fmt::format("byslot:{}", even_share(problem))));
    }
  }
  return choices;
}

Result<Placed> place(const PlacementProblem& problem, const AlgorithmChoice& choice) {
  WEIR_TRY(check_problem(problem, *choice.algorithm));
  WEIR_ASSIGN(Placed placed, choice.algorithm->place(problem, choice.options));
  if (const Status fine = check(placed.assignment, *problem.machine, problem.ranks); !fine)
    throw std::logic_error(fmt::format("placement '{}': {}", choice.text, fine.error().message()));
  const std::size_t domains = problem.shuffle == nullptr ? 0 : problem.shuffle->columns;
  if (!placed.node_of_domain.empty() && placed.node_of_domain.size() != domains)
    throw std::logic_error(fmt::format("placement '{}': not every file domain has a node", choice.text));
  return placed;
}

Status check(const Assignment& assignment, const Machine& machine, std::uint32_t ranks) {
  if (assignment.node_of.size() != ranks || assignment.core_of.size() != ranks)
    return refuse(fmt::format("{} of {} ranks have a node, {} a core", assignment.node_of.size(), ranks,
                              assignment.core_of.size()));
  std::vector<std::uint64_t> first_core(machine.nodes() + std::size_t{1}, 0);
  for (std::uint32_t node = 0; node < machine.nodes(); ++node)
    first_core[node + 1] =
        first_core[node] + (machine.cores(node).empty() ? 0 : std::uint64_t{machine.cores(node).back()} + 1);
  std::vector<char> taken(first_core.back(), 0);
  Numbers count(machine.nodes(), 0);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t node = assignment.node_of[rank], core = assignment.core_of[rank];
    if (node >= machine.nodes())
      return refuse(fmt::format("rank {} is on node {}, there are {}", rank, node, machine.nodes()));
    const Numbers& cores = machine.cores(node);
    if (!std::binary_search(cores.begin(), cores.end(), core))
      return refuse(fmt::format("rank {} is on core {} of node {}, which may not be used", rank, core, node));
    if (taken[first_core[node] + core]++ != 0)
      return refuse(fmt::format("core {} of node {} has two ranks, one of them is {}", core, node, rank));
    if (++count[node] > machine.capacity(node))
      return refuse(fmt::format("node {} has more than {} ranks", node, machine.capacity(node)));
  }
  return {};
}

Assignment seat(const Machine& machine, Numbers node_of, std::span<const std::uint32_t> rank_order) {
  Assignment assignment{.node_of = std::move(node_of)};
  assignment.core_of.resize(assignment.node_of.size());
  Numbers next(machine.nodes(), 0);
  for (const std::uint32_t rank : rank_order) {
    const std::uint32_t node = assignment.node_of[rank];
    assignment.core_of[rank] = machine.cores(node).at(next[node]++);
  }
  return assignment;
}

Assignment seat(const Machine& machine, Numbers node_of) {
  Numbers order(node_of.size());
  std::iota(order.begin(), order.end(), 0U);
  return seat(machine, std::move(node_of), order);
}

Placement to_placement(const Assignment& assignment, const Platform& platform) {
  std::vector<Numbers> first_pu;  // by node type, of each core; of those that may not be used, any
  for (const NodeType& type : platform.node_types) {
    Numbers pus;
    for (const Core& core : type.cores) {
      std::uint32_t chosen = core.pus.front();
      for (const std::uint32_t pu : core.pus) {
        if (std::binary_search(type.unusable_pus.begin(), type.unusable_pus.end(), pu)) continue;
        chosen = pu;
        break;
      }
      pus.push_back(chosen);
    }
    first_pu.push_back(std::move(pus));
  }
  Placement placement;
  Numbers number(platform.nodes.size(), UINT32_MAX);
  std::vector<char> used(platform.nodes.size(), 0);
  for (const std::uint32_t node : assignment.node_of) used[node] = 1;
  for (std::uint32_t node = 0; node < used.size(); ++node) {
    if (used[node] == 0) continue;
    number[node] = static_cast<std::uint32_t>(placement.hosts.size());
    placement.hosts.push_back(platform.nodes[node].name);
  }
  placement.node_of.reserve(assignment.node_of.size());
  placement.pus_of.reserve(assignment.node_of.size());
  for (std::size_t rank = 0; rank < assignment.node_of.size(); ++rank) {
    const std::uint32_t node = assignment.node_of[rank];
    placement.node_of.push_back(number[node]);
    placement.pus_of.add(first_pu[platform.nodes[node].type][assignment.core_of[rank]]);
  }
  return placement;
}

}  // namespace weir
