// A Plan for a mapping: how many ranks there are, which of them serve I/O, and where each of them runs.
//
// Threads: plain function of its arguments.
#pragma once

#include "placement/layout.hpp"
#include "plan/plan.hpp"

namespace weir {

// Who performs the I/O under this mapping.
Mode mode_of(const Mapping& mapping);

// Where the layout is overfull, ranks have nodes but no hardware threads, and the placement says
// oversubscribe. The result passes check() for this platform. REQUIRES: check(platform).
Result<Plan> plan_mapping(const LayoutRequest& request, const Platform& platform);

// The plan's pairs, a row for each rank, as Table V of the iocomp paper: TYPE, MPI RANK, MPI SIZE, CPU-ID,
// NODE-ID, PAIR. A compute rank's pair is its server; a server's, its compute ranks; none: "-".
struct PairRow {
  std::string type, rank, size, cpus, node, pair;
};
std::vector<PairRow> pair_rows(const Plan& plan);  // REQUIRES: check(plan), plan.ranks > 0

}  // namespace weir
