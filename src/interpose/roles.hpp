// What happens between a program's call and the MPI library: the roles, and the order in which they see a
// call.
//
// One state per process, made by the first call that needs it. Threads: any, as MPI_THREAD_MULTIPLE allows.
// Calls that a role makes itself (of MPI-IO, directly or through another tool) pass through: `Inside` marks
// the thread.
#pragma once

#include <mpi.h>

#include "core/error.hpp"
#include "interpose/call.hpp"
#include "interpose/recorder.hpp"

namespace weir::interpose {

// Whether any role is switched on; read by every call, so it is no function of another file.
extern bool active;
// The roles that see transfers; null: not this one. A recorder that failed watches no longer.
class Service;
extern Recorder* watching;
extern Service* serving;
// The recorder where nobody else listens: no other role, and no other tool between us and the MPI library.
extern Recorder* only_watcher;
// A preloaded library is there from the start: the cheapest kind of thread-local variable will do.
extern constinit thread_local bool inside __attribute__((tls_model("initial-exec")));

// What the constructor of the library does when WEIR_RECORD names a file: from now on all is recorded, and
// written there by MPI_Finalize. REQUIRES: nothing was recorded before.
void start_recording(const char* path);

// The same for WEIR_COLLECTIVE=on: collective calls of files opened from now on are Weir's. A failure in
// `environment` makes every open fail.
void start_serving(const Status& environment);

class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

// The entries behind the exported functions. `next` carries the call out as the program would have seen it
// without us; each returns the code that the program gets. No exception of ours leaves them; one that the
// program's error handler throws does.
int transfer(const Call& call, const Next& next);
// A call by the individual pointer of this file, which only_watcher had noted before it was carried out,
// failed.
void failed_after_all(MPI_File file);
// `mode` and `info` are those that `next` passes on: they may become others.
int file_open(MPI_Comm comm, const char* name, int& mode, MPI_Info& info, MPI_File* file, const Next& next);
int get_amode(MPI_File file, int* mode, const Next& next);
int file_close(MPI_File* file, const Next& next);
int set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
             const char* representation, MPI_Info info, const Next& next);
int seek(MPI_File file, MPI_Offset offset, int whence, const Next& next);
int set_atomicity(MPI_File file, int flag, const Next& next);
int set_info(MPI_File file, MPI_Info info, const Next& next);
int get_info(MPI_File file, MPI_Info* info, const Next& next);
int type_free(const Next& next);
int init(int* argc, char*** argv, const Next& next);
int init_thread(int& required, const Next& next);  // `required` is passed on by `next`
int finalize(const Next& next);

}  // namespace weir::interpose
