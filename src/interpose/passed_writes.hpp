// Writes of one file that the MPI library carries out for this rank. While any of them is under way nobody
// writes bytes of the file back as they were: they hold the file's lock, shared (collective/write_lock.hpp).
//
// The lock is one of an open file of its own, so that it stands against the collective calls of this very
// process, too. Ownership: owns that open file. Threads: any. LOCAL; may wait for a collective call that has
// the file for itself, and whose ranks are all in it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "collective/write_lock.hpp"
#include "core/file.hpp"
#include "interpose/call.hpp"

namespace weir::interpose {

class PassedWrites {
 public:
  // `file`: open for writing, and nobody else's.
  explicit PassedWrites(Descriptor file) : file_(std::move(file)) {}
  // Opens the file of `descriptor` once more when it is first needed. `descriptor` stays the caller's.
  explicit PassedWrites(int descriptor) : same_(descriptor) {}

  // REQUIRES: a call that writes.
  int carry_out(const Call& call, const Next& next);

 private:
  void begin();
  void end();

  std::mutex mutex_;
  std::uint64_t under_way_ = 0;
  bool split_ = false;  // between the two halves of a split call
  int same_ = -1;
  Descriptor file_;
  std::optional<collective::WriteLock> lock_;
};

}  // namespace weir::interpose
