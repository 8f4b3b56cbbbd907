// Whether the node after this one still answers. The ranks of a node look after each other (peers.hpp); a
// node that is lost as a whole, or whose ranks all are stopped, only others can miss.
//
// The leader of each node asks that of the next one, by datagrams, while it waits. A thread of the process
// that is asked answers, so a rank that is busy, or late, is known to live; one that is gone or stopped does
// not answer. Only a node that has answered before is ever missed: where datagrams do not get through,
// nothing is concluded from that.
//
// Ownership: owns its sockets; the answering thread is one for the process and ends with its last user.
// Threads: one at a time per NextNode. LOCAL.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/file.hpp"

namespace weir::collective {

class Answering;  // the thread

// Where a process answers, as it is told to the others. Plain bytes.
struct Whereabouts {
  std::uint64_t secret = 0;                  // answers only who knows it
  std::array<std::uint32_t, 4> addresses{};  // IPv4, in network order; 0: none
  std::uint16_t port = 0;                    // in network order; 0: it does not answer
  std::uint16_t unused[3] = {};
};

class NextNode {
 public:
  NextNode();
  NextNode(NextNode&&) noexcept;
  NextNode& operator=(NextNode&&) noexcept;
  ~NextNode();

  Whereabouts own();  // begins to answer

  // `ranks`: of the next node, for messages.
  void watch(const Whereabouts& next, std::vector<std::uint32_t> ranks);

  // To be called again and again while waiting; costs something once a second. What is wrong, in words, if
  // the job has to be ended: no answer for as long as mpi::patience().
  std::optional<std::string> look();

 private:
  using Clock = std::chrono::steady_clock;
  void ask();
  bool answered();

  std::shared_ptr<Answering> answering_;
  Descriptor socket_;
  Whereabouts next_;
  std::vector<std::uint32_t> ranks_;
  bool has_answered_ = false;
  unsigned unanswered_ = 0;  // questions since the last answer
  Clock::time_point last_look_;
  Clock::time_point last_answer_;
};

}  // namespace weir::collective
