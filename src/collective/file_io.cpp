#include "collective/file_io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "core/copy.hpp"

namespace weir::collective {

namespace {

constexpr std::size_t most_parts = IOV_MAX < 1024 ? IOV_MAX : 1024;
constexpr std::uint64_t most_bytes = 1U << 30U;  // of one system call: below what Linux cuts off at

// Drops the first `bytes` of the parts; returns how many parts are used up.
std::size_t consume(std::vector<iovec>& parts, std::size_t first, std::uint64_t bytes) {
  while (first < parts.size() && bytes >= parts[first].iov_len) bytes -= parts[first++].iov_len;
  if (bytes > 0) {
    parts[first].iov_base = static_cast<std::byte*>(parts[first].iov_base) + bytes;
    parts[first].iov_len -= bytes;
  }
  return first;
}

}  // namespace

void FileIo::begin(Direction direction) {
  direction_ = direction;
  batch_.clear();
  batch_begin_ = batch_end_ = 0;
}

Status FileIo::add(std::uint64_t offset, std::byte* memory, std::uint64_t length) {
  while (length > 0) {
    const std::uint64_t step = std::min(length, most_bytes);
    if (!batch_.empty() && (offset != batch_end_ || batch_.size() == most_parts ||
                            batch_end_ - batch_begin_ + step > most_bytes))
      WEIR_TRY(flush());
    if (batch_.empty()) batch_begin_ = batch_end_ = offset;
    if (!batch_.empty() && static_cast<std::byte*>(batch_.back().iov_base) + batch_.back().iov_len == memory)
      batch_.back().iov_len += step;
    else
      batch_.push_back({.iov_base = memory, .iov_len = step});
    batch_end_ += step;
    offset += step;
    memory += step;
    length -= step;
  }
  return {};
}

Status FileIo::rewrite(std::span<const Piece> pieces, std::uint64_t zeros_from) {
  if (pieces.empty()) return {};
  std::uint64_t bytes = pieces.back().offset + pieces.back().length - pieces.front().offset;
  for (const Piece& piece : pieces) bytes -= piece.length;
  if (gaps_.size() < bytes) gaps_.resize(bytes);
  const auto end = [&](std::size_t i) { return pieces[i].offset + pieces[i].length; };
  begin(Direction::read);
  std::byte* gap = gaps_.data();
  for (std::size_t i = 1; i < pieces.size(); gap += pieces[i].offset - end(i - 1), ++i) {
    if (end(i - 1) < zeros_from)
      WEIR_TRY(add(end(i - 1), gap, pieces[i].offset - end(i - 1)));
    else
      std::memset(gap, 0, pieces[i].offset - end(i - 1));
  }
  WEIR_TRY(finish());
  begin(Direction::write);
  gap = gaps_.data();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0 && pieces[i].offset > end(i - 1)) {
      WEIR_TRY(add(end(i - 1), gap, pieces[i].offset - end(i - 1)));
      gap += pieces[i].offset - end(i - 1);
    }
    WEIR_TRY(add(pieces[i].offset, pieces[i].memory, pieces[i].length));
  }
  return finish();
}

void FileIo::ask_for_blocks(std::uint64_t offset, std::uint64_t length) const {
  // On a disk that is nearly full they are left for those who write.
  struct statvfs room {};
  if (::fstatvfs(descriptor_, &room) != 0 || room.f_bavail * room.f_frsize / 2 < length) return;
  (void)::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(length));
}

std::uint64_t FileIo::size() const {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::uint64_t FileIo::allocated() const {
  struct stat status {};
  constexpr blkcnt_t unit = 512;  // of st_blocks, whatever the file system
  if (::fstat(descriptor_, &status) != 0 || status.st_blocks < status.st_size / unit) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

Status FileIo::finish() {
  return flush();
}

Status FileIo::flush() {
  std::uint64_t at = batch_begin_;
  std::size_t first = 0;
  const bool writing = direction_ == Direction::write;
  while (at < batch_end_) {
    const auto count = static_cast<int>(batch_.size() - first);
    const iovec& part = batch_[first];
    const ssize_t done = count > 1 ? (writing ? ::pwritev(descriptor_, &part, count, static_cast<off_t>(at))
                                              : ::preadv(descriptor_, &part, count, static_cast<off_t>(at)))
                         : writing ? pwrite_clear(descriptor_, part.iov_base, part.iov_len, at)
                                   : pread_clear(descriptor_, part.iov_base, part.iov_len, at);
    ++requests_;
    if (done < 0) {
      if (errno == EINTR) continue;
      batch_.clear();
      return fail_errno(
          errno, fmt::format("{} {} bytes at offset {}", writing ? "write" : "read", batch_end_ - at, at),
          path_);
    }
    if (done == 0) {
      if (writing) {
        batch_.clear();
        return in(Status(fail(ErrorCode::io, "the file system takes no more")),
                  fmt::format("write at offset {}", at), path_);
      }
      for (; first < batch_.size(); ++first) std::memset(batch_[first].iov_base, 0, batch_[first].iov_len);
      break;
    }
    at += static_cast<std::uint64_t>(done);
    bytes_ += static_cast<std::uint64_t>(done);
    first = consume(batch_, first, static_cast<std::uint64_t>(done));
  }
  batch_.clear();
  return {};
}

}  // namespace weir::collective
