#include "recording/call_backlog.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace weir::recording {

namespace {

// Loops of a constant length: those the compiler makes of vector instructions.
constexpr std::size_t at_once = 16;

std::uint64_t all_bits(const std::int64_t* offsets, std::size_t count) {
  std::array<std::uint64_t, at_once> bits{};
  std::size_t i = 0;
  for (; i + at_once <= count; i += at_once)
    for (std::size_t j = 0; j < at_once; ++j) bits[j] |= static_cast<std::uint64_t>(offsets[i + j]);
  for (; i < count; ++i) bits[0] |= static_cast<std::uint64_t>(offsets[i]);
  for (std::size_t j = 1; j < at_once; ++j) bits[0] |= bits[j];
  return bits[0];
}

template <class Number>
void pack(const std::int64_t* offsets, std::size_t count, unsigned shift, std::int64_t* into) {
  auto* to = reinterpret_cast<char*>(into);
  std::array<Number, at_once> numbers;
  for (; count >= at_once; count -= at_once, offsets += at_once, to += sizeof(numbers)) {
    for (std::size_t j = 0; j < at_once; ++j)
      numbers[j] = static_cast<Number>(static_cast<std::uint64_t>(offsets[j]) >> shift);
    std::memcpy(to, numbers.data(), sizeof(numbers));
  }
  for (std::size_t j = 0; j < count; ++j)
    numbers[j] = static_cast<Number>(static_cast<std::uint64_t>(offsets[j]) >> shift);
  std::memcpy(to, numbers.data(), count * sizeof(Number));
}

template <class Number>
void unpack_as(const std::int64_t* from, std::size_t count, unsigned shift, std::int64_t* offsets) {
  const auto* const bytes = reinterpret_cast<const char*>(from);
  for (std::size_t i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, bytes + i * sizeof(Number), sizeof(Number));
    offsets[i] = static_cast<std::int64_t>(std::uint64_t{number} << shift);
  }
}

}  // namespace

CallBacklog::Head CallBacklog::read_head(std::span<const std::int64_t> words) {
  const auto word = static_cast<std::uint64_t>(words[0]);
  return {.kind = static_cast<std::uint32_t>(word >> 32U),
          .count = static_cast<std::uint32_t>(word >> 16U & most_in_row),
          .bytes = static_cast<std::uint8_t>(word >> 8U & 0xffU),
          .shift = static_cast<std::uint8_t>(word & 0xffU),
          .first = words[1],
          .apart = words[2]};
}

std::int64_t* CallBacklog::append(const Head& head) {
  const std::size_t needed = head_words + words_for(head);
  if (chunks_.empty() || chunks_.back().used + needed > ChunkPool::chunk_words) {
    if (!pool_) pool_ = std::make_shared<ChunkPool>();
    chunks_.push_back({.words = pool_->take()});
  }
  Chunk& chunk = chunks_.back();
  std::int64_t* const at = chunk.words.get() + chunk.used;
  at[0] = static_cast<std::int64_t>(std::uint64_t{head.kind} << 32U | std::uint64_t{head.count} << 16U |
                                    std::uint64_t{head.bytes} << 8U | head.shift);
  at[1] = head.first;
  at[2] = head.apart;
  chunk.used += needed;
  words_ += needed;
  return at + head_words;
}

void CallBacklog::push(std::uint32_t kind, const std::int64_t* offsets, std::size_t count,
                       std::int64_t unit) {
  while (count > 0) {
    const std::size_t part = std::min(count, most_together);
    const std::uint64_t bits = all_bits(offsets, part);
    const unsigned shift = bits == 0 ? 0 : static_cast<unsigned>(std::countr_zero(bits));
    const std::uint64_t largest = bits >> shift;
    const Head head{.kind = kind,
                    .count = static_cast<std::uint32_t>(part),
                    .bytes = static_cast<std::uint8_t>(largest <= UINT16_MAX   ? 2
                                                       : largest <= UINT32_MAX ? 4
                                                                               : 8),
                    .shift = static_cast<std::uint8_t>(shift),
                    .first = 0,
                    .apart = unit};
    std::int64_t* const into = append(head);
    if (head.bytes == 2)
      pack<std::uint16_t>(offsets, part, shift, into);
    else if (head.bytes == 4)
      pack<std::uint32_t>(offsets, part, shift, into);
    else
      pack<std::uint64_t>(offsets, part, shift, into);
    offsets += part;
    count -= part;
  }
}

void CallBacklog::unpack(const Head& head, const std::int64_t* from, std::int64_t* offsets) {
  if (head.bytes == 2)
    unpack_as<std::uint16_t>(from, head.count, head.shift, offsets);
  else if (head.bytes == 4)
    unpack_as<std::uint32_t>(from, head.count, head.shift, offsets);
  else
    unpack_as<std::uint64_t>(from, head.count, head.shift, offsets);
}

void CallBacklog::push_row(std::uint32_t kind, std::int64_t offset, std::size_t count, std::int64_t stride) {
  while (count > 0) {
    const std::size_t part = std::min(count, most_in_row);
    append({.kind = kind,
            .count = static_cast<std::uint32_t>(part),
            .bytes = 0,
            .shift = 0,
            .first = offset,
            .apart = stride});
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) +
                                       part * static_cast<std::uint64_t>(stride));
    count -= part;
  }
}

}  // namespace weir::recording
