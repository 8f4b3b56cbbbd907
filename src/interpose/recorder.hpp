// The recorder: writes down which bytes of which file each rank touches, and changes nothing.
//
// A call that goes on as the ones before it did (same file, type and count, at the same stride) costs a few
// comparisons within one cache line: see Streak. Any other costs a search for the file, MPI_Type_size and a
// comparison or two; no clock, no allocation unless the log grows. Views are read when they are set; what
// they mean for the file is worked out in save(), once. Two calls ask MPI more: a shared file pointer is
// asked for after the call, and ordered calls exchange one number among the ranks, as they synchronise
// anyway.
//
// Threads: any. A lock is taken only if the program started MPI with MPI_THREAD_MULTIPLE: else MPI itself
// demands that calls do not meet. LOCAL unless said.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/error.hpp"
#include "interpose/call.hpp"
#include "interpose/run_log.hpp"

namespace weir::interpose {

// Calls that go on at a constant stride, counted and not yet in the log. A type's handle stands for its size
// here, so a streak must end before the program frees a type: the handle may come again with another one.
struct alignas(64) Streak {
  MPI_File file = MPI_FILE_NULL;  // none: no streak
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Direction direction = Direction::read;
  Pointer pointer = Pointer::given;
  MPI_Count count = 0;
  MPI_Offset next = 0;  // where a call with an offset must be to go on
  MPI_Offset step = 0;
  std::uint64_t calls = 0;

  // Counts the call if it goes on; the call is one that succeeded.
  bool takes(const Call& call) {
    if (call.file != file || call.type != type || call.count != count || call.direction != direction ||
        call.pointer != pointer)
      return false;
    if (pointer == Pointer::given) {
      if (call.offset != next) return false;
      // Beyond any file no program gets, but an offset may be absurd.
      next = static_cast<MPI_Offset>(static_cast<std::uint64_t>(next) + static_cast<std::uint64_t>(step));
    }
    ++calls;
    return true;
  }
};

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

  // For a call that succeeded: whether that was all there is to record. If not, after() is to be called.
  bool goes_on(const Call& call) { return !shared_by_threads_ && streak_.takes(call); }

  // Gathers all ranks' logs along a tree and writes the recording on rank 0: whole or not at all. COLLECTIVE
  // over MPI_COMM_WORLD. A rank that had to give up says so in `so_far`; then there is no recording. The
  // outcome is known on rank 0.
  Status save(const std::filesystem::path& path, const Status& so_far);

 private:
  struct State;
  struct OpenFile;
  MPI_Offset before_ordered(const Call& call);
  // REQUIRES, here and below: the lock.
  void end_streak();
  void begin_streak(const Call& call, OpenFile& open, const CallRun* run);

  Streak streak_;
  bool shared_by_threads_ = true;  // until MPI has said otherwise
  std::unique_ptr<State> state_;
};

}  // namespace weir::interpose
