// HDF5 closes all its files when MPI_Finalize deletes the attributes of MPI_COMM_SELF, and once more at exit.
// Closing a file of several ranks is collective, so a file that one rank gave up would make MPI_Finalize or
// exit wait for ever, or call MPI after its end. No public function makes the library forget a file. But it
// does nothing at its end if it is not initialised: both ways out run their callbacks last in, first out, so
// ours come before HDF5's and clear its flag.
#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "backends/hdf5_file.hpp"

extern "C" {
// Exported by libhdf5 since 1.8. Weak: where a library hides it, a file given up is closed as HDF5 pleases.
extern hbool_t H5_libinit_g __attribute__((weak));
}

namespace weir::backends::hdf5 {

namespace {

std::atomic<int> open_files = 0;

void skip_closing_of_library() {
  if (open_files > 0 && &H5_libinit_g != nullptr) H5_libinit_g = false;
}

int at_finalize(MPI_Comm, int, void*, void*) {
  skip_closing_of_library();
  return MPI_SUCCESS;
}

void come_before_library() {
  H5open();  // from here on our callbacks are the younger ones
  std::atexit(skip_closing_of_library);
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0) return;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

}  // namespace

void note_open_file() {
  static std::once_flag once;
  std::call_once(once, come_before_library);
  ++open_files;
}

void forget_open_file() {
  --open_files;
}

}  // namespace weir::backends::hdf5
