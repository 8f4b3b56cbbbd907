// What the program (hints of MPI_Info) and the user (environment) say about collective I/O.
//
// Threads: any. LOCAL unless said.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/settings.hpp"
#include "core/error.hpp"
#include "mpi/comm.hpp"

namespace weir::interpose {

using Hints = std::map<std::string, std::string>;

// Whether it is a hint of Weir itself, and none of the standard's.
inline bool is_of_weir(std::string_view hint) {
  return hint.starts_with("weir_");
}

// Those of the hints that Weir knows. `info` may be MPI_INFO_NULL.
Hints read_hints(MPI_Info info);

// A copy of `info` with these of the standard's hints, and no others of them that Weir knows; to be freed.
MPI_Info with_advice(MPI_Info info, const Hints& hints);

// Takes those of the standard's hints (cb_nodes, striping_factor, ...) away whose values are of no use to
// Weir: they are advice to whatever library carries out the calls, and MPI libraries go on without them.
// Returns why, one message each. Hints of Weir itself stay, right or wrong.
std::vector<std::string> drop_useless(Hints& hints);

// The standard's hints may differ between ranks, as advice may: those of rank 0 count. COLLECTIVE; the names
// of those that did differ, on all ranks.
std::vector<std::string> take_advice_of_first(const mpi::Comm& comm, Hints& hints);

// Hints first, then the environment, then `base`. A wrong value is a failure that names where it stood.
Result<aggregation::Settings> settings_of(const Hints& hints, const aggregation::Settings& base);

// WEIR_COLLECTIVE: on, off or nothing.
Result<bool> collective_wanted();
// WEIR_NONBLOCKING, likewise: whether non-blocking calls are to be served in programs without threads, too.
Result<bool> nonblocking_wanted();

// Adds what is in use to what the MPI library reports: each setting, and the whole as `weir_collective`.
void report_hints(MPI_Info info, const Hints& used, const aggregation::Settings& settings);

}  // namespace weir::interpose
