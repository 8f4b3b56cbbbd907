// Who has which part of n things, and maxima over ranks: what the workloads share.
//
// Threads: plain functions; most_of_all is COLLECTIVE.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace weir::workloads {

// The `part`-th of `parts` contiguous shares of n things, as equal as can be: {first, count}.
inline std::pair<std::uint64_t, std::uint64_t> share_of(std::uint64_t n, std::uint64_t part,
                                                        std::uint64_t parts) {
  const std::uint64_t each = n / parts;
  const std::uint64_t rest = n % parts;
  return {each * part + (part < rest ? part : rest), each + (part < rest ? 1 : 0)};
}

// Element by element the largest of all ranks' values, on every rank. COLLECTIVE over comm.
inline void most_of_all(std::vector<double>& values, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, comm);
}

inline double slowest(double seconds, MPI_Comm comm) {
  std::vector<double> one{seconds};
  most_of_all(one, comm);
  return one.front();
}

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int ranks_in(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

// Adds the time of a body to a total.
template <class Body>
void timed(double& total, Body&& body) {
  const double start = MPI_Wtime();
  body();
  total += MPI_Wtime() - start;
}

}  // namespace weir::workloads
