// A call that another thread carries out, as an MPI_Request of the program (a generalized request). Needs
// MPI_THREAD_MULTIPLE.
//
// A call that failed is told to the file's error handler while the program waits for the request. MPI gives
// what a generalized request returns to the error handler of MPI_COMM_WORLD, too, which ends most programs;
// so it is only returned where the program has no handler of its own for the file, or asked to have errors
// returned.
//
// Ownership: MPI keeps a Pending until the program has completed the request and it was completed here.
// Threads: any.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace weir::interpose {

class Pending {
 public:
  // Null if MPI has no request to give. REQUIRES: the file is open until the request is complete, as MPI
  // does.
  static Pending* start(MPI_Request* request, MPI_File file);

  // The request may now be waited for; this object belongs to MPI from here on.
  void complete(int code, std::uint64_t bytes);

 private:
  explicit Pending(MPI_File file) : file_(file) {}
  static int query(void* state, MPI_Status* status);
  static int release(void* state);
  static int cancel(void* state, int complete);

  int tell();  // the code to return

  MPI_File file_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
  std::uint64_t bytes_ = 0;
  bool told_ = false;
};

// Fills in what MPI_Get_count and MPI_Get_elements will say. `status` may be MPI_STATUS_IGNORE.
void set_bytes(MPI_Status* status, std::uint64_t bytes);

}  // namespace weir::interpose
