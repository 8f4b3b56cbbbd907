// Whole files and whole writes: what read(2) and write(2) leave to the caller.
//
// Threads: all functions are reentrant.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace weir {

// An open file descriptor; closed when it goes out of scope.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  Status close(const std::filesystem::path& path);  // reports what a destructor would have to swallow

 private:
  int fd_ = -1;
};

Result<Descriptor> open_file(const std::filesystem::path& path, int flags, mode_t mode = 0666);

// The system call behind write_at, replaceable so that tests can make it short, slow or failing.
using PwriteFunction = std::function<ssize_t(int, const void*, std::size_t, off_t)>;

// Writes or reads all `size` bytes at `offset`, whatever the system call does in one go. End of file while
// reading is `corrupt`.
Status write_at(int fd, const void* data, std::uint64_t size, std::uint64_t offset,
                const std::filesystem::path& path);
Status write_at(int fd, const void* data, std::uint64_t size, std::uint64_t offset,
                const std::filesystem::path& path, const PwriteFunction& pwrite);
Status read_at(int fd, void* data, std::uint64_t size, std::uint64_t offset,
               const std::filesystem::path& path);

// Gives memory that memfd_create(2) made its size. A limit on the size of files (ulimit -f) counts for it,
// too, and exceeding it would end the process by a signal.
Status size_memory(int fd, std::uint64_t bytes);

Result<std::string> read_text(const std::filesystem::path& path);

// The file appears with this content, or not at all: temporary name beside it, fsync, rename.
Status write_text_atomically(const std::filesystem::path& path, std::string_view text);

// Bytes a user may still write to the file system of this path; more than anybody needs where that cannot be
// told.
std::uint64_t free_space(const std::filesystem::path& path);

// Where the link points, or the links one after another do; there need not be a file. Users link to scratch
// file systems.
std::filesystem::path follow_links(std::filesystem::path path);

Status sync_path(const std::filesystem::path& path);  // a file's or a folder's data and metadata
Status sync_tree(const std::filesystem::path& path);  // the file, or everything below the folder
Status rename_path(const std::filesystem::path& from,
                   const std::filesystem::path& to);  // folders too: replaces what is there

}  // namespace weir
