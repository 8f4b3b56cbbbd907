#include "collective/write_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace weir::collective {

namespace {

// The first byte is shared by those who can. The system shares no lock of a file that is open for writing
// only: who has it open like that locks one of the other bytes, which is nobody else's meanwhile. Who wants
// to be alone locks all of them.
constexpr off_t far = off_t{1} << 62U;  // no file is that long
constexpr off_t places = 4096;          // for more handles than a node has for one file

struct flock lock_of(short type, off_t first, off_t bytes) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = far + first;
  lock.l_len = bytes;
  return lock;
}

bool set(int descriptor, int command, struct flock lock) {
  int result = 0;
  do {
    result = ::fcntl(descriptor, command, &lock);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

bool is_had_alone(int descriptor, off_t place) {
  struct flock other = lock_of(F_WRLCK, place, 1);
  return ::fcntl(descriptor, F_OFD_GETLK, &other) == 0 && other.l_type != F_UNLCK && other.l_len > 1;
}

// Never waits for a byte: who has it may keep it for long, and wait for this very process.
bool lock_a_place(int descriptor) {
  constexpr std::chrono::milliseconds between_looks(1);
  const off_t first = ::getpid();  // as a rule nobody else begins there
  for (off_t i = 0; i < places - 1;) {
    const off_t place = 1 + (first + i) % (places - 1);
    if (set(descriptor, F_OFD_SETLK, lock_of(F_WRLCK, place, 1))) return true;
    if (errno != EAGAIN && errno != EACCES) return false;
    if (is_had_alone(descriptor, place))
      std::this_thread::sleep_for(between_looks);
    else
      ++i;
  }
  return false;
}

}  // namespace

WriteLock::WriteLock(int descriptor, Kind kind) {
  const bool locked = kind == Kind::exclusive ? set(descriptor, F_OFD_SETLK, lock_of(F_WRLCK, 0, places))
                                              : set(descriptor, F_OFD_SETLKW, lock_of(F_RDLCK, 0, 1)) ||
                                                    (errno == EBADF && lock_a_place(descriptor));
  if (locked) descriptor_ = descriptor;
}

WriteLock::~WriteLock() {
  if (held()) set(descriptor_, F_OFD_SETLK, lock_of(F_UNLCK, 0, places));
}

}  // namespace weir::collective
