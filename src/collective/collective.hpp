// Collective writing and reading of one open file: executes the decisions of aggregation/ over MPI and
// positional I/O.
//
// Data goes through shared memory within a node and by one process of it between two nodes; an aggregator
// writes cycle k while cycle k+1 is on its way. Schedules are kept while the pieces stay the same but for a
// common shift.
//
// Ownership: the file descriptor stays the caller's and must outlive the Collective. Memory:
// aggregator_memory() and node_memory() of the settings, taken by the first call that needs it. Threads:
// one thread at a time. MPI is called from that thread only. All members are COLLECTIVE over the communicator
// unless they say LOCAL.
#pragma once

#include <memory>
#include <string>

#include "aggregation/decide.hpp"
#include "aggregation/pieces.hpp"
#include "aggregation/settings.hpp"
#include "collective/accounting.hpp"
#include "core/error.hpp"
#include "mpi/comm.hpp"

namespace weir::collective {

struct OpenFile {
  int descriptor = -1;
  std::string path;  // for messages
};

// What one rank wants: pieces of the file in file order, and where in memory their bytes are, one after
// another in the order of the pieces. Addresses are absolute; both lists have the same number of bytes in
// total.
struct Request {
  aggregation::Rows file;
  aggregation::Rows memory;
};

struct Outcome {
  Status status;  // the same on every rank; names rank, file, offset and cause
  // Of this rank: written, or read before the end of the file. 0 after a failure: what was transferred until
  // then is not known.
  std::uint64_t bytes = 0;
};

class Collective {
 public:
  // Ranks may pass different descriptors of the same file; settings must be the same everywhere.
  static Result<std::unique_ptr<Collective>> create(const mpi::Comm& comm, OpenFile file,
                                                    const aggregation::Settings& settings);
  virtual ~Collective() = default;

  // Memory is only read by write(), and only bytes of the request are changed by read(); what lies behind the
  // end of the file is left as it was. A rank without data passes an empty request. `mine`: a failure that
  // the caller found on this rank; then every rank gets it, and nothing is transferred but what ranks that
  // make the same call again, or read large pieces, may have done for themselves already.
  virtual Outcome write(const Request& request, const Status& mine = {}) = 0;
  virtual Outcome read(const Request& request, const Status& mine = {}) = 0;

  // LOCAL.
  virtual const Accounting& accounting() const = 0;  // of this rank, all calls so far
  // As they are used: striping is that of the part of the file which the last call touched.
  virtual const aggregation::Settings& settings() const = 0;
  virtual const aggregation::Decision* last_decision()
      const = 0;  // of the last call; nullptr before the first
  // Whether who writes to the file by other means has to hold a shared lock meanwhile: see write_lock.hpp.
  virtual bool locks() const = 0;
};

}  // namespace weir::collective
