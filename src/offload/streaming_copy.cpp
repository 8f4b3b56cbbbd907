#include "offload/streaming_copy.hpp"

#include <algorithm>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weir::offload {

#ifdef __SSE2__

void streaming_copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  constexpr std::uint64_t line = 64;
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
  std::memcpy(to, from, bytes);
}

#endif

}  // namespace weir::offload
