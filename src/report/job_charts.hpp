// Charts of what the analysis found of one job.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/job_analysis.hpp"
#include "report/chart.hpp"
#include "report/heat_map.hpp"

namespace weir::report {

// The largest value of each timeline and heat map over several jobs, by id: they are then drawn in one unit.
using Largest = std::map<std::string, double>;
Largest largest_values(const std::vector<analysis::JobAnalysis>& jobs);

// Over seconds since the job's start; reads and writes of a kind in one chart.
std::vector<Chart> timeline_charts(const analysis::JobAnalysis& job, const Largest& of_all = {});
std::vector<HeatMap> heat_maps(const analysis::JobAnalysis& job, const Largest& of_all = {});
// Targets, links or devices side by side, the busiest first.
std::vector<Chart> balance_charts(const analysis::JobAnalysis& job, const Largest& of_all = {});

}  // namespace weir::report
