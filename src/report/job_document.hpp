// From what the analysis found to what a report says: words, units, an order, and charts.
//
// Threads: pure functions.
#pragma once

#include <vector>

#include "analysis/evaluation.hpp"
#include "analysis/job_analysis.hpp"
#include "report/document.hpp"

namespace weir::report {

JobPage job_page(const analysis::JobAnalysis& job);

// Maps of one kind share one scale over all jobs.
Document job_document(const std::vector<analysis::JobAnalysis>& jobs);

// Which run is better, by how much, and how sure that is. `names` of the candidates, in words.
ComparisonPage comparison_page(const analysis::Evaluation& evaluation);

}  // namespace weir::report
