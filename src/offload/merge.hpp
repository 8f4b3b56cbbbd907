// Small blocks that lie side by side become large ones, so that a server with many clients makes few large
// writes.
//
// Threads: plain values.
#pragma once

#include <span>
#include <vector>

#include "backends/backend.hpp"
#include "files/reducing_writer.hpp"

namespace weir::offload {

class MergedBlocks {
 public:
  // The blocks must not overlap. Blocks of 1 MiB and more stay as they are, without a copy, and so do those
  // beyond `room`: copies take no more bytes than that.
  MergedBlocks(std::span<const files::ReducedBlock> blocks, std::size_t element_size, std::uint64_t room);
  std::span<const backends::SourceBlock> blocks() const { return blocks_; }
  std::uint64_t copied() const { return copied_; }  // bytes

 private:
  std::vector<backends::SourceBlock> blocks_;
  std::vector<std::vector<std::byte>> copies_;
  std::uint64_t copied_ = 0;
};

}  // namespace weir::offload
