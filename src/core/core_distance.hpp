// How far apart the cores of two threads are: how long a cache line takes from one to the other. Virtual
// machines do not tell, so it is tried.
//
// Threads: two, one for each function, once. Whoever comes first waits for the other one, 10 ms at most.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace weir {

class CoreDistance {
 public:
  std::optional<double> measure();  // nanoseconds; nullopt: the other one did not come
  void answer();

 private:
  bool exchange(std::int64_t deadline);

  std::int64_t sent_ = 0;
  alignas(64) std::atomic<std::int64_t> ball_ = 0;  // odd: to be sent back; below 0: it is over
};

}  // namespace weir
