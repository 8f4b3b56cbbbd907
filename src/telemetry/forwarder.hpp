// Sends samples to a forward server and loses none while the server is away: every batch goes to a spool on
// disk first, and leaves it when it was acknowledged. A thread of its own sends, so that sampling never
// waits.
//
// While the server cannot be reached, sending is tried again after 1, 2, 4, ... up to 60 s, a little
// scattered so that a thousand nodes do not come back in one moment. Then the oldest samples go first. What
// was sent and not acknowledged is sent again: a receiver may see samples twice.
//
// A second thread forces to the disk what has waited in the spool for some seconds, so that a power failure
// costs no more than those.
//
// Threads: add() and finish() from one thread; `problem` is called from threads inside, one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/error.hpp"
#include "telemetry/forward_client.hpp"
#include "telemetry/record.hpp"

namespace weir::telemetry {

struct ForwarderOptions {
  ForwardClientOptions client;
  std::filesystem::path spool;
  std::uint64_t spool_bytes = std::uint64_t{256}
                              << 20U;  // when full, the oldest samples are dropped and counted
  double first_pause = 1;
  double longest_pause = 60;
  double force_after = 5;  // seconds; what waited so long, and at most twice as long, is on the disk
};

struct ForwarderTally {
  std::uint64_t sent = 0;           // samples that were acknowledged
  std::uint64_t waiting = 0;        // in the spool
  std::uint64_t dropped = 0;        // because the spool or its disk was full, or the chunk was broken
  std::uint64_t broken_chunks = 0;  // found in the spool
};

class Forwarder {
 public:
  using Problem = std::function<void(const std::string&)>;

  // Finds what an earlier process left in the spool, and sends that first.
  static Result<Forwarder> start(ForwarderOptions options, Problem problem);
  Forwarder(Forwarder&&) noexcept;
  Forwarder& operator=(Forwarder&&) noexcept;
  ~Forwarder();  // finish(0)

  Status add(const Batch& batch);
  // Waits until the spool is empty, but not longer than this; what remains stays in the spool for the next
  // time.
  ForwarderTally finish(double seconds);
  ForwarderTally tally() const;

 private:
  struct State;
  explicit Forwarder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weir::telemetry
