// Charts of what the analysis found of one job.
#pragma once

#include <vector>

#include "analysis/job_analysis.hpp"
#include "report/chart.hpp"
#include "report/heat_map.hpp"

namespace weir::report {

// Over seconds since the job's start; reads and writes of a kind in one chart.
std::vector<Chart> timeline_charts(const analysis::JobAnalysis& job);
std::vector<HeatMap> heat_maps(const analysis::JobAnalysis& job);
// Targets, links or devices side by side, the busiest first.
std::vector<Chart> balance_charts(const analysis::JobAnalysis& job);

}  // namespace weir::report
