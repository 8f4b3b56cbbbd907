#include "core/worker.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/this_thread.hpp"

namespace weir {

namespace {

// A launcher binds even a process that has the node for itself, and tells it so: Open MPI and MPICH.
bool is_alone_on_node() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* ranks = std::getenv(name)) return std::string_view(ranks) == "1";
  }
  return false;
}

// Those that this process may run on; none: more than fit into the set.
std::optional<cpu_set_t> my_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return std::nullopt;
  return allowed;
}

std::vector<int> processors_besides(const cpu_set_t& mine) {
  std::vector<int> others;
  const auto all = static_cast<int>(std::min<long>(::sysconf(_SC_NPROCESSORS_CONF), CPU_SETSIZE));
  for (int i = 0; i < all; ++i) {
    if (!CPU_ISSET(static_cast<std::size_t>(i), &mine)) others.push_back(i);
  }
  return others;
}

}  // namespace

Worker* Worker::of_process() {
  static Worker* const worker = []() -> Worker* {
    try {
      constexpr std::chrono::microseconds between_steps(500);  // of a program that only writes
      auto* one = new Worker(between_steps);  // never ended: nobody waits for it when the process ends
      if (const auto mine = my_processors(); mine && is_alone_on_node())
        one->post([others = processors_besides(*mine)] { run_this_thread_on(others); });
      return one;
    } catch (const std::system_error&) {
      return nullptr;
    }
  }();
  return worker;
}

bool has_processor_to_spare(int processes) {
  const auto allowed = my_processors();
  if (!allowed) return false;
  const int mine = CPU_COUNT(&*allowed);
  const bool is_bound = mine < ::sysconf(_SC_NPROCESSORS_ONLN);
  return is_bound ? mine >= 2 || is_alone_on_node() : mine >= 2 * processes;
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
