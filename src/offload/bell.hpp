// A counter in memory that processes share: whoever has news rings it, whoever waits for news sleeps on it
// without using a core.
//
// Threads: any number in any number of processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace weir::offload {

class Bell {
 public:
  std::uint32_t heard() const { return count_.load(std::memory_order_acquire); }
  void ring();
  // Returns when the bell has been rung since heard() gave `seen`, or after `most`, or early for no reason.
  void wait(std::uint32_t seen, std::chrono::milliseconds most);

 private:
  std::atomic<std::uint32_t> count_ = 0;
  std::atomic<std::uint32_t> sleepers_ = 0;
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
                  std::atomic<std::uint64_t>::is_always_lock_free,
              "processes share these");

}  // namespace weir::offload
