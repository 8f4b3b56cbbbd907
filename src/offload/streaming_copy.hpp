// memcpy for data that whoever copies it will not look at again: around the caches, where the processor can.
//
// A large block that goes to a server would else push the program's data out of a cache that they share, and
// have its destination read before it is overwritten: beside a program that keeps the memory busy, that makes
// the copy half as fast.
//
// Threads: as memcpy; when it returns, what it wrote may be published by a release store.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::offload {

// REQUIRES: the ranges do not overlap.
void streaming_copy(std::byte* to, const std::byte* from, std::uint64_t bytes);

}  // namespace weir::offload
