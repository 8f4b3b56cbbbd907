// Positional reading and writing of many pieces with few system calls. Only the bytes that are named are ever
// written: a hole between two pieces belongs to somebody else, unless rewrite() is asked for.
//
// Ownership: the descriptor stays the caller's. Threads: one at a time per FileIo. LOCAL.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collective/write_lock.hpp"
#include "core/error.hpp"

namespace weir::collective {

class FileIo {
 public:
  enum class Direction : std::uint8_t { write, read };

  // `locks`: writers of the file keep apart by locks (see write_lock.hpp).
  FileIo(int descriptor, std::string path, bool locks)
      : descriptor_(descriptor), path_(std::move(path)), locks_(locks) {}

  // One piece after another, in any order; those that continue each other share a system call. What lies
  // behind the end of the file is read as zeros.
  void begin(Direction direction);
  Status add(std::uint64_t offset, std::byte* memory, std::uint64_t length);
  Status finish();

  // Against who has the file for itself, while something is written.
  WriteLock share() const { return locks_ ? WriteLock(descriptor_, WriteLock::Kind::shared) : WriteLock(); }

  struct Piece {
    std::uint64_t offset;
    std::uint64_t length;
    std::byte* memory;
  };
  // Writes pieces and the gaps between them, so that they are one stretch of the file; gaps stay as they are,
  // and need not be read from `zeros_from` on. REQUIRES: in order, without overlap; somebody of this call
  // holds the file's exclusive lock.
  Status rewrite(std::span<const Piece> pieces, std::uint64_t zeros_from);

  // Asks for the blocks of a range that will be written; its size stays. Advice: a failure is none.
  void ask_for_blocks(std::uint64_t offset, std::uint64_t length) const;
  std::uint64_t size() const;       // of the file
  std::uint64_t allocated() const;  // up to there it has blocks for all of its bytes, as far as that is known

  std::uint64_t requests() const { return requests_; }  // system calls so far
  std::uint64_t bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 private:
  Status flush();

  int descriptor_;
  std::string path_;
  bool locks_;
  std::vector<std::byte> gaps_;
  Direction direction_ = Direction::write;
  std::vector<iovec> batch_;
  std::uint64_t batch_begin_ = 0;
  std::uint64_t batch_end_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace weir::collective
