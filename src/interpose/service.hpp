// The service: collective calls are carried out by Weir's own collective I/O; everything else stays the MPI
// library's.
//
// The MPI library has every file open as well, and keeps what is its own: file pointers (moved for the calls
// that it does not see), views, sizes, shared pointers, atomic mode, error handlers. A file is served if all
// its ranks can open it and nothing speaks against it: no sequential or atomic mode, the native
// representation, views in file order. Otherwise, on all ranks alike, the MPI library does it.
//
// Threads: any, as MPI allows; calls of one file come one after another, as MPI demands of collective calls.
// COLLECTIVE over the ranks of the file unless said.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "aggregation/settings.hpp"
#include "core/error.hpp"
#include "interpose/call.hpp"
#include "interpose/hints.hpp"
#include "mpi/comm.hpp"

namespace weir::interpose {

class Service {
 public:
  // A wrong environment makes every open fail, with this message.
  explicit Service(Status environment);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Around MPI_File_open. What prepare() finds wrong (a hint of Weir, the environment) makes the open fail on
  // all ranks alike; a hint of the standard that is of no use is ignored, one that differs between ranks is
  // taken from rank 0, and one rank says so.
  struct Opening {
    mpi::Comm comm;
    Hints hints;
    aggregation::Settings settings;
    // For the MPI library, in place of the program's:
    MPI_Info info = MPI_INFO_NULL;  // to be freed; null: as it is
    int mode = 0;
    bool made = false;  // rank 0 has made the file, in a mode that says that nobody had
  };
  Result<Opening> prepare(MPI_Comm comm, MPI_Info info, const char* name, int mode);
  void opened(Opening opening, MPI_File file, const char* name, bool succeeded);
  void closing(MPI_File file);

  void view_set(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                const char* representation, bool succeeded);
  void atomicity_set(MPI_File file, bool atomic);

  // The code for the program, whose error handler has not heard of it yet; nothing if the MPI library has to
  // carry out the call.
  std::optional<int> transfer(const Call& call);
  // What transfer() did not carry out, by the MPI library.
  int pass(const Call& call, const Next& next);

  int further_mode(MPI_File file);  // LOCAL: what the program opened it with besides what MPI knows
  void describe(MPI_File file, MPI_Info info);  // LOCAL: adds what is in use to MPI_File_get_info's answer
  // LOCAL: hints of `call` come too late for Weir, and one rank says so of those that are Weir's.
  void hints_came(MPI_File file, MPI_Info info, const char* call);

  // COLLECTIVE over MPI_COMM_WORLD: rank 0 prints to standard error where the time went.
  void print_summary();

 private:
  struct OpenFile;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::interpose
