// From the file to memory.
#include <algorithm>

#include "collective/exchange.hpp"
#include "collective/exchange_ranges.hpp"
#include "collective/fragments.hpp"
#include "core/timed.hpp"

namespace weir::collective {

Status Exchange::read() {
  for (const std::uint32_t m : carried_)
    carried_peer_.push_back(schedule_.decision.aggregators[schedule_.messages[m].aggregator]);
  publish_given();
  while (true) {
    seen_bell_ = tools_.team.bell();
    bool got_on = read_cycles();
    got_on |= send_cycles();
    got_on |= carry_in();
    got_on |= unpack_one();
    if (next_ == messages_ && carried_done_ == carried_.size() && released_ == total_cycles_) break;
    if (got_on) {
      idle_rounds_ = 0;
      continue;
    }
    const bool poll = carried_done_ < carried_begun_ || tools_.tokens.polls() || released_ < finished_;
    idle(waiting_for(Phase::read), poll);
  }
  tools_.tokens.finish();
  return status_;
}

// Reads the next cycle as soon as there are buffers for it here, room for it in the ring, and a token.
bool Exchange::read_cycles() {
  bool got_on = false;
  while (started_ < total_cycles_ && may_start()) {
    if (begun_ == started_) {
      if (begun_ == released_ + cycles_under_way) break;
      prepare(begun_++);
    }
    const std::uint32_t own = schedule_.message_of_cycle[started_];
    if ((own != UINT32_MAX && !has_room(own)) || !tools_.tokens.may_touch(started_)) break;
    const bool alone = total_cycles_ == 1 && carried_.empty();
    start_job(started_++, FileIo::Direction::read, alone);
    got_on = true;
  }
  return got_on;
}

// Hands on what was read: to this node through the ring, to others by message.
bool Exchange::send_cycles() {
  bool got_on = false;
  while (finished_ < started_ && state(finished_).done.load(std::memory_order_acquire)) {
    Cycle& cycle = state(finished_);
    if (status_ && !cycle.status) status_ = cycle.status;
    cycle.job = false;
    for (const Cycle::Remote& remote : cycle.remotes) {
      send_message(remote.data, remote.size, remote.carrier, data_tag, tools_.team.comm().get(),
                   waits_for_receiver(remote.carrier), cycle.requests);
      tools_.accounting.sent_between_nodes += remote.size;
    }
    tools_.tokens.pass(finished_++);
    publish_given();
    got_on = true;
  }
  while (released_ < finished_ && all_done(state(released_).requests)) {
    ++released_;
    got_on = true;
  }
  return got_on;
}

// Receives messages of aggregators on other nodes into the ring.
bool Exchange::carry_in() {
  bool got_on = false;
  while (carried_begun_ < carried_.size() && has_room(carried_[carried_begun_])) {
    const std::uint32_t m = carried_[carried_begun_];
    receive_message(ring_at(m), schedule_.messages[m].size, carried_peer_[carried_begun_], data_tag,
                    tools_.team.comm().get(), carried_requests_[carried_begun_]);
    ++carried_begun_;
    got_on = true;
  }
  if (!end_carried()) return got_on;
  publish_given();
  return true;
}

// Takes this rank's part out of the next message, as soon as it is there.
bool Exchange::unpack_one() {
  if (next_ == messages_) return false;
  const Timed timed(tools_.accounting.of(Phase::within_node));
  bool unpacked = false;
  while (next_ < messages_) {
    const Message& message = schedule_.messages[next_];
    if (message.part_size > 0) {
      if (unpacked ||
          tools_.team.slot(message.carrier).given.load(std::memory_order_acquire) < base_ + next_ + 1)
        break;
      const std::byte* from = ring_at(next_) + message.part_offset;
      for_each_range(message, [&](std::uint64_t position, std::uint64_t length) {
        memory_.copy_in(position, length, from);
        from += length;
      });
      unpacked = true;
    }
    ++next_;
  }
  if (me_.taken.load(std::memory_order_relaxed) == base_ + next_) return false;
  me_.taken.store(base_ + next_, std::memory_order_release);
  tools_.team.ring_bell();
  return true;
}

// Up to where everything that this rank puts into the ring is there.
void Exchange::publish_given() {
  std::uint64_t first = messages_;
  if (carried_done_ < carried_.size()) first = carried_[carried_done_];
  for (std::uint32_t c = finished_; c < schedule_.own_cycles(); ++c) {
    if (schedule_.message_of_cycle[c] == UINT32_MAX) continue;
    first = std::min<std::uint64_t>(first, schedule_.message_of_cycle[c]);
    break;
  }
  if (me_.given.load(std::memory_order_relaxed) == base_ + first) return;
  me_.given.store(base_ + first, std::memory_order_release);
  tools_.team.ring_bell();
}

}  // namespace weir::collective
