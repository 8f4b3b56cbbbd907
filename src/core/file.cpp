#include "core/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "core/copy.hpp"

namespace weir {

namespace fs = std::filesystem;

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Status Descriptor::close(const fs::path& path) {
  // Linux frees the descriptor even when close fails, so it is never tried twice.
  if (::close(std::exchange(fd_, -1)) != 0) return fail_errno(errno, "close", path.string());
  return {};
}

Result<Descriptor> open_file(const fs::path& path, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return fail_errno(errno, (flags & O_CREAT) != 0 ? "create" : "open", path.string());
  return Descriptor(fd);
}

Status write_at(int fd, const void* data, std::uint64_t size, std::uint64_t offset, const fs::path& path,
                const PwriteFunction& pwrite) {
  const auto* at = static_cast<const std::byte*>(data);
  while (size > 0) {
    const ssize_t written = pwrite(fd, at, size, static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return fail_errno(errno, fmt::format("write {} bytes at {}", size, offset), path.string());
    }
    if (written == 0)
      return fail_errno(ENOSPC, fmt::format("write {} bytes at {}", size, offset), path.string());
    at += written;
    offset += static_cast<std::uint64_t>(written);
    size -= static_cast<std::uint64_t>(written);
  }
  return {};
}

Status write_at(int fd, const void* data, std::uint64_t size, std::uint64_t offset, const fs::path& path) {
  static const PwriteFunction system_call = [](int f, const void* d, std::size_t n, off_t o) {
    return pwrite_clear(f, d, n, static_cast<std::uint64_t>(o));
  };
  return write_at(fd, data, size, offset, path, system_call);
}

Status read_at(int fd, void* data, std::uint64_t size, std::uint64_t offset, const fs::path& path) {
  auto* at = static_cast<std::byte*>(data);
  while (size > 0) {
    const ssize_t got = pread_clear(fd, at, size, offset);
    if (got < 0) {
      if (errno == EINTR) continue;
      return fail_errno(errno, fmt::format("read {} bytes at {}", size, offset), path.string());
    }
    if (got == 0) {
      auto truncated = fail(ErrorCode::corrupt, fmt::format("the file ends {} bytes too early", size));
      return in(Status(truncated), fmt::format("read at {}", offset), path.string());
    }
    at += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
  return {};
}

Status size_memory(int fd, std::uint64_t bytes) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur)
    return fail(ErrorCode::no_memory,
                fmt::format("no {} bytes of shared memory: files may have {} bytes", bytes, limit.rlim_cur),
                "raise the limit (ulimit -f)");
  if (bytes > INT64_MAX || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0)
    return fail(ErrorCode::no_memory, fmt::format("no {} bytes of shared memory", bytes));
  return {};
}

Result<std::string> read_text(const fs::path& path) {
  WEIR_ASSIGN(const Descriptor file, open_file(path, O_RDONLY));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno(errno, "stat", path.string());
  if (S_ISDIR(info.st_mode)) return fail_errno(EISDIR, "read", path.string());
  // Not by st_size: /proc and pipes report none.
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "read", path.string());
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

namespace {

// Devices and pipes are written to: a rename would put a plain file in their place.
Status write_into(const fs::path& path, std::string_view text) {
  WEIR_ASSIGN(Descriptor file, open_file(path, O_WRONLY));
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno(errno, "write", path.string());
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return file.close(path);
}

}  // namespace

Status write_text_atomically(const fs::path& path, std::string_view text) {
  std::error_code unknown;
  if (fs::is_other(path, unknown)) return write_into(path, text);
  std::string temporary = path.string() + ".partial.XXXXXX";
  Descriptor file(::mkstemp(temporary.data()));
  if (!file) return fail_errno(errno, "create", path.string());
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file.get(), 0666 & ~mask);
  Status written = [&]() -> Status {
    WEIR_TRY(write_at(file.get(), text.data(), text.size(), 0, path));
    if (::fsync(file.get()) != 0) return fail_errno(errno, "fsync", path.string());
    WEIR_TRY(file.close(path));
    return rename_path(temporary, path);
  }();
  if (!written) ::unlink(temporary.c_str());
  return written;
}

std::uint64_t free_space(const fs::path& path) {
  constexpr std::uint64_t plenty = std::uint64_t{1} << 60U;
  struct statvfs state {};
  if (::statvfs(path.c_str(), &state) != 0 || state.f_blocks == 0) return plenty;
  return state.f_bavail > plenty / state.f_frsize ? plenty : state.f_bavail * state.f_frsize;
}

Status sync_path(const fs::path& path) {
  WEIR_ASSIGN(const Descriptor file, open_file(path, O_RDONLY));
  if (::fsync(file.get()) != 0) return fail_errno(errno, "fsync", path.string());
  return {};
}

fs::path follow_links(fs::path path) {
  constexpr int most_links = 40;
  std::error_code error;
  for (int i = 0; i < most_links && fs::is_symlink(path, error); ++i) {
    const fs::path next = fs::read_symlink(path, error);
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

Status sync_tree(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      WEIR_TRY(sync_tree(it->path()));
    }
    if (error) return fail_errno(error.value(), "list", path.string());
  }
  return sync_path(path);
}

Status rename_path(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  if (errno != ENOTEMPTY && errno != EEXIST && errno != EISDIR)
    return fail_errno(errno, "rename to", to.string());

  // rename(2) does not replace a folder that has something in it: swap the two, then remove what was there
  // before.
  struct stat from_info {};
  if (::lstat(from.c_str(), &from_info) == 0 && !S_ISDIR(from_info.st_mode))
    return fail_errno(EISDIR, "rename to", to.string());
  const std::string old = from.string() + ".old";
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    if (::rename(from.c_str(), old.c_str()) != 0) return fail_errno(errno, "rename", from.string());
  } else {  // file systems without RENAME_EXCHANGE: for a moment nothing stands under the name
    if (::rename(to.c_str(), old.c_str()) != 0) return fail_errno(errno, "rename", to.string());
    if (::rename(from.c_str(), to.c_str()) != 0) {
      const int error = errno;
      if (::rename(old.c_str(), to.c_str()) != 0)
        return fail_errno(error, "rename; the earlier content is in " + old, to.string());
      return fail_errno(error, "rename to", to.string());
    }
  }
  // The new content has its name: that something of the old one is left over is no failure.
  std::error_code error;
  fs::remove_all(old, error);
  if (error)
    fmt::print(stderr, "weir: {}: what was there before is left in {}: {}\n", to.string(), old,
               error.message());
  return {};
}

}  // namespace weir
