// What `weir report` does with jobs of a store.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"
#include "report/document.hpp"

namespace weir::cli {

struct JobReportArguments {
  std::vector<std::string> jobs;  // ids, names, "last", "last~1"; none: list what there is
  std::string store;              // empty: the user's own
  std::string html;               // files and folders; empty: not wanted
  std::string json;               // "-": standard output, instead of the summary
  std::string csv;
  std::string png;
  std::string baseline;     // of a comparison: a job or a configuration; empty: the first
  std::string thresholds;   // a JSON file for the findings
  double target_scale = 0;  // end of the heat maps' scale, bytes/s; 0: the largest value of all
};

Status report_jobs(const JobReportArguments& arguments);

// The report itself, for others that end with one.
struct JobReport {
  report::Document document;
  std::vector<Json> analyses;  // of each job, whole
  Json comparison;             // null with one job
};
Result<JobReport> make_report(const JobReportArguments& arguments);
Status write_report(const JobReport& made, const JobReportArguments& arguments);

}  // namespace weir::cli
