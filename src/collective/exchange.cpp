// What writing and reading share.
#include "collective/exchange.hpp"

#include <algorithm>

#include "core/timed.hpp"

namespace weir::collective {

Status CycleBuffers::reserve(std::uint64_t bytes) {
  if (bytes <= bytes_) return {};
  return guarded([&]() -> Status {
    for (auto& buffer : data_) buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
    bytes_ = bytes;
    return {};
  });
}

Exchange::Exchange(const ExchangeTools& tools, Schedule& schedule, const MemoryStream& memory,
                   std::uint64_t base, const Terms& terms)
    : tools_(tools),
      schedule_(schedule),
      memory_(memory),
      base_(base),
      terms_(terms),
      me_(tools.team.slot(tools.team.rank())),
      messages_(static_cast<std::uint32_t>(schedule.messages.size())),
      total_cycles_(!schedule.is_aggregator()             ? 0
                    : schedule.decision.steps.throttled() ? schedule.most_cycles
                                                          : schedule.own_cycles()) {
  for (std::uint32_t m = 0; m < messages_; ++m) {
    const Message& message = schedule_.messages[m];
    if (!message.local && message.carrier == tools_.team.rank()) carried_.push_back(m);
  }
  carried_requests_.resize(carried_.size());
  tools_.tokens.begin(schedule_.decision, schedule_.number, schedule_.most_cycles);
}

std::uint32_t Exchange::group_of_node(std::uint32_t node) const {
  const auto& decision = schedule_.decision;
  for (std::uint32_t a = 0; a < decision.aggregators.size(); ++a)
    if (tools_.team.nodes().of_rank[decision.aggregators[a]] == node) return decision.steps.group_of(a);
  return static_cast<std::uint32_t>(std::uint64_t{node} * decision.steps.groups() /
                                    tools_.team.nodes().count);
}

// Finds out where the parts of a cycle's sources are: in this node's ring, or in a buffer for each message of
// another node.
void Exchange::prepare(std::uint32_t number) {
  Cycle& cycle = state(number);
  cycle.parts.clear();
  cycle.remotes.clear();
  cycle.posted = 0;
  cycle.requests.clear();
  cycle.job = false;
  cycle.done = false;
  cycle.status = {};
  if (number >= schedule_.own_cycles()) return;  // only hands on its token
  const Team& team = tools_.team;
  const auto& boundaries = schedule_.boundaries[schedule_.number];
  std::vector<std::uint64_t> sizes;
  for (const Source& source : schedule_.sources)
    sizes.push_back(source.rows.bytes_before(boundaries[number + 1]) -
                    source.rows.bytes_before(boundaries[number]));
  std::byte* at = tools_.buffers.at(number % cycles_under_way);
  const std::uint32_t own = schedule_.message_of_cycle[number];
  std::byte* local = own == UINT32_MAX ? nullptr : ring_at(own);
  for (std::size_t s = 0; s < sizes.size();) {
    const std::uint32_t node = schedule_.sources[s].node;
    std::byte*& place = node == team.node() ? local : at;
    std::byte* const first = place;
    for (; s < sizes.size() && schedule_.sources[s].node == node; ++s) {
      cycle.parts.push_back(place);
      place += sizes[s];
    }
    if (node != team.node() && place != first)
      cycle.remotes.push_back({.node = node,
                               .carrier = schedule_.carrier_rank(node, schedule_.number, team),
                               .group = group_of_node(node),
                               .data = first,
                               .size = static_cast<std::uint64_t>(place - first)});
  }
  // The order starts before the own node and goes down, as turns() in schedule.cpp has it for readers: not
  // all aggregators turn to the same node at once. Stepwise aggregation: younger groups first.
  const auto before_own = std::find_if(cycle.remotes.begin(), cycle.remotes.end(),
                                       [&](const auto& remote) { return remote.node > team.node(); });
  std::reverse(cycle.remotes.begin(), before_own);
  std::reverse(before_own, cycle.remotes.end());
  std::stable_sort(cycle.remotes.begin(), cycle.remotes.end(),
                   [&](const Cycle::Remote& a, const Cycle::Remote& b) {
                     const std::uint32_t mine = schedule_.decision.steps.group_of(schedule_.number);
                     return aggregation::step_of(mine, a.group) < aggregation::step_of(mine, b.group);
                   });
}

void Exchange::start_job(std::uint32_t number, FileIo::Direction direction, bool alone) {
  Cycle& cycle = state(number);
  cycle.job = true;
  const auto body = [this, &cycle, number, direction] {
    cycle.status = guarded([&] { return tools_.io.run(direction, schedule_, number, cycle.parts, terms_); });
    cycle.done.store(true, std::memory_order_release);
  };
  if (number >= schedule_.own_cycles() || !status_) {
    cycle.done = true;
  } else if (tools_.worker == nullptr || alone) {
    const Timed timed(
        tools_.accounting.of(direction == FileIo::Direction::write ? Phase::write : Phase::read));
    body();
  } else {
    // When the last job is done, this exchange may be gone before the bell rings.
    tools_.worker->post([team = &tools_.team, body] {
      body();
      team->ring_bell();
    });
  }
}

bool Exchange::all_done(std::vector<MPI_Request>& requests) const {
  if (requests.empty()) return true;
  int done = 0;
  MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  if (done != 0) requests.clear();
  return done != 0;
}

bool Exchange::end_carried() {
  const std::size_t before = carried_done_;
  while (carried_done_ < carried_begun_ && all_done(carried_requests_[carried_done_])) ++carried_done_;
  return carried_done_ != before;
}

void Exchange::idle(Phase phase, bool poll) {
  const Timed timed(tools_.accounting.of(phase));
  tools_.team.nap(seen_bell_, idle_rounds_++, poll);
}

// What an idle rank is most likely waiting for.
Phase Exchange::waiting_for(Phase io) const {
  for (std::uint32_t c = finished_; c < started_; ++c)
    if (cycles_[c % cycles_under_way].job) return io;
  if (tools_.tokens.waits()) return Phase::token;
  if (carried_done_ < carried_begun_) return Phase::between_nodes;
  for (const Cycle& cycle : cycles_)
    if (!cycle.requests.empty()) return Phase::between_nodes;
  return Phase::within_node;
}

}  // namespace weir::collective
