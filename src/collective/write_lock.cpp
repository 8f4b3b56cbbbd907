#include "collective/write_lock.hpp"

#include <fcntl.h>

#include <cerrno>

namespace weir::collective {

namespace {

constexpr off_t far = off_t{1} << 62U;  // no file is that long

bool set(int descriptor, int command, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = far;
  lock.l_len = 1;
  int result = 0;
  do {
    result = ::fcntl(descriptor, command, &lock);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

WriteLock::WriteLock(int descriptor, Kind kind) {
  const bool locked = kind == Kind::exclusive
                          ? set(descriptor, F_OFD_SETLK, F_WRLCK)
                          : set(descriptor, F_OFD_SETLKW, F_RDLCK) ||
                                // A file that is open for writing only has no other kind of lock.
                                (errno == EBADF && set(descriptor, F_OFD_SETLKW, F_WRLCK));
  if (locked) descriptor_ = descriptor;
}

WriteLock::~WriteLock() {
  if (held()) set(descriptor_, F_OFD_SETLK, F_UNLCK);
}

}  // namespace weir::collective
