#include "analysis/job_analysis.hpp"

namespace weir::analysis {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::critical:
      break;
  }
  return "critical";
}

const Metric* JobAnalysis::find(std::string_view id) const {
  for (const Metric& metric : metrics) {
    if (metric.kind.id == id) return &metric;
  }
  return nullptr;
}

}  // namespace weir::analysis
