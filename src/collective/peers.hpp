// Whether the processes that this rank waits for are still there. An MPI library or its launcher usually ends
// a job that lost a rank; where they do not, nobody waits for ever.
//
// Each rank looks after the next one of its node, so a lost one is seen by somebody who is not. A process
// that is slow is left alone, however long it takes: only one that is gone, or stopped for as long as
// mpi::patience(), ends the job.
//
// Ownership: owns its descriptors. Threads: one at a time. LOCAL.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/file.hpp"

namespace weir::collective {

class Peers {
 public:
  struct Peer {
    pid_t process = 0;
    std::int64_t rank = 0;  // for messages
  };
  enum class State : std::uint8_t { well, stopped, gone };

  Peers() = default;
  // `peers`: of this node, this rank among them; `mine`: its place.
  Peers(const std::vector<Peer>& peers, std::uint32_t mine);

  // To be called again and again while waiting; costs something once a second. What is wrong, in words, if
  // the job has to be ended.
  std::optional<std::string> look();

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    Peer peer;
    Descriptor process;  // tells a process from a later one with the same number
  };
  static State state_of(const Watched& watched);

  std::vector<Watched> watched_;  // those after this rank first
  Clock::time_point last_look_;
  std::optional<Clock::time_point> stopped_since_;
  bool gone_before_ = false;
};

}  // namespace weir::collective
