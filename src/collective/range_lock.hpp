// Keeps apart those who write bytes of a file back as they were (exclusive) and all who write there (shared).
// Only those who take these locks are kept apart: everybody who writes through Weir does.
//
// The locks belong to an open file, not to a process, so that threads and handles of one process exclude each
// other too. They lie far behind the bytes they stand for: locks of the MPI library on the bytes themselves
// must not get in their way.
//
// Ownership: the descriptor must outlive the lock. Threads: as plain values. LOCAL. A shared lock waits for as
// long as a small write takes; an exclusive one does not wait.
#pragma once

#include <cstdint>

namespace weir::collective {

class RangeLock {
 public:
  enum class Kind : std::uint8_t { shared, exclusive };

  RangeLock() = default;  // of nothing
  // Of the bytes from `begin` up to `end`. REQUIRES: begin < end, and nothing there is locked through the same
  // open file.
  RangeLock(int descriptor, Kind kind, std::uint64_t begin, std::uint64_t end);
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;
  ~RangeLock();

  bool held() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace weir::collective
