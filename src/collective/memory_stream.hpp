// A rank's memory as one stream of bytes, in the order of its file pieces.
//
// Ownership: the memory stays the caller's. Threads: functions only read the stream; copy_in changes the
// caller's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "aggregation/pieces.hpp"

namespace weir::collective {

class MemoryStream {
 public:
  explicit MemoryStream(const aggregation::Rows& addresses) : index_(addresses) {}

  std::uint64_t size() const { return index_.bytes(); }
  std::uint64_t stretches() const { return index_.pieces(); }
  // REQUIRES: position + length <= size().
  void copy_out(std::uint64_t position, std::uint64_t length, std::byte* into) const;
  void copy_in(std::uint64_t position, std::uint64_t length, const std::byte* from) const;
  // The stretches of memory that [position, position + length) consists of.
  void for_each_stretch(std::uint64_t position, std::uint64_t length,
                        const std::function<void(std::byte*, std::uint64_t)>& visit) const;

 private:
  aggregation::RowIndex index_;
};

}  // namespace weir::collective
