// Rank files of Open MPI, read strictly: Open MPI itself takes `slots=` for `slot=` without a word, two ranks
// on one core as well, and hangs on garbage.
//
//   # a comment
//   rank 0=node1 slot=0            a core, or a hardware thread with --use-hwthread-cpus
//   rank 1=node1 slot=1,3-4        several
//   rank 2=node2 slot=0:1          socket 0, core 1
//   rank 3=+n1 slot=0              the second node of the allocation
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <string_view>

#include "placement/placement.hpp"
#include "platform/platform.hpp"

namespace weir {

inline constexpr std::size_t largest_rank_file = std::size_t{256} << 20U;

struct RankLine {
  std::string host;          // a name, or "+n" with a number
  std::int32_t socket = -1;  // -1: slots are counted over the whole node
  Numbers slots;             // ascending
  bool operator==(const RankLine&) const = default;
};

// By rank. Each rank from 0 on exactly once, in any order. Failures name the line.
Result<std::vector<RankLine>> parse_rank_file(std::string_view text);

// Hosts, sockets and slots exist on the platform, and no slot has two ranks. `physical`: slots are hardware
// threads as the operating system numbers them (rmaps_rank_file_physical), else cores in hwloc's order.
Status check(const std::vector<RankLine>& lines, const Platform& platform, bool physical);

}  // namespace weir
