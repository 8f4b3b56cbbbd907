// From a whole log to the bytes of the file, reads and writes apart: done once, at the end.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pattern/access.hpp"
#include "recording/run_log.hpp"
#include "recording/run_pattern.hpp"

namespace weir::recording {

struct LogPattern {
  std::vector<pattern::Access> reads;
  std::vector<pattern::Access> writes;
  std::uint64_t lost = 0;  // calls that could not be described, or did not fit into the log
};

// The types of a view by their number in the log; null: not to be understood.
using FindTypes = std::function<const ViewTypes*(std::uint32_t)>;

// At most `limit` accesses in each direction; calls beyond are lost. Finishes the log.
LogPattern pattern_of(RunLog& log, const FindTypes& types, std::uint64_t limit);

}  // namespace weir::recording
