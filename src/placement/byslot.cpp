// byslot: nodes are filled one after the other, up to a limit of ranks per node (Figure 4 of the SetMatch
// paper: a full node has less memory bandwidth, and memory, for each of its ranks).
#include <fmt/format.h>

#include <algorithm>

#include "placement/algorithm.hpp"

namespace weir {

Result<Placed> place_byslot(const PlacementProblem& problem, const AlgorithmOptions& options) {
  const Machine& machine = *problem.machine;
  Numbers node_of;
  node_of.reserve(problem.ranks);
  for (std::uint32_t node = 0; node < machine.nodes() && node_of.size() < problem.ranks; ++node) {
    std::uint32_t room = machine.capacity(node);
    if (options.ranks_per_node != 0) room = std::min(room, options.ranks_per_node);
    node_of.insert(node_of.end(), std::min<std::size_t>(room, problem.ranks - node_of.size()), node);
  }
  if (node_of.size() < problem.ranks) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("byslot with {} ranks a node: there is room for {} of {} ranks",
                            options.ranks_per_node, node_of.size(), problem.ranks),
                "allow more ranks per node, or give more nodes");
  }
  return Placed{.assignment = seat(machine, std::move(node_of))};
}

}  // namespace weir
