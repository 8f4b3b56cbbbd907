#include "core/core_distance.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace weir {

namespace {

constexpr std::int64_t longest = 10'000'000;  // nanoseconds that one waits for the other
constexpr std::int64_t over = -1;

std::int64_t nanoseconds() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// Threads of other ranks may have to run on the same core first.
class Patience {
 public:
  explicit Patience(std::int64_t deadline) : deadline_(deadline) {}
  bool wait() {
    constexpr int tries = 1000;
    if (++tries_ % tries != 0) return true;
    std::this_thread::yield();
    return nanoseconds() < deadline_;
  }

 private:
  std::int64_t deadline_;
  int tries_ = 0;
};

}  // namespace

bool CoreDistance::exchange(std::int64_t deadline) {
  sent_ += 2;
  ball_.store(sent_ - 1, std::memory_order_release);
  Patience patience(deadline);
  while (ball_.load(std::memory_order_acquire) != sent_) {
    if (!patience.wait()) return false;
  }
  return true;
}

// The shortest of many short ones: whatever comes in between makes it longer, and other ranks may have
// threads that answer on the same core.
std::optional<double> CoreDistance::measure() {
  constexpr int tries = 60;
  constexpr int exchanges = 8;
  const std::int64_t deadline = nanoseconds() + longest;
  std::optional<double> shortest;
  bool there = exchange(deadline);
  for (int i = 0; i < tries && there; ++i) {
    const std::int64_t start = nanoseconds();
    for (int k = 0; k < exchanges && there; ++k) there = exchange(deadline);
    const double one_way = static_cast<double>(nanoseconds() - start) / (2.0 * exchanges);
    if (there) shortest = std::min(one_way, shortest.value_or(one_way));
  }
  ball_.store(over, std::memory_order_release);
  return shortest;
}

void CoreDistance::answer() {
  Patience patience(nanoseconds() + longest);
  while (true) {
    std::int64_t ball = ball_.load(std::memory_order_acquire);
    if (ball == over) return;
    if (ball % 2 == 1) {
      ball_.compare_exchange_strong(ball, ball + 1, std::memory_order_acq_rel);
    } else if (!patience.wait()) {
      return;
    }
  }
}

}  // namespace weir
