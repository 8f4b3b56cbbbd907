// What caches do when one core reads what another one works on.
//
// The trap: some processors (seen on AMD EPYC 9005, between cores of different dies) take two to three times
// as long to overwrite data that a far core has read, once it has left the caches of the core that works on
// it: the other one has to be asked, line by line. An I/O server that reads a program's arrays so slows the
// kernels that come after, though it takes next to none of their memory bandwidth. Who evicts what it has
// read spares them that.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir {

// AMD's have it between far cores, unless WEIR_SHARING_TRAP says no, or yes: everywhere, for arrays of any
// size, as tests want it. (No, where a program cannot evict.)
enum class SharingTrap : std::uint8_t { none, between_far_cores, everywhere };
SharingTrap sharing_trap_of_processor();

// Out of the caches of all cores; memory has it then. Takes about a third as long as a copy, and whoever
// works on the data finds it in no cache: for what has left them anyway. Nothing where the processor cannot.
void evict(const std::byte* data, std::uint64_t bytes);

// Bytes of the largest cache of this machine; 0: unknown.
std::uint64_t last_cache_bytes();

}  // namespace weir
