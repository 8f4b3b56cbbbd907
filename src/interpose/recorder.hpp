// The recorder: writes down which bytes of which file each rank touches, and changes nothing.
//
// A call like one of the last few (same function, file, type and count), wherever it is in the file, costs a
// few comparisons and one number that is noted: see CallBatch. Notes go into the log many at a time. A call
// of another sort costs a search for the file and MPI_Type_size; no clock, no allocation unless the log
// grows. Views are read when they are set; what they mean for the file is worked out in save(), once. Two
// calls ask MPI more: a shared file pointer is asked for after the call, and ordered calls exchange one
// number among the ranks, as they synchronise anyway.
//
// Threads: any. A lock, beside what it guards, is taken only if the program started MPI with
// MPI_THREAD_MULTIPLE: else MPI itself demands that calls do not meet. LOCAL unless said.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/error.hpp"
#include "interpose/call.hpp"
#include "interpose/call_batch.hpp"
#include "recording/run_log.hpp"

namespace weir::interpose {

class Recorder {
 public:
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Around MPI_File_open. COLLECTIVE over comm: a communicator of the file's ranks, for opened().
  MPI_Comm opening(MPI_Comm comm);
  void opened(MPI_Comm comm, MPI_File file, const char* name, int mode, bool succeeded);

  // After MPI did it, successfully.
  void view_set(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype);
  void pointer_moved(MPI_File file);

  void closing(MPI_File file);  // before: afterwards the handle is gone

  void freeing_type();  // before a type is freed

  // Around a transfer: what before() returns goes into after(). COLLECTIVE for ordered calls.
  MPI_Offset before(const Call& call) { return call.pointer == Pointer::ordered ? before_ordered(call) : 0; }
  void after(const Call& call, MPI_Offset noted, bool succeeded);

  // Instead of both, for a call like the one before it: whether it is noted. One by the individual pointer
  // needs take_back() if it then fails; one at a given offset is recorded as what was asked for, like a read
  // beyond the end.
  bool goes_on(const CallBatch::Sort& sort, MPI_Offset offset) {
    if (batch_.one_thread) [[likely]]
      return batch_.takes_next(sort, offset);
    if (!batch_.lock.try_lock()) return false;
    const bool taken = batch_.takes_next(sort, offset);
    batch_.lock.unlock();
    return taken;
  }
  void take_back(MPI_File file);

  // Gathers all ranks' logs along a tree and writes the recording on rank 0: whole or not at all. COLLECTIVE
  // over MPI_COMM_WORLD. A rank that had to give up says so in `so_far`; then there is no recording. The
  // outcome is known on rank 0.
  Status save(const std::filesystem::path& path, const Status& so_far);

 private:
  struct State;
  struct OpenFile;
  MPI_Offset before_ordered(const Call& call);
  static recording::CallKind kind_of(const Call& call, const OpenFile& open, std::uint64_t bytes);
  // REQUIRES, here and below: the lock.
  void empty_batch();
  void forget_sorts();
  void note(const Call& call, OpenFile& open, std::uint64_t bytes);

  CallBatch batch_;
  std::unique_ptr<State> state_;
};

}  // namespace weir::interpose
