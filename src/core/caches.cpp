#include "core/caches.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace weir {

namespace {

constexpr std::uint64_t line = 64;

#ifdef __x86_64__

bool can_evict() {
  static const bool can = [] {
    constexpr unsigned int leaf = 7, clflushopt = 1U << 23U;  // in EBX
    unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & clflushopt) != 0;
  }();
  return can;
}

bool is_amd() {
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") != 0;
}

__attribute__((target("clflushopt"))) void evict_lines(const std::byte* first, const std::byte* end) {
  for (const std::byte* at = first; at < end; at += line) _mm_clflushopt(const_cast<std::byte*>(at));
}

#else

bool can_evict() {
  return false;
}
bool is_amd() {
  return false;
}
void evict_lines(const std::byte*, const std::byte*) {}

#endif

// "32768K"
std::uint64_t bytes_of_size(const std::string& text) {
  char* unit = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &unit, 10);
  return *unit == 'K' ? number << 10U : *unit == 'M' ? number << 20U : number;
}

}  // namespace

SharingTrap sharing_trap_of_processor() {
  static const SharingTrap trap = [] {
    const char* const told = std::getenv("WEIR_SHARING_TRAP");
    if (!can_evict() || (told != nullptr && std::strcmp(told, "no") == 0)) return SharingTrap::none;
    if (told != nullptr && std::strcmp(told, "yes") == 0) return SharingTrap::everywhere;
    return is_amd() ? SharingTrap::between_far_cores : SharingTrap::none;
  }();
  return trap;
}

void evict(const std::byte* data, std::uint64_t bytes) {
  if (bytes == 0 || !can_evict()) return;
  const std::byte* const first = data - reinterpret_cast<std::uintptr_t>(data) % line;
  evict_lines(first, data + bytes);
}

std::uint64_t last_cache_bytes() {
  static const std::uint64_t largest = [] {
    std::uint64_t bytes = 0;
    constexpr int most_levels = 8;
    for (int index = 0; index < most_levels; ++index) {
      std::ifstream in("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
      if (std::string size; in >> size) bytes = std::max(bytes, bytes_of_size(size));
    }
    return bytes;
  }();
  return largest;
}

}  // namespace weir
