// How fast memory is copied here: what a transport within a node is compared with.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>

namespace weir::workloads {

// Bytes copied a second, of the slowest rank: the median of some copies. COLLECTIVE over comm. `before` is
// done before each of them: what a program does before it copies its data, so that memory and caches are as
// it would find them; without it, the data of all copies but the first may come from the cache.
// REQUIRES: the spans are equally long and do not overlap.
double memcpy_rate(MPI_Comm comm, std::span<const double> from, std::span<double> to,
                   const std::function<void()>& before = {});

}  // namespace weir::workloads
