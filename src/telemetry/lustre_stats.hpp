// Lustre's `stats` files, of all versions from 1.8 (the base of FEFS) on, and of ost_io and obdfilter alike:
//
//   snapshot_time             1564617600.004512000 secs.nsecs
//   req_qdepth                9120 samples [reqs] 0 40 17510 205500
//   write_bytes               12 samples [bytes] 4096 1048576 12582912
//
// Time is `secs.usecs` in 1.8, whose fraction is not padded (`.775` is 775 us), and `secs.nsecs` since. Lines
// without samples are left out by Lustre, sumsq is missing in some versions, min, max and sum where nothing
// is measured but the number of calls. A name that occurs twice keeps the line with more samples.
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

struct LustreLine {
  std::string_view name;  // inside the text
  std::uint64_t count = 0;
  std::string_view unit;  // "usecs", "usec", "reqs", "bytes", ...
  std::optional<std::uint64_t> sum;
  std::optional<std::uint64_t> sumsq;
};

struct LustreStats {
  std::optional<Nanoseconds> snapshot_time;
  std::optional<Nanoseconds> start_time;
  std::vector<LustreLine> lines;
  std::vector<std::string> problems;  // "line 3: ..." for each line that cannot be read

  const LustreLine* find(std::string_view name) const;
};

LustreStats parse_lustre_stats(std::string_view text);

// "1564617600.775 secs.usecs", "1564617600.004512000 secs.nsecs", "1564617600"
std::optional<Nanoseconds> parse_lustre_time(std::string_view words);

}  // namespace weir::telemetry
