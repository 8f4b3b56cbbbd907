// What the program (hints of MPI_Info) and the user (environment) say about collective I/O.
//
// Threads: any. LOCAL.
#pragma once

#include <mpi.h>

#include <map>
#include <string>

#include "aggregation/settings.hpp"
#include "core/error.hpp"

namespace weir::interpose {

using Hints = std::map<std::string, std::string>;

// Those of the hints that Weir knows. `info` may be MPI_INFO_NULL.
Hints read_hints(MPI_Info info);

// Hints first, then the environment, then `base`. A wrong value is a failure that names where it stood.
Result<aggregation::Settings> settings_of(const Hints& hints, const aggregation::Settings& base);

// WEIR_COLLECTIVE: on, off or nothing.
Result<bool> collective_wanted();

// Adds what is in use to what the MPI library reports: the hints that were given, and the whole as
// `weir_collective`.
void report_hints(MPI_Info info, const Hints& hints, const aggregation::Settings& settings);

}  // namespace weir::interpose
