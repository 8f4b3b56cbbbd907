// The end of a recording: each rank's log becomes a recording, and those of all ranks become one file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "interpose/type_tree.hpp"
#include "recording/recording_file.hpp"
#include "recording/run_log.hpp"

namespace weir::interpose {

// The types of a view, as read from the program; by default those of a file just opened.
struct ViewTrees {
  TypeTree elementary;
  TypeTree file_type;
  bool operator==(const ViewTrees&) const = default;
};

// What a rank did to one file.
struct LoggedFile {
  std::string name;
  recording::RunLog log{};
  std::uint64_t undescribed = 0;       // calls through views that MPI did not describe
  std::uint64_t collective_reads = 0;  // calls, those without data included
  std::uint64_t collective_writes = 0;
};

// What one rank did, as a recording of one rank. Calls without order are not worked out if they can be parts
// of the recording: `put_off` has those of each part. `lost` counts the calls that could
// not be described. LOCAL.
recording::Index recording_of_rank(std::vector<LoggedFile>& files, const std::vector<ViewTrees>& types,
                                   std::vector<recording::CallBacklog>& put_off, std::uint64_t& lost);

// COLLECTIVE over MPI_COMM_WORLD, along a binomial tree: a rank holds the pattern of its subtree, never a
// list of all. Calls that are put off are written by the ranks themselves where they see the file that rank 0
// made, and else sent to rank 0 a piece at a time. Rank 0 knows the outcome; calls that are missing are a
// warning on its standard error.
Status save_recording(std::vector<LoggedFile>& files, const std::vector<ViewTrees>& types,
                      const std::filesystem::path& path, const Status& so_far);

}  // namespace weir::interpose
