// What a plan (WEIR_PLAN) says about collective I/O: its aggregators and its throttle.
//
// Threads: any. LOCAL.
#pragma once

#include <mpi.h>

#include "aggregation/settings.hpp"
#include "core/error.hpp"

namespace weir::interpose {

// For a file of these ranks. The plan names ranks of MPI_COMM_WORLD; those that do not open the file are left
// out. Defaults where there is no plan. A plan that cannot be read, or is for another number of ranks, is a
// failure that names it.
Result<aggregation::Settings> settings_of_plan(MPI_Comm comm);

}  // namespace weir::interpose
