// bynode: one rank to each node in turn, leaving out those that are full.
#include "placement/algorithm.hpp"

namespace weir {

Result<Placed> place_bynode(const PlacementProblem& problem, const AlgorithmOptions&) {
  const Machine& machine = *problem.machine;
  Numbers node_of;
  node_of.reserve(problem.ranks);
  for (std::uint32_t round = 0; node_of.size() < problem.ranks; ++round) {
    for (std::uint32_t node = 0; node < machine.nodes() && node_of.size() < problem.ranks; ++node)
      if (round < machine.capacity(node)) node_of.push_back(node);
  }
  return Placed{.assignment = seat(machine, std::move(node_of))};
}

}  // namespace weir
