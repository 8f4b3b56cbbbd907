#include "collective/range_lock.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace weir::collective {

namespace {

constexpr std::uint64_t far = std::uint64_t{1} << 62U;  // no file is that long

bool set(int descriptor, int command, short type, std::uint64_t begin, std::uint64_t end) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(far + std::min(begin, far - 2));
  lock.l_len = static_cast<off_t>(std::min(end, far - 1) - std::min(begin, far - 2));
  int result = 0;
  do {
    result = ::fcntl(descriptor, command, &lock);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

RangeLock::RangeLock(int descriptor, Kind kind, std::uint64_t begin, std::uint64_t end)
    : begin_(begin), end_(end) {
  const bool locked = kind == Kind::exclusive
                          ? set(descriptor, F_OFD_SETLK, F_WRLCK, begin, end)
                          : set(descriptor, F_OFD_SETLKW, F_RDLCK, begin, end) ||
                                // A file that is open for writing only has no other kind of lock.
                                (errno == EBADF && set(descriptor, F_OFD_SETLKW, F_WRLCK, begin, end));
  if (locked) descriptor_ = descriptor;
}

RangeLock::~RangeLock() {
  if (held()) set(descriptor_, F_OFD_SETLK, F_UNLCK, begin_, end_);
}

}  // namespace weir::collective
