// Sums by unordered pair of ranks: a table with open addressing, since a matrix of a million ranks is added
// to millions of times. Private to the application matrix. Threads: one at a time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "pattern/sparse_matrix.hpp"

namespace weir::pattern {

class PairSums {
 public:
  void add(std::uint32_t a, std::uint32_t b, double value) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    if (a > b) std::swap(a, b);
    Slot& slot = find(a, b);
    if (slot.value == 0) {
      slot.pair = key(a, b);
      ++used_;
    }
    slot.value += value;
  }

  std::vector<Triple> pairs() const {
    std::vector<Triple> result;
    result.reserve(used_);
    for (const Slot& slot : slots_) {
      if (slot.value != 0)
        result.push_back({static_cast<std::uint32_t>(slot.pair >> 32U), static_cast<std::uint32_t>(slot.pair),
                          slot.value});
    }
    return result;
  }

 private:
  struct Slot {
    std::uint64_t pair = 0;
    double value = 0;  // 0: free; sums are above 0
  };

  static std::uint64_t key(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32U | b; }

  Slot& find(std::uint32_t a, std::uint32_t b) {
    const std::uint64_t mask = slots_.size() - 1;
    std::uint64_t hash = key(a, b) * 0x9e3779b97f4a7c15ULL;
    std::uint64_t at = (hash ^ hash >> 32U) & mask;
    while (slots_[at].value != 0 && slots_[at].pair != key(a, b)) at = (at + 1) & mask;
    return slots_[at];
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != 0)
        find(static_cast<std::uint32_t>(slot.pair >> 32U), static_cast<std::uint32_t>(slot.pair)) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace weir::pattern
