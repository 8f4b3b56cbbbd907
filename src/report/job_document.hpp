// From what the analysis found to what a report says: words, units, an order, and charts.
//
// Threads: pure functions.
#pragma once

#include <vector>

#include "analysis/comparison.hpp"
#include "analysis/job_analysis.hpp"
#include "report/document.hpp"
#include "report/job_charts.hpp"

namespace weir::report {

JobPage job_page(const analysis::JobAnalysis& job, const Largest& of_all = {});

Document job_document(const analysis::JobAnalysis& job);

// Several runs: each with its page, and which of them is better, by how much, and how sure that is. Runs are
// called A, B, C, ... in the order in which they come.
Document job_document(const analysis::Comparison& comparison);
ComparisonPage comparison_page(const analysis::Comparison& comparison);

}  // namespace weir::report
