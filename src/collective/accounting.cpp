#include "collective/accounting.hpp"

namespace weir::collective {

std::string_view to_string(Phase phase) {
  constexpr std::array<std::string_view, phase_count> names = {
      "negotiating", "shuffling within a node", "shuffling between nodes", "waiting for a token", "reading",
      "writing"};
  return names.at(static_cast<std::size_t>(phase));
}

Accounting& Accounting::operator+=(const Accounting& other) {
  for (std::size_t i = 0; i < phase_count; ++i) seconds[i] += other.seconds[i];
  calls += other.calls;
  schedules += other.schedules;
  bytes += other.bytes;
  sent_between_nodes += other.sent_between_nodes;
  model_between_nodes += other.model_between_nodes;
  later_steps += other.later_steps;
  requests += other.requests;
  file_bytes += other.file_bytes;
  return *this;
}

}  // namespace weir::collective
