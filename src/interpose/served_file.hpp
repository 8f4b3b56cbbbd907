// One file that the service has open beside the MPI library. See service.hpp.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "collective/collective.hpp"
#include "core/file.hpp"
#include "core/worker.hpp"
#include "interpose/call.hpp"
#include "interpose/call_rows.hpp"
#include "interpose/hints.hpp"
#include "mpi/comm.hpp"

namespace weir::interpose {

// The file that the MPI library has open under this name: "ufs:file" is "file" for ROMIO, which takes what
// stands before the colon for a kind of file system, and for OMPIO a file of just that name. Fails if both
// are there. LOCAL.
Result<std::string> opened_path(const std::string& name);

class ServedFile {
 public:
  // Opens it for the collective I/O. Fails, on all ranks alike, if any of them cannot. COLLECTIVE.
  static Result<std::unique_ptr<ServedFile>> open(mpi::Comm comm, MPI_File handle, const std::string& name,
                                                  int mode, const aggregation::Settings& settings,
                                                  Hints hints);
  ~ServedFile();

  // COLLECTIVE: whether the view can be served is decided together. `succeeded`: the MPI library took it.
  void set_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                const char* representation, bool succeeded);
  void set_atomic(bool atomic) { atomic_ = atomic; }

  // The code for the program, whose error handler has not heard of it yet; nothing if the MPI library has to
  // do it. COLLECTIVE. REQUIRES: MPI_THREAD_MULTIPLE, where the call is to return at once.
  std::optional<int> transfer(const Call& call);

  void finish();  // waits for the calls that another thread carries out

  int descriptor() const { return descriptor_.get(); }
  Hints hints_in_use() const;
  bool leads() const { return comm_.rank() == 0; }
  const collective::Collective& collective() const { return *collective_; }

 private:
  ServedFile() = default;
  struct Place {
    MPI_Offset offset = 0;  // in elementary types
    std::uint64_t bytes = 0;
    Status status;  // what is wrong with the call on this rank
  };
  struct ViewTypesRead {
    TypeTree elementary_tree;
    TypeTree file_tree;
    pattern::Datatype elementary;
    pattern::Datatype file_type;
  };
  Status read_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype);
  bool is_placed_alike() const;
  Place place_of(const Call& call);
  void move_pointer(const Call& call, const Place& place);
  collective::Outcome carry_out(Direction direction, const collective::Request& request, const Status& mine);
  int start(const Call& call);

  MPI_File handle_ = MPI_FILE_NULL;
  int mode_ = 0;
  std::string path_;
  Descriptor descriptor_;
  mpi::Comm comm_ = mpi::Comm::serial();
  std::unique_ptr<collective::Collective> collective_;
  Hints hints_;
  bool atomic_ = false;
  bool view_served_ = true;
  std::optional<ViewTypesRead> view_types_;
  FileRows file_rows_;
  MemoryRows memory_rows_;
  collective::Request request_;  // of the last call: the next one often differs by its place only
  struct Split {
    int code;
    std::uint64_t bytes;
  };
  std::optional<Split> split_;      // between the two halves of a split call
  std::unique_ptr<Worker> worker_;  // for calls that return at once
};

}  // namespace weir::interpose
