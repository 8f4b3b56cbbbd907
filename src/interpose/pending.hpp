// A call that another thread carries out, as an MPI_Request of the program (a generalized request). Needs
// MPI_THREAD_MULTIPLE.
//
// Ownership: MPI keeps a Pending until the program has completed the request and it was completed here.
// Threads: any.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace weir::interpose {

class Pending {
 public:
  // Null if MPI has no request to give.
  static Pending* start(MPI_Request* request);

  // The request may now be waited for; this object belongs to MPI from here on.
  void complete(int code, std::uint64_t bytes);

 private:
  Pending() = default;
  static int query(void* state, MPI_Status* status);
  static int release(void* state);
  static int cancel(void* state, int complete);

  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
  std::uint64_t bytes_ = 0;
};

// Fills in what MPI_Get_count and MPI_Get_elements will say. `status` may be MPI_STATUS_IGNORE.
void set_bytes(MPI_Status* status, std::uint64_t bytes);

}  // namespace weir::interpose
