// A job: one run of a program, with its nodes and its window of time.
//
// Times are nanoseconds since the epoch (UTC); 0: not known, or not yet.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir::store {

enum class JobState { unknown, pending, running, completed, failed, cancelled, timeout, lost };

std::string_view to_string(JobState state);
std::optional<JobState> job_state(std::string_view name);

// Slurm's words too: "CANCELLED by 1000", "NODE_FAIL", "OUT_OF_MEMORY"; unknown where none fits.
JobState job_state_of_scheduler(std::string_view word);

struct Job {
  std::string id;    // unique in a store
  std::string user;  // may be empty
  std::string name;
  JobState state = JobState::unknown;
  std::int64_t submit_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;                    // 0 while it runs
  std::vector<std::string> nodes;             // in the order of the scheduler
  std::uint64_t node_count = 0;               // nodes.size() where the nodes are known
  std::vector<std::uint64_t> shape;           // of the nodes, slowest first: 8 x 12 x 32; empty: none
  std::map<std::string, double> figures;      // what is known of it in numbers: see the names below
  std::map<std::string, std::string> labels;  // anything else: "command", "configuration", "pid", "boot_id"

  bool operator==(const Job&) const = default;
};

// Names of figures that more than one part of Weir writes or reads.
namespace figure {
inline constexpr std::string_view bytes_written = "bytes_written";
inline constexpr std::string_view bytes_read = "bytes_read";
inline constexpr std::string_view write_throughput = "write_throughput";  // bytes/s, as the program saw it
inline constexpr std::string_view read_throughput = "read_throughput";    // bytes/s, as the program saw it
inline constexpr std::string_view io_seconds = "io_seconds";              // time the program spent in I/O
// Of programs with sessions of Weir: time it took to store what they wrote, and the share of it they did not
// wait for.
inline constexpr std::string_view storing_seconds = "storing_seconds";
inline constexpr std::string_view hidden_share = "hidden_share";
inline constexpr std::string_view exit_code = "exit_code";
}  // namespace figure

// An id is 1 to 128 printable characters without blanks; start <= end where both are known; texts are
// bounded.
Status check(const Job& job);

}  // namespace weir::store
