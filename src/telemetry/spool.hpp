// Chunks of samples on disk, until somebody has acknowledged them.
//
// A folder with one file a chunk, under names that sort by age. A chunk appears under its name only when
// whole, and carries its length and checksum: a process that is killed at any moment leaves nothing broken
// behind and loses nothing it had added. Chunks that wait for long are to be forced to the disk (`waiting`,
// `force`); what a power failure tears before that is recognised, removed and counted.
//
// The folder is bounded: a chunk that does not fit pushes out the oldest ones, which are counted as dropped.
//
// Ownership: one process at a time, by a lock. Threads: belongs to one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"

namespace weir::telemetry {

class Spool {
 public:
  // Makes the folder where there is none, and finds what an earlier process left.
  static Result<Spool> open(std::filesystem::path folder, std::uint64_t most_bytes);

  // In the file system when it returns; on the disk by `force`.
  Status add(std::string_view bytes, std::uint64_t samples);

  struct Taken {
    std::string bytes;  // chunks one after another
    std::uint64_t samples = 0;
    std::uint64_t last = 0;  // the newest chunk of these
  };
  // The oldest chunks, together at most `most` bytes or else one. They stay until removed. Chunks that are
  // broken are removed and counted on the way. Nothing: the spool is empty.
  std::optional<Taken> oldest(std::uint64_t most);
  void remove_until(std::uint64_t last);

  // The chunks up to this one that are not known to be on the disk, and how they get there. Forcing takes as
  // long as the disk does, and needs nothing of the spool: it can be used meanwhile.
  struct Waiting {
    std::filesystem::path folder;
    std::vector<std::filesystem::path> chunks;
    std::uint64_t last = 0;
  };
  Waiting waiting(std::uint64_t until) const;
  static Status force(const Waiting& chunks);  // one that is gone by now was sent
  void forced(const Waiting& chunks) { forced_until_ = std::max(forced_until_, chunks.last); }
  std::uint64_t last() const { return chunks_.empty() ? 0 : chunks_.back().id; }

  bool empty() const { return chunks_.empty(); }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t samples() const;
  std::uint64_t dropped_samples() const { return dropped_samples_; }
  std::uint64_t broken_chunks() const { return broken_chunks_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  struct Chunk {
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;  // of the file
    std::uint64_t samples = 0;
  };

  std::filesystem::path path_of(std::uint64_t id) const;
  void remove_front();
  void drop_front();

  std::filesystem::path folder_;
  std::uint64_t most_bytes_ = 0;
  Descriptor lock_;
  std::deque<Chunk> chunks_;  // oldest first
  std::uint64_t bytes_ = 0;
  std::uint64_t last_id_ = 0;
  std::uint64_t forced_until_ = 0;
  std::uint64_t dropped_samples_ = 0;
  std::uint64_t broken_chunks_ = 0;
};

}  // namespace weir::telemetry
