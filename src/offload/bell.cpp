#include "offload/bell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace weir::offload {

namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

void Bell::ring() {
  count_.fetch_add(1);
  if (sleepers_.load() > 0) futex(count_, FUTEX_WAKE, INT_MAX, nullptr);
}

void Bell::wait(std::uint32_t seen, std::chrono::milliseconds most) {
  const timespec timeout{.tv_sec = most.count() / 1000, .tv_nsec = (most.count() % 1000) * 1'000'000};
  sleepers_.fetch_add(1);
  if (count_.load() == seen) futex(count_, FUTEX_WAIT, seen, &timeout);
  sleepers_.fetch_sub(1);
}

}  // namespace weir::offload
