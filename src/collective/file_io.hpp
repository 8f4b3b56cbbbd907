// Positional reading and writing of many pieces with few system calls. Only the bytes that are named are ever
// written: a hole between two pieces belongs to somebody else.
//
// Ownership: the descriptor stays the caller's. Threads: one at a time per FileIo. LOCAL.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::collective {

class FileIo {
 public:
  enum class Direction : std::uint8_t { write, read };

  FileIo(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  // One piece after another, in any order; those that continue each other share a system call. What lies
  // behind the end of the file is read as zeros.
  void begin(Direction direction);
  Status add(std::uint64_t offset, std::byte* memory, std::uint64_t length);
  Status finish();

  std::uint64_t requests() const { return requests_; }  // system calls so far
  std::uint64_t bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 private:
  Status flush();

  int descriptor_;
  std::string path_;
  Direction direction_ = Direction::write;
  std::vector<iovec> batch_;
  std::uint64_t batch_begin_ = 0;
  std::uint64_t batch_end_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace weir::collective
