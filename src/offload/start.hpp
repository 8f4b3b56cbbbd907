// Splits a job into compute ranks and I/O servers, and connects them.
#pragma once

#include <memory>
#include <vector>

#include "mpi/comm.hpp"
#include "offload/conduit.hpp"

namespace weir::offload {

struct Parts {
  std::vector<int> servers;    // ranks of the job, ascending; at least one
  std::vector<int> server_of;  // by rank of the job; of a server: -1
};

struct Connected {
  mpi::Comm compute = mpi::Comm::serial();  // the compute ranks
  std::unique_ptr<Conduit> conduit;
};

// More than any node has, and little enough that sums of such numbers do not overflow.
inline constexpr std::uint64_t most_budget = std::uint64_t{1} << 46U;

// COLLECTIVE over `job`. On a server it returns nothing, when the session has ended on the compute ranks;
// then there is nothing left to do but to finalise MPI and to end. `budget`: bytes of data that a server
// holds at most. Keeps `job` for messages of its own. REQUIRES: budget <= most_budget.
Result<std::optional<Connected>> start(const mpi::Comm& job, const Parts& parts, std::uint64_t budget);

// Which node each rank of the communicator is on, as numbers from 0 in order of appearance. COLLECTIVE.
std::vector<std::uint32_t> nodes_of(const mpi::Comm& comm);

}  // namespace weir::offload
