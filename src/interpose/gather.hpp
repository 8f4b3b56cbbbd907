// The end of a recording: each rank's log becomes a pattern, and the patterns of all ranks become one file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "interpose/run_log.hpp"
#include "interpose/type_tree.hpp"
#include "pattern/pattern.hpp"

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
  RunLog log{};
  std::uint64_t undescribed = 0;       // calls through views that MPI did not describe
  std::uint64_t collective_reads = 0;  // calls, those without data included
  std::uint64_t collective_writes = 0;
};

// The pattern of one rank, as a pattern of one rank. `lost` counts the calls that could not be described.
// LOCAL.
pattern::Pattern pattern_of_rank(std::vector<LoggedFile>& files, const std::vector<ViewTrees>& types,
                                 std::uint64_t& lost);

// The ranks of the first, then those of the second; files of one name become one.
pattern::Pattern joined(const pattern::Pattern& first, const pattern::Pattern& second);

// COLLECTIVE over MPI_COMM_WORLD, along a binomial tree: a rank holds the pattern of its subtree, never a
// list of all. Rank 0 writes the file and knows the outcome; calls that are missing in it are a warning on
// its standard error.
Status save_recording(std::vector<LoggedFile>& files, const std::vector<ViewTrees>& types,
                      const std::filesystem::path& path, const Status& so_far);

}  // namespace weir::interpose
