// How much memory there is.
//
// Threads: any.
#pragma once

#include <cstdint>

namespace weir {

// Bytes that could be taken into use now, those that the system would have to free or swap for it included;
// UINT64_MAX: it does not say. Who takes more into use is not refused by Linux, but ended, or somebody else.
std::uint64_t available_memory();

}  // namespace weir
