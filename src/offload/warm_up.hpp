// Taking memory into use ahead of time, a little at a time, while there is nothing else to do.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "offload/region.hpp"

namespace weir::offload {

class WarmUp {
 public:
  WarmUp() = default;
  // The beginning of a part of the region: as much as programs usually have on its way, at most a quarter of
  // a large part.
  WarmUp(const Region& region, std::uint64_t offset, std::uint64_t bytes)
      : region_(&region), at_(offset), end_(offset + std::min(bytes, std::max(usual, bytes / 4))) {}

  // False: it is all done.
  bool do_some() {
    if (region_ == nullptr || at_ >= end_) return false;
    const std::uint64_t bytes = std::min(some, end_ - at_);
    region_->touch(at_, bytes);
    at_ += bytes;
    return true;
  }

 private:
  static constexpr std::uint64_t usual = 64U << 20U;
  static constexpr std::uint64_t some = 2U << 20U;  // well under a millisecond
  const Region* region_ = nullptr;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace weir::offload
