// The metrics by which runs are judged: each declared once, with the direction that is good.
//
// Threads: constants and pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::analysis {

enum class Direction { low_is_good, high_is_good, neither };

struct MetricKind {
  std::string_view id;     // as the paper on holistic logs writes it where it has one: "req_qdepth", "R_BW"
  std::string_view title;  // for people: "requests waiting in a server's queue"
  std::string_view unit;   // "requests", "s", "B/s"; "1" for a share or a ratio
  Direction good = Direction::neither;
  bool scored = false;  // one of the paper's six, of which its score is made
};

// req_qdepth, req_waittime, req_active, R_BW, T_wait_max and OST_mean first, in the order of the paper's
// tables; then ours.
std::span<const MetricKind> metric_kinds();

// By id; letter case, blanks, dots, dashes and underscores do not count ("req.qdepth", "r_bw"). nullptr:
// unknown.
const MetricKind* find_metric(std::string_view name);

std::string_view to_string(Direction direction);  // "low", "high", "neither"

}  // namespace weir::analysis
