// What a compute rank and its I/O server share: letters one way, answers the other, and room for the data.
//
// The room is a ring: the client chooses a place for each piece of data and names it in a letter; the server
// gives pieces back in the order they came. So a client that is ahead of the disk waits for room: memory is
// bounded.
//
// The memory lies in a Region when both are on one node. When they are not, it lies in the server's own
// memory, and an MPI link plays the client's part there.
//
// Threads: one thread on each side.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "offload/bell.hpp"

namespace weir::offload {

// A stream of bytes between one writer and one reader.
class Stream {
 public:
  std::size_t put(std::span<const char> bytes, std::span<char> ring);   // as many as there is room for
  std::size_t take(std::span<char> bytes, std::span<const char> ring);  // as many as there are

 private:
  alignas(64) std::atomic<std::uint64_t> written_ = 0;
  alignas(64) std::atomic<std::uint64_t> taken_ = 0;
};

// Messages of any length, cut to fit through a stream.
class MessageWriter {
 public:
  void add(const std::string& message);
  bool push(Stream& stream, std::span<char> ring);  // true if anything moved
  bool empty() const { return at_ == pending_.size(); }

 private:
  std::string pending_;
  std::size_t at_ = 0;
};

class MessageReader {
 public:
  std::optional<std::string> pull(Stream& stream, std::span<const char> ring);

 private:
  std::string partial_;
};

// Places in a ring for data, as the client of a mailbox hands them out. They count up for ever; place % room
// is where.
class Ring {
 public:
  Ring() = default;
  explicit Ring(std::uint64_t room) : room_(room) {}
  // Where a piece of that size can go now, `freed` being the end of the last piece that was given back;
  // nullopt: something has to be given back first. REQUIRES: bytes <= room.
  std::optional<std::uint64_t> find_room(std::uint64_t bytes, std::uint64_t freed);
  std::uint64_t room() const { return room_; }
  std::uint64_t end_of_last() const {
    return next_;
  }  // what the server gives back when done with the last piece

 private:
  std::uint64_t room_ = 0;
  std::uint64_t next_ = 0;    // where the next piece goes
  std::uint64_t oldest_ = 0;  // the first piece that was not given back, as far as is known
  std::uint64_t used_ = 0;    // how much of the ring has ever been used
};

class Mailbox {
 public:
  static constexpr std::size_t letter_room = 256U << 10U;
  static constexpr std::size_t answer_room = 64U << 10U;

  struct Shared {
    alignas(64) Bell client_bell;
    alignas(64) Stream letters;
    alignas(64) Stream answers;
    alignas(64) std::atomic<std::uint64_t> freed = 0;  // end of the last piece that was given back
    std::atomic<std::uint64_t> warm = 0;               // bytes of the room that the server has in use already
  };

  // Bytes of memory that a mailbox with this much room for data takes.
  static std::uint64_t footprint(std::uint64_t data_room);

  Mailbox() = default;
  // REQUIRES: `memory` is zero at first, aligned to a page, as large as the footprint; `server_bell` outlives
  // it.
  Mailbox(std::byte* memory, std::uint64_t data_room, Bell& server_bell);

  // The client's side.
  bool send(MessageWriter& letters);
  std::optional<std::string> next_answer(MessageReader& answers);
  Bell& client_bell() const { return shared_->client_bell; }
  Bell& server_bell() const { return *server_bell_; }
  std::optional<std::uint64_t> find_room(std::uint64_t bytes) { return ring_.find_room(bytes, freed()); }
  std::byte* at(std::uint64_t place) const { return data_ + place % ring_.room(); }
  std::uint64_t data_room() const { return ring_.room(); }
  std::byte* data() const { return data_; }
  std::uint64_t end_of_last() const { return ring_.end_of_last(); }
  std::uint64_t freed() const { return shared_->freed.load(std::memory_order_acquire); }
  std::uint64_t warm() const { return shared_->warm.load(std::memory_order_relaxed); }

  // The server's side.
  std::optional<std::string> next_letter(MessageReader& letters);
  bool answer(MessageWriter& answers);
  void give_back(std::uint64_t end);  // of a piece, and all before it
  void note_warm(std::uint64_t bytes, bool complete);

 private:
  Shared* shared_ = nullptr;
  std::span<char> letter_ring_;
  std::span<char> answer_ring_;
  std::byte* data_ = nullptr;
  Ring ring_;  // the client's
  Bell* server_bell_ = nullptr;
};

}  // namespace weir::offload
