// Keeps apart who writes bytes of a file back as they were (exclusive) and all others who write to it
// (shared). Only those who take these locks are kept apart: everybody who writes through Weir does.
//
// The lock belongs to an open file, not to a process, so that threads and handles of one process exclude each
// other too. It lies far behind the bytes of the file: locks that an MPI library takes on the bytes
// themselves must not get in its way.
//
// Ownership: the descriptor must outlive the lock. Threads: as plain values. LOCAL. An exclusive lock does
// not wait. A shared one waits until the collective call that has the file for itself is over; all ranks of
// that call are in it by then, so it does not wait for who waits here. It waits for no other shared one,
// whatever the file is open for: one may be held for long.
#pragma once

#include <cstdint>

namespace weir::collective {

class WriteLock {
 public:
  enum class Kind : std::uint8_t { shared, exclusive };

  WriteLock() = default;  // of nothing
  WriteLock(int descriptor, Kind kind);
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;
  ~WriteLock();

  bool held() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

}  // namespace weir::collective
