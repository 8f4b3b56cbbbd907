// What the program (hints of MPI_Info) and the user (environment) say about collective I/O.
//
// Threads: any. LOCAL.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

#include "aggregation/settings.hpp"
#include "core/error.hpp"

namespace weir::interpose {

using Hints = std::map<std::string, std::string>;

// Those of the hints that Weir knows. `info` may be MPI_INFO_NULL.
Hints read_hints(MPI_Info info);

// Takes those of the standard's hints (cb_nodes, striping_factor, ...) away whose values are of no use to
// Weir: they are advice to whatever library carries out the calls, and MPI libraries go on without them.
// Returns why, one message each. Hints of Weir itself stay, right or wrong.
std::vector<std::string> drop_useless(Hints& hints);

// Hints first, then the environment, then `base`. A wrong value is a failure that names where it stood.
Result<aggregation::Settings> settings_of(const Hints& hints, const aggregation::Settings& base);

// WEIR_COLLECTIVE: on, off or nothing.
Result<bool> collective_wanted();

// Adds what is in use to what the MPI library reports: the hints that were given, and the whole as
// `weir_collective`.
void report_hints(MPI_Info info, const Hints& hints, const aggregation::Settings& settings);

}  // namespace weir::interpose
