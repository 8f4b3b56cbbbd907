// Lustre's `job_stats`: what each job did on one target.
//
//   job_stats:
//   - job_id:          "4711:cn01"
//     snapshot_time:   1564617600.004512000 secs.nsecs
//     write_bytes:     { samples: 12, unit: bytes, min: 4096, max: 1048576, sum: 12582912 }
//
// It looks like YAML and is not quite: ids are quoted in some versions only, and characters that would break
// the form are written as \xHH. An id that occurs twice is one job: its numbers are added.
//
// Threads: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/series.hpp"

namespace weir::telemetry {

struct LustreJob {
  std::string id;
  std::optional<Nanoseconds> snapshot_time;
  std::optional<Nanoseconds> start_time;
  std::uint64_t read_ops = 0, read_bytes = 0, write_ops = 0, write_bytes = 0;
  bool operator==(const LustreJob&) const = default;
};

struct LustreJobs {
  std::vector<LustreJob> jobs;
  std::vector<std::string> problems;  // "line 3: ..."
};

LustreJobs parse_lustre_jobs(std::string_view text);

}  // namespace weir::telemetry
