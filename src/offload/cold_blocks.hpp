// Which blocks have most likely left the caches of the program by the time it hands them over again: those
// with more data than a cache holds between two writes. See core/caches.hpp for why that matters.
//
// Threads: one, but for beside() and answer().
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "core/core_distance.hpp"

namespace weir::offload {

class ColdBlocks {
 public:
  // None is ever cold.
  ColdBlocks() = default;
  explicit ColdBlocks(std::uint64_t cache)
      : enough_(cache / 4 * 3) {}  // the program has more data than what it writes
  // Where it matters: the thread that works on the blocks asks for them, and the one that will read them
  // answers, at about the same time.
  static ColdBlocks beside(CoreDistance& reader);
  static void answer(CoreDistance& worker);
  static ColdBlocks for_distance(std::optional<double> nanoseconds);

  // A block is handed over: is it cold?
  bool note(const std::byte* data, std::uint64_t bytes);

 private:
  struct Block {
    const std::byte* data = nullptr;
    std::uint64_t bytes = 0;
  };
  std::uint64_t enough_ = 0;
  std::deque<Block> recent_;  // the last one comes first; no more of them than are enough
  std::uint64_t recent_bytes_ = 0;
};

}  // namespace weir::offload
