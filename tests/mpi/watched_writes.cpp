#include "watched_writes.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>

namespace {

constexpr timespec longer{.tv_sec = 0, .tv_nsec = 4'000'000};

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

std::string watched_name(int fd) {
  char name[4096];
  const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), name, sizeof name);
  const std::string path(name, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  return path.find("watched") == std::string::npos ? std::string() : path;
}

template <class Write>
ssize_t watched(int fd, off_t offset, const Write& write) {
  const std::string name = watched_name(fd);
  if (name.empty()) return write();
  weir::test::WatchedWrite record{.begin = now(), .offset = static_cast<std::uint64_t>(offset)};
  const ssize_t done = write();
  const int cause = errno;
  ::nanosleep(&longer, nullptr);
  record.end = now();
  record.bytes = static_cast<std::uint64_t>(std::max<ssize_t>(done, 0));
  record.process = ::getpid();
  const int log = ::open((name + ".requests").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log < 0 || ::write(log, &record, sizeof record) != sizeof record) std::abort();
  ::close(log);
  errno = cause;
  return done;
}

}  // namespace

// In place of libc's, in this program and the libraries it uses.
extern "C" __attribute__((visibility("default"))) ssize_t pwrite(int fd, const void* from, size_t bytes,
                                                                 off_t offset) {
  return watched(fd, offset, [&] { return ::syscall(SYS_pwrite64, fd, from, bytes, offset); });
}

extern "C" __attribute__((visibility("default"))) ssize_t pwritev(int fd, const iovec* parts, int count,
                                                                  off_t offset) {
  return watched(fd, offset, [&] { return ::syscall(SYS_pwritev, fd, parts, count, offset, 0L); });
}

namespace weir::test {

std::vector<WatchedWrite> watched_writes(const std::filesystem::path& folder) {
  std::vector<WatchedWrite> writes;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".requests") continue;
    std::ifstream log(entry.path(), std::ios::binary);
    WatchedWrite one;
    while (log.read(reinterpret_cast<char*>(&one), sizeof one)) writes.push_back(one);
  }
  return writes;
}

std::set<std::int64_t> processes_of(const std::vector<WatchedWrite>& writes) {
  std::set<std::int64_t> processes;
  for (const WatchedWrite& write : writes) processes.insert(write.process);
  return processes;
}

std::size_t most_at_a_target(const std::vector<WatchedWrite>& writes, std::uint64_t unit,
                             std::uint64_t targets) {
  const auto touches = [&](const WatchedWrite& write, std::uint64_t target) {
    const std::uint64_t first = write.offset / unit;
    const std::uint64_t last = (write.offset + std::max<std::uint64_t>(write.bytes, 1) - 1) / unit;
    return (target + targets - first % targets) % targets <= last - first;
  };
  std::size_t most = 0;
  for (std::uint64_t target = 0; target < targets; ++target)
    for (const WatchedWrite& one : writes) {  // as many as there are at the moment when it begins
      if (!touches(one, target)) continue;
      const auto under_way = std::count_if(writes.begin(), writes.end(), [&](const WatchedWrite& other) {
        return touches(other, target) && other.begin <= one.begin && one.begin < other.end;
      });
      most = std::max(most, static_cast<std::size_t>(under_way));
    }
  return most;
}

}  // namespace weir::test
