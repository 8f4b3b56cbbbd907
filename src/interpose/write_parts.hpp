// Recordings with parts: what ranks put off goes into the file as it is.
#pragma once

#include <mpi.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "recording/call_backlog.hpp"
#include "recording/recording_file.hpp"

namespace weir::interpose {

// One message of any length. LOCAL; the other side receives.
void send(const std::string& data, int to, MPI_Comm comm);
std::string receive(int from, MPI_Comm comm);

// Writes the recording whole or not at all. `index` is that of all ranks on rank 0, and not looked at
// elsewhere; `mine` are the words of this rank's parts, in the same order. Ranks that see the file that rank
// 0 made write their words themselves; if one does not, all send them to rank 0, a piece at a time.
// COLLECTIVE over comm; rank 0 knows the outcome.
Status write_parts(const recording::Index& index, const std::vector<recording::CallBacklog>& mine,
                   const std::filesystem::path& path, MPI_Comm comm);

}  // namespace weir::interpose
