// The requests of a compute rank on their way to its server, whichever way they go: what is queued, what is
// being moved, what waits for its answer.
//
// Threads: submit(), leave(), end() and report() are for the program's thread, everything else for the
// carrier's.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "offload/cold_blocks.hpp"
#include "offload/conduit.hpp"

namespace weir::offload {

// What requests fail with when their server is lost.
Failure server_lost(const std::string& cause);

class Backlog {
 public:
  // `room` is what the server has for data; what lies in a region is moved only if the server cannot map it.
  Backlog(std::uint64_t room, bool maps_regions) : room_(room), maps_regions_(maps_regions) {}

  // Which blocks whoever reads them had better evict; before any is begun.
  void look_out_for(ColdBlocks cold_blocks) { cold_blocks_ = std::move(cold_blocks); }

  void submit(Operation operation);
  void leave(int rank);  // the last letter will say so
  void end();
  Report report() const;

  bool ending() const;
  std::optional<std::string> last_letter() const;
  bool awaits_answers() const { return !unanswered_.empty(); }

  // The letter of the next operation, unless one is being moved or there is none.
  std::optional<std::string> begin_next();
  // Data of the operation that is being moved. Blocks that do not fit at once come in parts, so that they
  // move on while the server writes the first of them.
  struct Part {
    Box box;
    const std::byte* data = nullptr;
    std::uint64_t bytes = 0;
    bool cold = false;  // whoever reads it had better evict it
  };
  std::optional<Part> next_part() const;
  void moved_part(std::uint64_t bytes, double seconds);
  bool finish_moving();  // true if that ended an operation

  void settle(const std::string& answer);  // of the oldest operation that waits for one
  // The server is gone: everything fails, now and later, with this cause and the name of its file.
  void give_up(const Failure& failure);

 private:
  // A request that has no answer yet, and what to say if there will be none.
  struct Awaited {
    std::shared_ptr<Progress> progress;
    std::string path;
    std::string operation;
  };
  static Awaited awaited(const Operation& operation);
  static void end_with(const Failure& failure, const Awaited& request);

  const std::uint64_t room_;
  const bool maps_regions_;

  mutable std::mutex mutex_;  // guards the next five
  std::deque<Operation> queue_;
  bool ending_ = false;
  std::optional<Operation> leaving_;
  std::optional<Failure> lost_;
  Report report_;

  // The carrier's thread's own.
  std::optional<Operation> current_;
  std::deque<Box> parts_;  // of the current operation, still to be moved
  ColdBlocks cold_blocks_;
  std::deque<Awaited> unanswered_;
};

}  // namespace weir::offload
