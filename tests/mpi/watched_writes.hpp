// How many requests the storage targets of a file have at a time. In a program that is linked with
// watched_writes.cpp, pwrite and pwritev to files with "watched" in their names take some milliseconds
// longer, so that those which may overlap do, and leave in NAME.requests when they began and ended. I/O
// servers are watched as well, which never reach a test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

namespace weir::test {

struct WatchedWrite {
  std::int64_t begin = 0;  // nanoseconds, of a clock that all processes share
  std::int64_t end = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int64_t process = 0;
};

// Of all watched files in a folder. REQUIRES: they are written.
std::vector<WatchedWrite> watched_writes(const std::filesystem::path& folder);

std::set<std::int64_t> processes_of(const std::vector<WatchedWrite>& writes);

// The most that any target had under way at a time, of stripes dealt to so many targets.
std::size_t most_at_a_target(const std::vector<WatchedWrite>& writes, std::uint64_t unit,
                             std::uint64_t targets);
inline std::size_t most_at_a_time(const std::vector<WatchedWrite>& writes) {
  return most_at_a_target(writes, std::uint64_t{1} << 40U, 1);
}

}  // namespace weir::test
