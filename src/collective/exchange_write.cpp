// From memory to the file.
#include <algorithm>

#include "collective/exchange.hpp"
#include "collective/exchange_ranges.hpp"
#include "collective/fragments.hpp"
#include "core/timed.hpp"

namespace weir::collective {

Status Exchange::write() {
  for (const std::uint32_t m : carried_)
    carried_peer_.push_back(schedule_.decision.aggregators[schedule_.messages[m].aggregator]);
  publish_taken();
  while (true) {
    seen_bell_ = tools_.team.bell();
    bool got_on = pack_one();
    got_on |= carry_out();
    got_on |= receive_cycles();
    got_on |= write_cycles();
    if (next_ == messages_ && carried_done_ == carried_.size() && finished_ == total_cycles_) break;
    if (got_on) {
      idle_rounds_ = 0;
      continue;
    }
    const bool poll = carried_done_ < carried_begun_ || tools_.tokens.polls() ||
                      std::any_of(cycles_, cycles_ + cycles_under_way,
                                  [](const Cycle& cycle) { return !cycle.requests.empty(); });
    idle(waiting_for(Phase::write), poll);
  }
  tools_.tokens.finish();
  return status_;
}

// Puts this rank's part into the next message, as soon as there is room for it.
bool Exchange::pack_one() {
  if (next_ == messages_) return false;
  const Timed timed(tools_.accounting.of(Phase::within_node));
  bool packed = false;
  while (next_ < messages_) {
    const Message& message = schedule_.messages[next_];
    if (message.part_size > 0) {
      if (packed || !has_room(next_)) break;
      std::byte* into = ring_at(next_) + message.part_offset;
      for_each_range(message, [&](std::uint64_t from, std::uint64_t length) {
        memory_.copy_out(from, length, into);
        into += length;
      });
      packed = true;
    }
    ++next_;
  }
  const std::uint64_t given = base_ + next_;
  if (me_.given.load(std::memory_order_relaxed) == given) return false;
  me_.given.store(given, std::memory_order_release);
  tools_.team.ring_bell();
  return true;
}

// Stepwise aggregation: whether data of an earlier step of the same cycle has not been taken yet.
bool Exchange::waits_for_step(const Message& message) const {
  const auto& steps = schedule_.decision.steps;
  const std::uint32_t mine = group_of_node(tools_.team.node());
  const auto step = [&](const Message& of) {
    return aggregation::step_of(mine, steps.group_of(of.aggregator));
  };
  return std::any_of(carried_.begin() + static_cast<std::ptrdiff_t>(carried_done_),
                     carried_.begin() + static_cast<std::ptrdiff_t>(carried_begun_), [&](std::uint32_t m) {
                       const Message& before = schedule_.messages[m];
                       return before.cycle == message.cycle && step(before) < step(message);
                     });
}

// Sends messages of the node to aggregators on others, once all ranks have put in their parts; step by step
// when data is aggregated stepwise.
bool Exchange::carry_out() {
  bool got_on = false;
  const bool stepwise = schedule_.decision.steps.throttled();
  while (carried_begun_ < carried_.size() && tools_.team.all_given(base_ + carried_[carried_begun_] + 1)) {
    const std::uint32_t m = carried_[carried_begun_];
    if (stepwise && waits_for_step(schedule_.messages[m])) {
      if (waited_for_step_ != m) ++tools_.accounting.later_steps;
      waited_for_step_ = m;
      break;
    }
    const std::uint64_t size = schedule_.messages[m].size;
    const bool until_taken = waits_for_receiver(carried_peer_[carried_begun_]) || stepwise;
    send_message(ring_at(m), size, carried_peer_[carried_begun_], data_tag, tools_.team.comm().get(),
                 until_taken, carried_requests_[carried_begun_]);
    tools_.accounting.sent_between_nodes += size;
    ++carried_begun_;
    got_on = true;
  }
  if (!end_carried()) return got_on;
  publish_taken();
  return true;
}

// Posts receives for this aggregator's next cycle, as far as its buffer is free; group by group when data is
// aggregated stepwise.
bool Exchange::receive_cycles() {
  bool got_on = false;
  while (begun_ < total_cycles_ && begun_ < finished_ + cycles_under_way) {
    prepare(begun_++);
    got_on = true;
  }
  const bool stepwise = schedule_.decision.steps.throttled();
  for (std::uint32_t c = started_; c < begun_; ++c) {
    Cycle& cycle = state(c);
    while (cycle.posted < cycle.remotes.size()) {
      const std::uint32_t mine = schedule_.decision.steps.group_of(schedule_.number);
      const auto step = [&](std::size_t i) { return aggregation::step_of(mine, cycle.remotes[i].group); };
      if (stepwise && cycle.posted > 0 && step(cycle.posted) != step(cycle.posted - 1) &&
          !all_done(cycle.requests))
        break;
      const Cycle::Remote& remote = cycle.remotes[cycle.posted++];
      receive_message(remote.data, remote.size, remote.carrier, data_tag, tools_.team.comm().get(),
                      cycle.requests);
      got_on = true;
    }
    if (cycle.posted < cycle.remotes.size()) break;  // messages of one node come in the order of cycles
  }
  return got_on;
}

// Starts the I/O of cycles that are complete and allowed, and ends that of those that are done.
bool Exchange::write_cycles() {
  bool got_on = false;
  while (started_ < begun_) {
    Cycle& cycle = state(started_);
    const std::uint32_t own = schedule_.message_of_cycle[started_];
    const bool here = cycle.posted == cycle.remotes.size() && all_done(cycle.requests) &&
                      (own == UINT32_MAX || tools_.team.all_given(base_ + own + 1));
    if (here && may_start() && tools_.tokens.may_touch(started_)) {
      const bool alone = next_ == messages_ && carried_done_ == carried_.size() && started_ == finished_ &&
                         started_ + 1 == total_cycles_;
      start_job(started_++, FileIo::Direction::write, alone);
      got_on = true;
    } else {
      break;
    }
  }
  while (finished_ < started_ && state(finished_).done.load(std::memory_order_acquire)) {
    if (status_ && !state(finished_).status) status_ = state(finished_).status;
    state(finished_).job = false;
    tools_.tokens.pass(finished_++);
    publish_taken();
    got_on = true;
  }
  return got_on;
}

// Up to where this rank needs nothing of the ring any more: what it sends, and what it writes as an
// aggregator.
void Exchange::publish_taken() {
  std::uint64_t first = messages_;
  if (carried_done_ < carried_.size()) first = carried_[carried_done_];
  for (std::uint32_t c = finished_; c < schedule_.own_cycles(); ++c) {
    if (schedule_.message_of_cycle[c] == UINT32_MAX) continue;
    first = std::min<std::uint64_t>(first, schedule_.message_of_cycle[c]);
    break;
  }
  if (me_.taken.load(std::memory_order_relaxed) == base_ + first) return;
  me_.taken.store(base_ + first, std::memory_order_release);
  tools_.team.ring_bell();
}

}  // namespace weir::collective
