// Taking memory into use ahead of time, a little at a time, while there is nothing else to do. Of two
// processes that share the memory, one finds the pages and the other follows: finding them is slow, and the
// second is not to keep a core from the first for it.
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
  // A part of the region, from its beginning on.
  WarmUp(const Region& region, std::uint64_t offset, std::uint64_t bytes)
      : region_(&region), offset_(offset), bytes_(bytes) {}

  // False: it is all done, or as far as `most` bytes.
  bool do_some(std::uint64_t most = UINT64_MAX) {
    const std::uint64_t end = std::min(bytes_, most);
    if (region_ == nullptr || done_ >= end) return false;
    const std::uint64_t bytes = std::min(some, end - done_);
    region_->touch(offset_ + done_, bytes);
    done_ += bytes;
    return true;
  }
  std::uint64_t done() const { return done_; }  // bytes
  bool complete() const { return done_ >= bytes_; }

 private:
  static constexpr std::uint64_t some = 256U
                                        << 10U;  // well under a millisecond, also where new pages are slow
  const Region* region_ = nullptr;
  std::uint64_t offset_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace weir::offload
