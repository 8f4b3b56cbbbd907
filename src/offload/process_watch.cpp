#include "offload/process_watch.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace weir::offload {

ProcessWatch::ProcessWatch(std::int64_t process)
    : process_(process),
      descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0))) {}

ProcessWatch::~ProcessWatch() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ProcessWatch::alive() const {
  if (descriptor_ < 0) return ::kill(static_cast<pid_t>(process_), 0) == 0 || errno != ESRCH;
  pollfd ended{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, 0) != 1;
}

}  // namespace weir::offload
