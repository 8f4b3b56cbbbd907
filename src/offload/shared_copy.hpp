// A copy that two threads can do together: one begins it, another may help while it has nothing better to do.
// The other one works on the data: what the first one has read of a block that is `cold`, it evicts.
//
// Threads: run() once, by the thread that began it; help() by any other, as long as it holds the object.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "core/caches.hpp"
#include "core/copy.hpp"

namespace weir::offload {

class SharedCopy {
 public:
  SharedCopy(std::byte* to, const std::byte* from, std::uint64_t bytes, bool cold)
      : to_(to), from_(from), bytes_(bytes), cold_(cold) {}

  void run() {  // returns when all of it is copied
    copy_parts(cold_);
    while (copied_.load(std::memory_order_acquire) < bytes_) std::this_thread::yield();
  }

  bool help() { return copy_parts(false); }  // returns when nothing is left to begin; true if it did anything

 private:
  static constexpr std::uint64_t part = 256U << 10U;
  static constexpr std::uint64_t large = 1U << 20U;

  bool copy_parts(bool evicting) {
    bool any = false;
    for (std::uint64_t at = next_.fetch_add(part); at < bytes_; at = next_.fetch_add(part)) {
      const std::uint64_t size = std::min(part, bytes_ - at);
      // What is small enough to stay in a cache until the server reads it had better stay there.
      if (bytes_ >= large) {
        streaming_copy(to_ + at, from_ + at, size);
      } else {
        copy_bytes(to_ + at, from_ + at, size);
      }
      if (evicting) evict(from_ + at, size);
      copied_.fetch_add(size, std::memory_order_release);
      any = true;
    }
    return any;
  }

  std::byte* to_;
  const std::byte* from_;
  std::uint64_t bytes_;
  bool cold_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> copied_ = 0;
};

}  // namespace weir::offload
