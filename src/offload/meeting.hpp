// Waiting for other processes without using a core.
#pragma once

#include "mpi/comm.hpp"

namespace weir::offload {

// COLLECTIVE. A barrier in which those who come early sleep: MPI's own keeps their cores busy.
void meet_quietly(const mpi::Comm& comm);

// Sleeps, a little longer each time, up to a millisecond.
class Patience {
 public:
  void wait();
  void reset() { tries_ = 0; }

 private:
  int tries_ = 0;
};

}  // namespace weir::offload
