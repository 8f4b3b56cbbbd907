// Pictures of a placement: ranks on nodes, before and after.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <string>

#include "placement/algorithm.hpp"
#include "platform/platform.hpp"

namespace weir {

// One placement of a picture.
struct Scenario {
  std::string title;  // "before: byslot"
  const Placed* placed = nullptr;
  Numbers aggregators = {};  // ranks in the order of file domains
};

// A line for each node: its name, how many ranks of how many it takes, and which; at most 80 columns and 24
// nodes, then how many more there are. Ranks that aggregate are named behind.
std::string draw_text(const PlacementProblem& problem, const Platform& platform, const Scenario& scenario);

// Nodes as boxes, ranks as cells in the order of cores, coloured by the file domain that they feed most;
// aggregators have a frame. At most 64 nodes of each scenario are drawn.
std::string draw_svg(const PlacementProblem& problem, const Platform& platform,
                     std::span<const Scenario> scenarios);

}  // namespace weir
