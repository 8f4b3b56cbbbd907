#include "interpose/passed_writes.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <utility>

namespace weir::interpose {

void PassedWrites::begin() {
  const std::lock_guard guard(mutex_);
  if (under_way_++ > 0) return;
  if (!file_) {
    const std::string same = fmt::format("/proc/self/fd/{}", same_);
    auto opened = open_file(same, O_RDWR | O_CLOEXEC);
    if (!opened) opened = open_file(same, O_WRONLY | O_CLOEXEC);
    if (!opened) return;
    file_ = std::move(*opened);
  }
  lock_.emplace(file_.get(), collective::WriteLock::Kind::shared);
}

void PassedWrites::end() {
  const std::lock_guard guard(mutex_);
  if (--under_way_ == 0) lock_.reset();
}

int PassedWrites::carry_out(const Call& call, const Next& next) {
  if (call.phase != Phase::ended)
    begin();
  else if (!std::exchange(split_, false))
    return next();  // its first half failed: the MPI library has the words for it
  // Also when the program's error handler throws.
  struct AtEnd {
    PassedWrites& writes;
    bool over = true;
    ~AtEnd() {
      if (over) writes.end();
    }
  } at_end{*this};
  const int code = next();
  if (code != MPI_SUCCESS) return code;
  if (call.phase == Phase::begun) split_ = true;
  // Nobody says when a call that returned at once is done: its lock stays until the file is closed.
  at_end.over = call.phase == Phase::blocking || call.phase == Phase::ended;
  return code;
}

}  // namespace weir::interpose
