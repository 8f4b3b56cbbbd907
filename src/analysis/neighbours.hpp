// Other jobs that used the same servers meanwhile, and what share of the traffic was theirs.
//
// Threads: pure functions.
#pragma once

#include <vector>

#include "analysis/job_analysis.hpp"
#include "analysis/observations.hpp"
#include "analysis/serving.hpp"
#include "store/job.hpp"

namespace weir::analysis {

inline constexpr std::size_t most_neighbours = 50;

// What the job itself moved: by its own record, or by what servers count per job. Sets own_bytes and the
// shares.
void add_own_traffic(JobHeader& header, const store::Job& job, const Observations& seen);

// `candidates`: jobs that ran at some time in the window; the job itself is passed over. Traffic is known
// from counters kept per job; else what the job did not move itself is divided among those that were there,
// by time and servers.
std::vector<Neighbour> find_neighbours(const JobHeader& header, const store::Job& job,
                                       const std::vector<store::Job>& candidates, const ServerFinder& finder,
                                       const Observations& seen);

}  // namespace weir::analysis
