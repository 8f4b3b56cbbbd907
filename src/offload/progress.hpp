// How far one request has come. Shared between the program's thread, which asks and waits, and whoever
// carries it out.
//
// Threads: the carrier marks, any thread asks and waits.
#pragma once

#include <atomic>
#include <memory>

#include "core/error.hpp"

namespace weir::offload {

class Progress {
 public:
  static std::shared_ptr<Progress> finished(Status status) {
    auto progress = std::make_shared<Progress>();
    progress->mark_done(std::move(status));
    return progress;
  }

  bool taken() const {
    return stage_.load(std::memory_order_acquire) >= is_taken;
  }  // the data may be changed
  bool done() const {
    return stage_.load(std::memory_order_acquire) == is_done;
  }  // it is in the file, or failed
  void wait_taken() const { wait_until(is_taken); }
  void wait_done() const { wait_until(is_done); }

  // REQUIRES: done().
  const Status& status() const { return status_; }
  bool failed() const { return done() && !status_; }
  void mark_seen() { seen_ = true; }  // the program was told how it ended
  bool seen() const { return seen_; }

  void mark_refused() { refused_ = true; }  // this rank has found the request wrong; the others will be told
  bool refused() const { return refused_; }
  void mark_taken() {
    int before = is_on_its_way;
    if (stage_.compare_exchange_strong(before, is_taken, std::memory_order_acq_rel)) stage_.notify_all();
  }
  void mark_done(Status status) {
    if (done()) return;
    status_ = std::move(status);
    advance(is_done);
  }

 private:
  enum Stage : int { is_on_its_way = 0, is_taken = 1, is_done = 2 };

  void wait_until(int stage) const {
    for (int now = stage_.load(std::memory_order_acquire); now < stage;
         now = stage_.load(std::memory_order_acquire))
      stage_.wait(now, std::memory_order_acquire);
  }
  void advance(int stage) {
    stage_.store(stage, std::memory_order_release);
    stage_.notify_all();
  }

  std::atomic<int> stage_ = is_on_its_way;
  Status status_;
  std::atomic<bool> seen_ = false;
  std::atomic<bool> refused_ = false;
};

}  // namespace weir::offload
