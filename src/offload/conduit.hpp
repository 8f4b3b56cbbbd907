// The way from a compute rank to whoever writes its files: an I/O server, or a thread of its own.
#pragma once

#include "offload/operation.hpp"
#include "offload/region.hpp"

namespace weir::offload {

// What the other side can say about its work.
struct Report {
  double storing_seconds = 0;      // spent writing
  std::uint64_t stored_bytes = 0;  // in files that were closed; of a server with several clients, one is told
  double transport_seconds = 0;    // spent copying the data of this rank there
  std::uint64_t transport_bytes = 0;  // of this rank
  std::uint64_t peak_memory = 0;      // most bytes that a server held at once
  std::string transport;              // in a word or two
  bool lost = false;                  // it is gone, or does not answer; MPI_Finalize may wait for it for ever
};

class Conduit {
 public:
  Conduit() = default;
  Conduit(const Conduit&) = delete;
  Conduit& operator=(const Conduit&) = delete;
  virtual ~Conduit() = default;

  // LOCAL, returns at once. Operations are carried out in the order they came, and marked in
  // operation.progress; the data must stay as it is until then. REQUIRES: all ranks submit the same
  // collective operations in the same order.
  virtual void submit(Operation operation) = 0;
  // LOCAL. Whether the other side can read a Region: then what lies in one need not be copied.
  virtual bool maps_regions() const = 0;
  // LOCAL. Lends a hand with what is being moved; called by whoever would only wait. True if it did anything.
  virtual bool help() { return false; }
  // LOCAL, returns at once. The program leaves the session without ending it, this being its compute rank:
  // whoever writes the files is told, and what has not been moved yet is dropped. Nothing may be submitted
  // afterwards.
  virtual void leave(int rank) { (void)rank; }
  // LOCAL. So far, as of the last operation that was answered.
  virtual Report report() = 0;
};

}  // namespace weir::offload
