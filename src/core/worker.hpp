// A thread that does jobs one after another, in the order they came. Its owner ends it: the destructor waits
// for the jobs that were posted. A job must not throw. After a job it stays awake as long as `lingers` says,
// so that whoever posts the next one need not wake it, which takes as long as a small job. Signals are for
// the threads of the program.
//
// Threads: post() from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/no_signals.hpp"

namespace weir {

class Worker {
 public:
  // Throws std::system_error when there is no thread to be had.
  explicit Worker(std::chrono::microseconds lingers = {})
      : lingers_(lingers), thread_(thread_without_signals([this] { work(); })) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  void post(std::function<void()> job);

  // One that every part of the process may use; it lives as long as the process. nullptr: there is no thread
  // to be had.
  static Worker* of_process();

 private:
  void work();
  void linger();

  const std::chrono::microseconds lingers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::atomic<std::size_t> waiting_jobs_ = 0;  // of `jobs_`, for a look without the mutex
  bool asleep_ = false;
  bool ending_ = false;
  std::thread thread_;  // last: it uses all of the above
};

// Whether a second thread of each of so many processes on this node would have a processor of its own. A
// process that is bound to some of the processors is taken to have those for itself; where the launcher says
// that it is the only one of its job here, the others are free, and of_process() runs there if it may.
bool has_processor_to_spare(int processes);

// A value computed by a worker while its owner does something else, or by the owner himself if the worker has
// not come to it when the value is needed. Without a worker: by the owner.
template <class T>
class Errand {
 public:
  Errand(Worker* worker, std::function<T()> body) : state_(std::make_shared<State>()) {
    state_->body = std::move(body);
    if (worker != nullptr) worker->post([state = state_] { state->run(); });
  }
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;
  ~Errand() { get(); }  // what the body refers to may go away afterwards

  T get() {
    state_->run();
    state_->done.wait(false);
    return *state_->value;
  }

 private:
  struct State {
    std::function<T()> body;
    std::optional<T> value;
    std::atomic<bool> taken = false;
    std::atomic<bool> done = false;

    void run() {
      if (taken.exchange(true)) return;
      value = body();
      done = true;
      done.notify_all();
    }
  };
  std::shared_ptr<State> state_;
};

}  // namespace weir
