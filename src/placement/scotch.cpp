// Scotch, the library: the application graph is mapped to as many equal parts as there are nodes. Scotch
// balances where a launcher would fill up, and may put more ranks into a part than a node takes; those are
// moved where there is room.
#include <scotch.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "placement/algorithm.hpp"
#include "placement/node_fill.hpp"

namespace weir {

namespace {

// Its numbers may have 32 bits, and it adds up all values: they are scaled to stay below.
constexpr double largest_sum = 1e9;

struct Graph {
  SCOTCH_Graph value;
  Graph() { SCOTCH_graphInit(&value); }
  ~Graph() { SCOTCH_graphExit(&value); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
};
struct Architecture {
  SCOTCH_Arch value;
  Architecture() { SCOTCH_archInit(&value); }
  ~Architecture() { SCOTCH_archExit(&value); }
  Architecture(const Architecture&) = delete;
  Architecture& operator=(const Architecture&) = delete;
};
struct Strategy {
  SCOTCH_Strat value;
  Strategy() { SCOTCH_stratInit(&value); }
  ~Strategy() { SCOTCH_stratExit(&value); }
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
};

tl::unexpected<Failure> failed(std::string_view what) {
  return fail(ErrorCode::io, fmt::format("Scotch could not {}", what));
}

}  // namespace

Result<Placed> place_scotch(const PlacementProblem& problem, const AlgorithmOptions&) {
  const pattern::SparseMatrix& matrix = *problem.recorded;
  const Machine& machine = *problem.machine;
  const double sum = matrix.sum();
  const double scale = sum > largest_sum ? largest_sum / sum : 1;
  std::vector<SCOTCH_Num> begin{0}, neighbours, weights;
  neighbours.reserve(matrix.entries());
  weights.reserve(matrix.entries());
  for (std::uint32_t rank = 0; rank < problem.ranks; ++rank) {
    const auto columns = matrix.columns_of(rank);
    const auto values = matrix.values_of(rank);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == rank || values[i] <= 0) continue;
      neighbours.push_back(static_cast<SCOTCH_Num>(columns[i]));
      weights.push_back(static_cast<SCOTCH_Num>(std::max(1.0, std::round(values[i] * scale))));
    }
    begin.push_back(static_cast<SCOTCH_Num>(neighbours.size()));
  }
  // Nodes that take no rank are no parts.
  Numbers parts;
  for (std::uint32_t node = 0; node < machine.nodes(); ++node)
    if (machine.capacity(node) > 0) parts.push_back(node);

  Graph graph;
  Architecture architecture;
  Strategy strategy;
  if (SCOTCH_graphBuild(&graph.value, 0, static_cast<SCOTCH_Num>(problem.ranks), begin.data(), nullptr,
                        nullptr, nullptr, static_cast<SCOTCH_Num>(neighbours.size()), neighbours.data(),
                        weights.data()) != 0)
    return failed("take the application matrix");
  const bool alike = std::all_of(parts.begin(), parts.end(), [&](std::uint32_t node) {
    return machine.capacity(node) == machine.capacity(parts[0]);
  });
  std::vector<SCOTCH_Num> loads;
  for (const std::uint32_t node : parts) loads.push_back(static_cast<SCOTCH_Num>(machine.capacity(node)));
  const auto count = static_cast<SCOTCH_Num>(parts.size());
  if ((alike ? SCOTCH_archCmplt(&architecture.value, count)
             : SCOTCH_archCmpltw(&architecture.value, count, loads.data())) != 0)
    return failed("take the machine");
  SCOTCH_randomReset();  // as far as its threads allow: the same problem, the same placement
  std::vector<SCOTCH_Num> part(problem.ranks);
  if (SCOTCH_graphMap(&graph.value, &architecture.value, &strategy.value, part.data()) != 0)
    return failed("map the ranks");

  Numbers node_of;
  node_of.reserve(problem.ranks);
  for (const SCOTCH_Num one : part) node_of.push_back(parts[static_cast<std::size_t>(one)]);
  repair_overfull(machine, matrix, node_of);
  return Placed{.assignment = seat(machine, std::move(node_of))};
}

}  // namespace weir
