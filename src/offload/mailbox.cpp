#include "offload/mailbox.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace weir::offload {

namespace {

constexpr std::uint64_t page = 4096;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

std::size_t Stream::put(std::span<const char> bytes, std::span<char> ring) {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  const std::uint64_t room = ring.size() - (written - taken_.load(std::memory_order_acquire));
  const std::size_t count = std::min<std::size_t>(bytes.size(), room);
  const std::size_t at = written % ring.size();
  const std::size_t first = std::min(count, ring.size() - at);
  std::copy_n(bytes.begin(), first, ring.begin() + static_cast<std::ptrdiff_t>(at));
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), count - first, ring.begin());
  written_.store(written + count, std::memory_order_release);
  return count;
}

std::size_t Stream::take(std::span<char> bytes, std::span<const char> ring) {
  const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  const std::uint64_t there = written_.load(std::memory_order_acquire) - taken;
  const std::size_t count = std::min<std::size_t>(bytes.size(), there);
  const std::size_t at = taken % ring.size();
  const std::size_t first = std::min(count, ring.size() - at);
  std::copy_n(ring.begin() + static_cast<std::ptrdiff_t>(at), first, bytes.begin());
  std::copy_n(ring.begin(), count - first, bytes.begin() + static_cast<std::ptrdiff_t>(first));
  taken_.store(taken + count, std::memory_order_release);
  return count;
}

void MessageWriter::add(const std::string& message) {
  if (empty()) {
    pending_.clear();
    at_ = 0;
  }
  const std::uint64_t length = message.size();
  pending_.append(reinterpret_cast<const char*>(&length), sizeof length);
  pending_.append(message);
}

bool MessageWriter::push(Stream& stream, std::span<char> ring) {
  if (empty()) return false;
  const std::size_t moved = stream.put(std::span(pending_).subspan(at_), ring);
  at_ += moved;
  return moved > 0;
}

std::optional<std::string> MessageReader::pull(Stream& stream, std::span<const char> ring) {
  std::uint64_t length = 0;
  const auto fill = [&](std::size_t wanted) {
    const std::size_t had = partial_.size();
    if (had >= wanted) return true;
    partial_.resize(wanted);
    const std::size_t got = stream.take(std::span(partial_).subspan(had), ring);
    partial_.resize(had + got);
    return partial_.size() == wanted;
  };
  if (!fill(std::max(partial_.size(), sizeof length))) return std::nullopt;
  std::memcpy(&length, partial_.data(), sizeof length);
  if (!fill(sizeof length + length)) return std::nullopt;
  std::string message = partial_.substr(sizeof length);
  partial_.clear();
  return message;
}

std::uint64_t Mailbox::footprint(std::uint64_t data_room) {
  return rounded_up(sizeof(Shared), page) + letter_room + answer_room + rounded_up(data_room, page);
}

Mailbox::Mailbox(std::byte* memory, std::uint64_t data_room, Bell& server_bell)
    : shared_(std::launder(reinterpret_cast<Shared*>(memory))), ring_(data_room), server_bell_(&server_bell) {
  auto* at = reinterpret_cast<char*>(memory) + rounded_up(sizeof(Shared), page);
  letter_ring_ = {at, letter_room};
  answer_ring_ = {at + letter_room, answer_room};
  data_ = reinterpret_cast<std::byte*>(at + letter_room + answer_room);
}

bool Mailbox::send(MessageWriter& letters) {
  if (!letters.push(shared_->letters, letter_ring_)) return false;
  server_bell_->ring();
  return true;
}

std::optional<std::string> Mailbox::next_answer(MessageReader& answers) {
  return answers.pull(shared_->answers, answer_ring_);
}

std::optional<std::uint64_t> Ring::find_room(std::uint64_t bytes, std::uint64_t freed) {
  oldest_ = std::max(oldest_, freed);
  std::uint64_t place = next_;
  // Memory that is in use and in the cache already comes first: an empty ring starts over at its beginning,
  // and so does a piece that would need new memory while there is room at the beginning. And no piece is cut
  // at the ring's end.
  const bool empty = oldest_ == next_;
  const std::uint64_t offset = place % room_;
  const bool beginning_is_free = oldest_ / room_ == place / room_ && oldest_ % room_ >= bytes;
  if (offset != 0 && (empty || offset + bytes > room_ || (offset + bytes > used_ && beginning_is_free)))
    place = rounded_up(place, room_);
  if (empty) oldest_ = place;
  if (place + bytes > oldest_ + room_) return std::nullopt;
  constexpr std::uint64_t line = 64;
  const std::uint64_t end_of_ring = rounded_up(place + 1, room_);
  next_ = std::min(place + rounded_up(bytes, line), end_of_ring);
  used_ = std::max(used_, place % room_ + bytes);
  return place;
}

std::optional<std::string> Mailbox::next_letter(MessageReader& letters) {
  return letters.pull(shared_->letters, letter_ring_);
}

bool Mailbox::answer(MessageWriter& answers) {
  if (!answers.push(shared_->answers, answer_ring_)) return false;
  shared_->client_bell.ring();
  return true;
}

void Mailbox::note_warm(std::uint64_t bytes, bool complete) {
  shared_->warm.store(bytes, std::memory_order_relaxed);
  if (complete) shared_->client_bell.ring();
}

void Mailbox::give_back(std::uint64_t end) {
  shared_->freed.store(end, std::memory_order_release);
  shared_->client_bell.ring();
}

}  // namespace weir::offload
