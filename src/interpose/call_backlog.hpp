// Calls that wait to be folded into a RunLog, as they came: eight bytes a call, or one entry for a row of
// them.
//
// First in, first out, in chunks: memory is asked for and given back by the chunk. Whoever owns it bounds it.
// Threads: none of its own; the owner locks. LOCAL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace weir::interpose {

class CallBacklog {
 public:
  bool empty() const { return chunks_.empty(); }
  std::size_t words() const { return words_; }  // of eight bytes

  // Calls of one kind: call i at offsets[i] * unit.
  void push(std::uint32_t kind, const std::int64_t* offsets, std::size_t count, std::int64_t unit);
  // Call i at offset + i * stride.
  void push_row(std::uint32_t kind, std::int64_t offset, std::size_t count, std::int64_t stride);

  // Takes out the oldest chunk: calls(kind, offsets, count, unit) or row(kind, offset, count, stride) for
  // what was pushed, in the same order, perhaps in smaller pieces. REQUIRES: not empty().
  template <class Calls, class Row>
  void take_oldest(const Calls& calls, const Row& row) {
    Chunk chunk = std::move(chunks_.front());
    chunks_.pop_front();
    words_ -= chunk.size();
    for (std::size_t i = 0; i < chunk.size();) {
      const auto head = static_cast<std::uint64_t>(chunk[i]);
      const auto kind = static_cast<std::uint32_t>(head >> 32U);
      const std::size_t count = head >> 1U & most_calls;
      const std::int64_t apart = chunk[i + 1];
      if ((head & 1U) != 0) {
        row(kind, chunk[i + 2], count, apart);
        i += head_words + 1;
      } else {
        calls(kind, chunk.data() + i + head_words, count, apart);
        i += head_words + count;
      }
    }
    chunk.clear();
    spare_ = std::move(chunk);
  }

 private:
  using Chunk = std::vector<std::int64_t>;
  static constexpr std::size_t chunk_words = 2048;
  // Before the offsets: the kind, how many calls and whether they are a row in one word; unit or stride.
  static constexpr std::size_t head_words = 2;
  static constexpr std::size_t most_calls = 0x7fffffffU;

  // The room for offsets, at least one, in the chunk that is written to now.
  std::size_t make_room();
  void write_head(std::uint32_t kind, std::size_t count, bool is_row, std::int64_t apart);

  std::deque<Chunk> chunks_;
  Chunk spare_;  // of the size of a chunk, or none
  std::size_t words_ = 0;
};

}  // namespace weir::interpose
