#include "core/copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weir {

namespace {

constexpr std::uint64_t line = 64;
constexpr std::uint64_t page = 4096;

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Pages = std::unique_ptr<std::byte[], Free>;

Pages pages(std::uint64_t bytes) {
  return Pages(static_cast<std::byte*>(std::aligned_alloc(page, bytes)));
}

#ifdef __x86_64__

std::int64_t nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// The shortest of a few, from one cache line to another: nothing but the processor counts.
std::int64_t time_of_copy(std::byte* to, const std::byte* from) {
  std::int64_t best = INT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t start = nanoseconds();
    void* target = to;
    const void* source = from;
    std::uint64_t count = page;
    asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(count) : : "memory");
    best = std::min(best, nanoseconds() - start);
  }
  return best;
}

bool has_copy_trap() {
  const Pages memory = pages(4 * page);
  if (!memory) return false;
  std::memset(memory.get(), 0, 4 * page);
  std::byte* const target = memory.get() + 2 * page;
  const std::int64_t clear = time_of_copy(target + 2 * line, memory.get());
  return time_of_copy(target + 16, memory.get()) > 3 * clear;
}

#else

bool has_copy_trap() {
  return false;
}

#endif

// By moves of a constant size, which are no `rep movsb`.
void copy_lines(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  for (; bytes >= line; bytes -= line, to += line, from += line) {
    std::memcpy(to, from, line);
    asm volatile("" : : : "memory");  // or the compiler makes one memcpy of all
  }
  std::memcpy(to, from, bytes);
}

}  // namespace

bool processor_has_copy_trap() {
  static const bool has = [] {
    const char* const told = std::getenv("WEIR_COPY_TRAP");
    if (told != nullptr && std::strcmp(told, "yes") == 0) return true;
    if (told != nullptr && std::strcmp(told, "no") == 0) return false;
    return has_copy_trap();
  }();
  return has;
}

void copy_bytes(void* to, const void* from, std::uint64_t bytes) {
  constexpr std::uint64_t shortest = 1024;  // memcpy moves less than that by itself
  if (bytes >= shortest && meets_copy_trap(to, reinterpret_cast<std::uintptr_t>(from)))
    copy_lines(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  else
    std::memcpy(to, from, bytes);
}

#ifdef __SSE2__

void streaming_copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  constexpr std::uint64_t ahead = 16 * line;  // what is read comes from memory: asked for in time
  const std::uint64_t head = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
  std::memcpy(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  for (; bytes >= line; bytes -= line, to += line, from += line) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    _mm_prefetch(reinterpret_cast<const char*>(from) + ahead, _MM_HINT_NTA);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
  }
  std::memcpy(to, from, bytes);
  _mm_sfence();  // such stores are not ordered with others
}

#else

void streaming_copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  copy_bytes(to, from, bytes);
}

#endif

std::byte* detour_for(std::uint64_t offset) {
  static thread_local const Pages memory = pages(detour_bytes + page);
  return memory ? memory.get() + offset % page : nullptr;
}

void leave_detour(std::byte* to, const std::byte* from, std::uint64_t bytes, std::uint64_t all) {
  constexpr std::uint64_t large = 64U << 10U;  // as a rule a part of more than caches hold
  if (all >= large)
    streaming_copy(to, from, bytes);
  else
    copy_lines(to, from, bytes);
}

ssize_t pread_clear(int fd, void* to, std::uint64_t bytes, std::uint64_t offset) {
  return read_clear(static_cast<std::byte*>(to), bytes, offset,
                    [fd](std::byte* memory, std::uint64_t part, std::uint64_t at) {
                      return ::pread(fd, memory, part, static_cast<off_t>(at));
                    });
}

ssize_t pwrite_clear(int fd, const void* from, std::uint64_t bytes, std::uint64_t offset) {
  if (bytes < worth_detour || !meets_copy_trap(offset, reinterpret_cast<std::uintptr_t>(from)) ||
      detour_for(offset) == nullptr)
    return ::pwrite(fd, from, bytes, static_cast<off_t>(offset));
  std::uint64_t done = 0;
  while (done < bytes) {
    const std::uint64_t part = std::min(bytes - done, detour_bytes);
    std::byte* const detour = detour_for(offset + done);
    copy_lines(detour, static_cast<const std::byte*>(from) + done, part);
    const ssize_t written = ::pwrite(fd, detour, part, static_cast<off_t>(offset + done));
    if (written < 0 && done == 0) return written;
    if (written <= 0) break;
    done += static_cast<std::uint64_t>(written);
    if (static_cast<std::uint64_t>(written) < part) break;
  }
  return static_cast<ssize_t>(done);
}

}  // namespace weir
