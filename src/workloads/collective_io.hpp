// A workload's program through MPI-IO, as its authors wrote it: MPI_File_set_view and MPI_File_write_all or
// _read_all, or the _at_all forms where it has no view. What the MPI library, or a library loaded before it,
// makes of that is what is measured.
//
// COLLECTIVE over comm. Failures are those of MPI on any rank; every rank returns one then.
#pragma once

#include <mpi.h>

#include "workloads/io_workload.hpp"

namespace weir::workloads {

// The bytes of one call as a file type; freed by its owner.
class FileType {
 public:
  explicit FileType(const IoProgram& program);
  ~FileType();
  FileType(const FileType&) = delete;
  FileType& operator=(const FileType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

struct CollectiveTimes {
  double open = 0;      // with set_view
  double transfer = 0;  // all calls; the slowest rank's
  double close = 0;
  std::uint64_t sent_between_nodes = 0;  // bytes that left the nodes' interfaces meanwhile
};

// `memory` holds the data of all calls.
Result<CollectiveTimes> write_collectively(MPI_Comm comm, const std::string& path, const IoProgram& program,
                                           const std::byte* memory);
Result<CollectiveTimes> read_collectively(MPI_Comm comm, const std::string& path, const IoProgram& program,
                                          std::byte* memory);

// What the interfaces of all nodes have sent so far, but for the loopback: the sum over nodes, on every rank.
class NodeTraffic {
 public:
  explicit NodeTraffic(MPI_Comm comm);
  ~NodeTraffic();
  NodeTraffic(const NodeTraffic&) = delete;
  NodeTraffic& operator=(const NodeTraffic&) = delete;
  std::uint64_t sent() const;  // COLLECTIVE

 private:
  MPI_Comm comm_;
  bool leads_ = false;  // one rank of each node reads its counters
};

// "/proc/net/dev": bytes sent by all interfaces but lo.
std::uint64_t bytes_sent(std::string_view proc_net_dev);

// This rank's part of the file, with ordinary system calls, whoever wrote it. LOCAL.
Status read_directly(const std::string& path, const IoProgram& program, std::byte* memory);
Status write_directly(const std::string& path, const IoProgram& program, const std::byte* memory);

}  // namespace weir::workloads
