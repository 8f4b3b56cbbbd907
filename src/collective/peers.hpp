// Whether the processes that this rank waits for are still there. An MPI library or its launcher usually ends
// a job that lost a rank; where they do not, nobody waits for ever.
//
// Each rank looks after the next one of its node, so a lost one is seen by somebody who is not. A process
// that is slow is left alone, however long it takes: only one that is gone, or stopped for as long as
// mpi::patience(), ends the job.
//
// It looks into /proc, and keeps no descriptor: a program may have many files open, on nodes with many ranks.
//
// Ownership: a plain value. Threads: one at a time. LOCAL.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::collective {

class Peers {
 public:
  struct Peer {
    pid_t process = 0;
    std::uint64_t began = 0;  // in ticks: tells a process from a later one with the same number; 0: not known
    std::int64_t rank = 0;    // for messages
  };
  enum class State : std::uint8_t { well, stopped, gone };

  static Peer find(pid_t process, std::int64_t rank);  // REQUIRES: it is there

  Peers() = default;
  // `peers`: of this node, this rank among them; `mine`: its place.
  Peers(const std::vector<Peer>& peers, std::uint32_t mine);

  // To be called again and again while waiting; costs something once a second. What is wrong, in words, if
  // the job has to be ended.
  std::optional<std::string> look();

 private:
  using Clock = std::chrono::steady_clock;
  static State state_of(const Peer& peer);

  std::vector<Peer> watched_;  // those after this rank first
  Clock::time_point last_look_;
  std::optional<Clock::time_point> stopped_since_;
  bool gone_before_ = false;
};

}  // namespace weir::collective
