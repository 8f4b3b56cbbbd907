// Calls that wait to be folded into a RunLog, as they came: two to eight bytes a call, or one entry for a row
// of them. As words they can be kept anywhere, and folded by somebody else.
//
// First in, first out, in chunks of a pool that many of them may share. New memory costs more than all that
// is done here, so offsets are kept without the low bits that are zero in all of them, in as many bytes as
// the largest needs. Whoever owns it bounds it. Threads: none of its own; the owner locks. LOCAL.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "recording/chunk_pool.hpp"

namespace weir::recording {

class CallBacklog {
 public:
  // Without a pool: one of its own, when there is something to keep.
  explicit CallBacklog(std::shared_ptr<ChunkPool> pool = nullptr) : pool_(std::move(pool)) {}
  CallBacklog(CallBacklog&&) = default;
  CallBacklog& operator=(CallBacklog&&) = default;

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
    const Chunk chunk = std::move(chunks_.front());
    chunks_.pop_front();
    words_ -= chunk.used;
    read({chunk.words.get(), chunk.used}, calls, row);
  }

  // All that is in it as words, body(words) a chunk, for read(): it makes no difference where one ends.
  template <class Body>
  void for_each_chunk(const Body& body) const {
    for (const Chunk& chunk : chunks_) body(std::span<const std::int64_t>(chunk.words.get(), chunk.used));
  }

  // body(kind) for each entry of such words, as far as they are those of a backlog.
  template <class Body>
  static void for_each_kind(std::span<const std::int64_t> words, const Body& body) {
    while (words.size() >= head_words) {
      const Head head = read_head(words);
      body(head.kind);
      words = words.subspan(std::min(words.size(), head_words + words_for(head)));
    }
  }

  // The same as take_oldest() for words from anywhere. False where they are none of a backlog; what came
  // before was read.
  template <class Calls, class Row>
  static bool read(std::span<const std::int64_t> words, const Calls& calls, const Row& row) {
    std::array<std::int64_t, most_together> offsets;
    while (!words.empty()) {
      if (words.size() < head_words) return false;
      const Head head = read_head(words);
      words = words.subspan(head_words);
      if (head.bytes == 0) {
        row(head.kind, head.first, head.count, head.apart);
        continue;
      }
      if (!is_sound(head) || words_for(head) > words.size()) return false;
      unpack(head, words.data(), offsets.data());
      calls(head.kind, offsets.data(), head.count, head.apart);
      words = words.subspan(words_for(head));
    }
    return true;
  }

 private:
  static constexpr std::size_t head_words = 3;
  static constexpr std::size_t most_together = 1020;  // offsets behind one head; four such fill a chunk
  static_assert(4 * (head_words + most_together) <= ChunkPool::chunk_words);
  static constexpr std::size_t most_in_row = 0xffffU;

  struct Chunk {
    ChunkPool::Chunk words;
    std::size_t used = 0;
  };
  struct Head {
    std::uint32_t kind;
    std::uint32_t count;  // at most most_in_row
    std::uint8_t bytes;   // an offset; 0: a row
    std::uint8_t shift;   // of offsets
    std::int64_t first;   // of a row
    std::int64_t apart;   // unit or stride
  };
  static std::size_t words_for(const Head& head) { return (std::size_t{head.count} * head.bytes + 7) / 8; }
  static Head read_head(std::span<const std::int64_t> words);
  static bool is_sound(const Head& head) {
    return head.count <= most_together && head.shift < 64 &&
           (head.bytes == 2 || head.bytes == 4 || head.bytes == 8);
  }
  static void unpack(const Head& head, const std::int64_t* from, std::int64_t* offsets);
  // Writes the head and makes room for what belongs behind it.
  std::int64_t* append(const Head& head);

  std::shared_ptr<ChunkPool> pool_;
  std::deque<Chunk> chunks_;
  std::size_t words_ = 0;
};

}  // namespace weir::recording
