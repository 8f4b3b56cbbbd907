// Where the time of collective calls went, and what crossed between nodes. Of one rank; add up over ranks.
//
// Threads: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weir::collective {

enum class Phase : std::uint8_t { negotiate, within_node, between_nodes, token, read, write };
inline constexpr std::size_t phase_count = 6;
std::string_view to_string(Phase phase);  // "shuffle within node", ...

struct Accounting {
  std::array<double, phase_count> seconds{};  // by Phase; together the time spent in calls
  std::uint64_t calls = 0;
  std::uint64_t schedules = 0;            // calls that had to negotiate anew
  std::uint64_t bytes = 0;                // transferred between this rank and the file
  std::uint64_t sent_between_nodes = 0;   // data bytes in messages to other nodes, by this rank
  std::uint64_t model_between_nodes = 0;  // what the decision forecast for this rank's own data
  std::uint64_t later_steps = 0;          // messages that waited for those of an earlier step to be taken
  std::uint64_t requests = 0;             // system calls that touched the file
  std::uint64_t file_bytes = 0;           // bytes that this rank moved from or to the file

  double& of(Phase phase) { return seconds[static_cast<std::size_t>(phase)]; }
  double of(Phase phase) const { return seconds[static_cast<std::size_t>(phase)]; }
  Accounting& operator+=(const Accounting& other);
};

}  // namespace weir::collective
