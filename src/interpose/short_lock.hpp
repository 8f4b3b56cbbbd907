// A lock for what takes nanoseconds, rarely microseconds: one byte, to lie beside what it guards.
//
// Who finds it taken lets others run and tries again. For std::lock_guard and std::unique_lock. LOCAL.
#pragma once

#include <atomic>
#include <thread>

namespace weir::interpose {

class ShortLock {
 public:
  bool try_lock() { return !taken_.exchange(true, std::memory_order_acquire); }
  void lock() {
    while (!try_lock()) std::this_thread::yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_ = false;
};

}  // namespace weir::interpose
