// Copies that know what memory and processors are like.
//
// The trap: some processors (seen on AMD EPYC 7003) take several times as long for `rep movsb` when its
// target lies 1 to 31 bytes behind its source within a page. That is how the kernel copies what is read, and
// how memcpy copies some KiB and more. malloc puts large arrays 16 bytes behind the beginning of a page, so a
// program that reads a file from its beginning meets the trap on every page. What is here goes another way
// then.
//
// Threads: as memcpy.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace weir {

// Whether this processor has the trap: tried once, in some microseconds, unless WEIR_COPY_TRAP says yes or
// no.
bool processor_has_copy_trap();

// Whether a copy between these places meets it. `from` may also be an offset in a file: page caches begin at
// pages.
inline bool meets_copy_trap(std::uint64_t to, std::uint64_t from) {
  return (to - from) % 4096 - 1 < 31 && processor_has_copy_trap();
}
inline bool meets_copy_trap(const void* to, std::uint64_t from) {
  return meets_copy_trap(reinterpret_cast<std::uintptr_t>(to), from);
}

// memcpy, but not into the trap. REQUIRES, here and below: the ranges do not overlap.
void copy_bytes(void* to, const void* from, std::uint64_t bytes);

// memcpy for data that whoever copies it will not look at again: around the caches, where the processor can.
// A large block that goes to a server would else push the program's data out of a cache that they share, and
// have its destination read before it is overwritten: beside a program that keeps the memory busy, that makes
// the copy half as fast. When it returns, what it wrote may be published by a release store.
void streaming_copy(std::byte* to, const std::byte* from, std::uint64_t bytes);

// pread(2) and pwrite(2), but not into the trap; short only where those would be. A transfer that would meet
// it goes through memory of this thread, 128 KiB at a time.
ssize_t pread_clear(int fd, void* to, std::uint64_t bytes, std::uint64_t offset);
ssize_t pwrite_clear(int fd, const void* from, std::uint64_t bytes, std::uint64_t offset);

// The same for whatever reads from a file at offsets: read(memory, bytes, offset) returns how many bytes it
// got, or less than 0.
template <class Read>
std::int64_t read_clear(std::byte* to, std::uint64_t bytes, std::uint64_t offset, const Read& read);

// Memory of this thread for data on its way; at the same place in its page as `offset`. Null: there is none
// to be had.
inline constexpr std::uint64_t detour_bytes = 128U << 10U;
inline constexpr std::uint64_t worth_detour = 8U << 10U;  // fewer bytes cost less than the detour
std::byte* detour_for(std::uint64_t offset);
// From there to where it belongs. `all`: bytes of the whole transfer, of which this is a part.
void leave_detour(std::byte* to, const std::byte* from, std::uint64_t bytes, std::uint64_t all);

template <class Read>
std::int64_t read_clear(std::byte* to, std::uint64_t bytes, std::uint64_t offset, const Read& read) {
  if (bytes < worth_detour || !meets_copy_trap(to, offset) || detour_for(offset) == nullptr)
    return read(to, bytes, offset);
  std::uint64_t done = 0;
  while (done < bytes) {
    const std::uint64_t part = bytes - done < detour_bytes ? bytes - done : detour_bytes;
    std::byte* const detour = detour_for(offset + done);
    const std::int64_t got = read(detour, part, offset + done);
    if (got < 0 && done == 0) return got;
    if (got <= 0) break;
    leave_detour(to + done, detour, static_cast<std::uint64_t>(got), bytes);
    done += static_cast<std::uint64_t>(got);
    if (static_cast<std::uint64_t>(got) < part) break;
  }
  return static_cast<std::int64_t>(done);
}

}  // namespace weir
