// A job's analysis from a store: one pass over the series of its window, with bounded memory.
//
// LOCAL. Threads: a Store belongs to one thread at a time, so does a call.
#pragma once

#include <string>

#include "analysis/job_analysis.hpp"
#include "analysis/serving.hpp"
#include "analysis/thresholds.hpp"
#include "core/json.hpp"
#include "store/store.hpp"

namespace weir::analysis {

struct AnalyseOptions {
  Thresholds thresholds;
  double target_scale =
      0;  // highest throughput of a target in heat maps, bytes/s; 0: the site's, or the job's
  double margin_seconds = 1800;  // samples so far outside of the job's window are used to cover its ends
};

// Fails if there is no such job (names that are close are named) or its times are not known.
Result<JobAnalysis> analyse(store::Store& store, const std::string& job_id,
                            const AnalyseOptions& options = {});

// The same for several jobs of one store: the node table is read once.
Result<ServerFinder> read_servers(store::Store& store);
Result<JobAnalysis> analyse(store::Store& store, const ServerFinder& finder, const std::string& job_id,
                            const AnalyseOptions& options = {});

Json to_json(const JobAnalysis& analysis);  // all of it; what is not known is null

}  // namespace weir::analysis
