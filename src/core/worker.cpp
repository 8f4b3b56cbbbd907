#include "core/worker.hpp"

#include <sched.h>
#include <unistd.h>

#include <system_error>

namespace weir {

Worker* Worker::of_process() {
  static Worker* const worker = []() -> Worker* {
    try {
      return new Worker;  // never ended: nobody waits for it when the process ends
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
  {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace weir
