#include "core/worker.hpp"

#include <sched.h>
#include <unistd.h>

#include <system_error>

namespace weir {

Worker* Worker::of_process() {
  static Worker* const worker = []() -> Worker* {
    try {
      constexpr std::chrono::microseconds between_steps(500);  // of a program that only writes
      return new Worker(between_steps);  // never ended: nobody waits for it when the process ends
    } catch (const std::system_error&) {
      return nullptr;
    }
  }();
  return worker;
}

bool has_processor_to_spare(int processes) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return false;  // more than fit into the set
  const int mine = CPU_COUNT(&allowed);
  return mine >= (mine < ::sysconf(_SC_NPROCESSORS_ONLN) ? 2 : 2 * processes);
}

Worker::~Worker() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Worker::post(std::function<void()> job) {
  bool asleep = false;
  {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(std::move(job));
    waiting_jobs_ = jobs_.size();
    asleep = asleep_;
  }
  if (asleep) changed_.notify_one();
}

namespace {

// Leaves a core to the other hardware thread on it for some 50 nanoseconds.
void pause_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

}  // namespace

// Gives way to every other thread that wants the processor, and to the hardware thread beside it.
void Worker::linger() {
  if (lingers_.count() == 0) return;
  constexpr int pauses = 64;  // between two looks at the clock
  const auto end = std::chrono::steady_clock::now() + lingers_;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < pauses; ++i) {
      if (waiting_jobs_ != 0) return;
      pause_processor();
    }
    std::this_thread::yield();
  }
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    asleep_ = true;
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    asleep_ = false;
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    waiting_jobs_ = jobs_.size();
    lock.unlock();
    job();
    linger();
    lock.lock();
  }
}

}  // namespace weir
