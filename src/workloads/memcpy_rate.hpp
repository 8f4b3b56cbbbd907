// How fast memory is copied here: what a transport within a node is compared with.
#pragma once

#include <mpi.h>

#include <span>

namespace weir::workloads {

// Bytes copied a second, of the slowest rank: the median of some copies. COLLECTIVE over comm.
// REQUIRES: the spans are equally long and do not overlap.
double memcpy_rate(MPI_Comm comm, std::span<const double> from, std::span<double> to);

}  // namespace weir::workloads
