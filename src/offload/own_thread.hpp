// A thread of the compute rank itself that writes its files, together with those of the other ranks. Nothing
// is copied: data may be changed when it has been written.
//
// All calls of storage libraries are made by that thread, those for reading included (run()): most of these
// libraries know only one thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>

#include "core/core_distance.hpp"
#include "core/worker.hpp"
#include "offload/cold_blocks.hpp"
#include "offload/conduit.hpp"

namespace weir::offload {

class OwnThread final : public Conduit {
 public:
  // `comm` is used by the thread alone. REQUIRES: MPI_THREAD_MULTIPLE, or a serial comm.
  explicit OwnThread(mpi::Comm comm);
  // Ends the thread when all is written, or after leave() when all ranks have left or ended the session.
  ~OwnThread() override = default;

  void submit(Operation operation) override;
  bool maps_regions() const override { return false; }
  // What has not been begun fails. The thread ends when the other ranks know: they learn it by their next
  // call.
  void leave(int rank) override;
  Report report() override;
  // Runs a body in the thread, after what was submitted so far, and returns when it is over.
  void run(const std::function<void()>& body);

 private:
  struct OpenFile {
    std::unique_ptr<files::OutputFile> file;
    std::optional<Failure> failed;
  };
  Status perform(const Operation& operation);
  Status perform_on(OpenFile& open, const Operation& operation);

  mpi::Comm comm_;
  std::atomic<bool> leaving_ = false;
  std::map<std::uint64_t, OpenFile> files_;
  double storing_seconds_ = 0;
  std::uint64_t stored_bytes_ = 0;
  CoreDistance distance_;
  ColdBlocks cold_blocks_;
  Worker worker_;  // last: it uses all of the above
};

}  // namespace weir::offload
