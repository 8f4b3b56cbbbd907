// Carries out a schedule: moves data between the memory of all ranks and the file, by way of the aggregators.
//
// Every rank runs the same loop and does whatever it can do next: put its part into a message (write) or take
// it out (read), carry messages to and from other nodes, and, if it is an aggregator, touch the file, in a
// worker while the next cycle is on its way. When nothing can be done it sleeps.
//
// It ends on every rank whatever happens at the file: after a failure cycles go on without touching it. An
// exception (no memory for a list) leaves the other ranks waiting: the job has to be ended.
//
// Why nothing waits for ever: messages pass every ring in the order of cycles, and those of earlier cycles
// wait for none of later ones. Within a cycle it depends. With tokens, messages are in the order of
// aggregators, in which tokens go. Without, a message that is written to another node waits for earlier
// cycles only, and comes before those that stay in the node, which wait for such messages of other nodes. In
// a read those that stay in the node come first, as an aggregator touches the file when it has room for its
// own.
//
// With tokens data is written stepwise, too (Figure 5.2b of EARTH): a sender begins a step of a cycle when its
// messages of the steps before were taken, and an aggregator takes those of a step when it has those of the
// steps before. A message of a cycle then waits for messages to earlier aggregators, and for those of earlier
// steps to the same one, which wait for none to later ones.
//
// Threads: one at a time.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "collective/accounting.hpp"
#include "collective/cycle_io.hpp"
#include "collective/memory_stream.hpp"
#include "collective/schedule.hpp"
#include "collective/token_ring.hpp"
#include "core/worker.hpp"

namespace weir::collective {

inline constexpr std::uint32_t cycles_under_way =
    4;  // of one aggregator; aggregation::aggregator_memory() counts them

// Buffers of an aggregator, kept from call to call, for cycles on their way between nodes. They are there
// before an exchange begins: in its midst the others could not be told that there is no memory.
class CycleBuffers {
 public:
  Status reserve(std::uint64_t bytes);  // of each; after a failure, as many as before or more
  std::byte* at(std::uint32_t which) const { return data_[which].get(); }

 private:
  std::unique_ptr<std::byte[]> data_[cycles_under_way];
  std::uint64_t bytes_ = 0;
};

struct ExchangeTools {
  Team& team;
  TokenRing& tokens;
  CycleIo& io;
  CycleBuffers& buffers;
  Worker* worker;  // none: the file is touched in between
  Accounting& accounting;
};

class Exchange {
 public:
  // `base`: number of messages of this node in earlier calls. REQUIRES: buffers for the largest cycle.
  Exchange(const ExchangeTools& tools, Schedule& schedule, const MemoryStream& memory, std::uint64_t base,
           const Terms& terms);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  Status write();
  Status read();

 private:
  // One cycle of this aggregator under way.
  struct Cycle {
    std::vector<std::byte*> parts;  // by source
    struct Remote {
      std::uint32_t node;
      std::uint32_t carrier;  // rank at the other node
      std::uint32_t group;    // of its node, for stepwise aggregation
      std::byte* data;
      std::uint64_t size;
    };
    std::vector<Remote> remotes;
    std::size_t posted = 0;  // remotes whose receive was posted
    std::vector<MPI_Request> requests;
    bool job = false;  // the worker has it
    std::atomic<bool> done = false;
    Status status;
  };

  void prepare(std::uint32_t cycle);
  Cycle& state(std::uint32_t cycle) { return cycles_[cycle % cycles_under_way]; }
  void start_job(std::uint32_t cycle, FileIo::Direction direction, bool alone);
  // Several cycles may wait for the worker, but a token is for one.
  bool may_start() const { return started_ == finished_ || !schedule_.decision.steps.throttled(); }
  std::uint32_t group_of_node(std::uint32_t node) const;
  bool all_done(std::vector<MPI_Request>& requests) const;
  // Whether the next message to a rank ends only when it was taken: see fragments.hpp.
  bool waits_for_receiver(std::uint32_t rank) { return ++sent_to_[rank] % cycles_under_way == 0; }
  bool waits_for_step(const Message& message) const;
  bool end_carried();  // messages that have arrived; whether there were any
  void idle(Phase phase, bool poll);
  std::byte* ring_at(std::uint32_t message) const {
    return tools_.team.ring() + schedule_.messages[message].place.offset;
  }
  bool has_room(std::uint32_t message) const {
    return tools_.team.all_taken(base_ + schedule_.messages[message].place.gone);
  }
  // The stretches of this rank's stream that make up its part of a message.
  template <class Visit>
  void for_each_range(const Message& message, const Visit& visit) const;

  // Steps of a loop; each returns whether it got anything done.
  bool pack_one();
  bool carry_out();
  bool receive_cycles();
  bool write_cycles();
  bool unpack_one();
  bool carry_in();
  bool read_cycles();
  bool send_cycles();
  void publish_taken();
  void publish_given();
  Phase waiting_for(Phase io) const;

  ExchangeTools tools_;
  Schedule& schedule_;
  const MemoryStream& memory_;
  std::uint64_t base_;
  Terms terms_;
  Team::Slot& me_;
  std::uint32_t messages_;      // of the node
  std::uint32_t next_ = 0;      // message to pack or unpack
  std::uint32_t total_cycles_;  // of this rank as an aggregator, empty ones for tokens included
  std::uint32_t begun_ = 0;     // cycles that were prepared
  std::uint32_t started_ = 0;   // whose I/O was started
  std::uint32_t finished_ = 0;  // that are over
  std::uint32_t released_ = 0;  // read: whose buffers are free again
  Cycle cycles_[cycles_under_way];
  std::vector<std::uint32_t> carried_;  // messages that this rank carries to or from another node
  std::size_t carried_begun_ = 0;
  std::size_t carried_done_ = 0;
  std::vector<std::vector<MPI_Request>> carried_requests_;
  std::vector<std::uint32_t> carried_peer_;
  std::map<std::uint32_t, std::uint32_t> sent_to_;  // messages to each rank, so far
  std::uint32_t waited_for_step_ = UINT32_MAX;      // the last message that did
  Status status_;
  unsigned idle_rounds_ = 0;
  std::uint32_t seen_bell_ = 0;
};

}  // namespace weir::collective
