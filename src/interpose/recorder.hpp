// The recorder: writes down which bytes of which file each rank touches, and changes nothing.
//
// A call costs one uncontended lock, a comparison or two and MPI_Type_size; no clock, no allocation unless
// the log grows. Views are read when they are set; what they mean for the file is worked out in save(), once.
// Two calls ask MPI more: a shared file pointer is asked for after the call, and ordered calls exchange one
// number among the ranks, as they synchronise anyway.
//
// Threads: any. LOCAL unless said.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/error.hpp"
#include "interpose/call.hpp"

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

  // Around a transfer: what before() returns goes into after(). COLLECTIVE for ordered calls.
  MPI_Offset before(const Call& call);
  void after(const Call& call, MPI_Offset noted, bool succeeded);

  // Gathers all ranks' logs along a tree and writes the recording on rank 0: whole or not at all. COLLECTIVE
  // over MPI_COMM_WORLD. A rank that had to give up says so in `so_far`; then there is no recording. The
  // outcome is known on rank 0.
  Status save(const std::filesystem::path& path, const Status& so_far);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::interpose
