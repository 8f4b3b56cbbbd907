// What a plan (WEIR_PLAN) says about collective I/O: its aggregators and its throttle.
//
// Threads: any. LOCAL.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "aggregation/settings.hpp"
#include "core/error.hpp"

namespace weir::interpose {

// Its aggregators are ranks of MPI_COMM_WORLD. Defaults where there is no plan. A plan that cannot be read,
// or is for another number of ranks, is a failure that names it.
Result<aggregation::Settings> settings_of_plan();

// Aggregators that a user names are ranks of MPI_COMM_WORLD, and files may be opened by others: those of this
// communicator, as its ranks. None of them among it: nothing. A rank that is not there, or is named twice, is
// a failure.
Result<std::vector<std::uint32_t>> aggregators_in(MPI_Comm comm,
                                                  const std::vector<std::uint32_t>& world_ranks);

}  // namespace weir::interpose
