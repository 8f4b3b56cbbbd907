// Prometheus' text exposition, as lustre_exporter and node_exporter write it and a site may save or serve it.
//
//   # HELP lustre_write_bytes_total ...
//   lustre_write_bytes_total{component="ost",target="lfs-OST0001"} 1.2582912e+07 1564617600004
//
// Metrics that are counters of ours are taken; the table in prometheus.cpp says which. All others are passed
// over and counted. The node is the label `node`, `hostname`, or `instance` without its port; else what the
// caller says.
//
// Threads: pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "telemetry/record.hpp"

namespace weir::telemetry {

struct PrometheusSample {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string>> labels;  // values without their escapes
  double value = 0;
  std::int64_t time_ms = 0;  // 0: not said
};

// One line that is neither empty nor a comment.
Result<PrometheusSample> parse_prometheus_line(std::string_view line);

struct PrometheusDefaults {
  std::string file;      // named in problems
  std::string node;      // where no label says one
  Nanoseconds time = 0;  // where the line says none
};

// A line that is wrong is told as "FILE:12: ..." and counted; the others are kept.
Tally add_prometheus(std::string_view text, const PrometheusDefaults& defaults, Batch& batch,
                     const std::function<void(const std::string&)>& problem);

}  // namespace weir::telemetry
