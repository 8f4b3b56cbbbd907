#include "collective/memory_stream.hpp"

#include <algorithm>

#include "core/copy.hpp"

namespace weir::collective {

namespace {

std::byte* at_address(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(
      static_cast<std::uintptr_t>(address));  // NOLINT: that is what an address is
}

template <class Visit>
void walk(aggregation::Cursor cursor, std::uint64_t length, const Visit& visit) {
  while (length > 0) {
    const aggregation::Piece piece = cursor.piece();
    const std::uint64_t step = std::min(length, piece.length);
    visit(at_address(piece.offset), step);
    cursor.advance(step);
    length -= step;
  }
}

}  // namespace

void MemoryStream::copy_out(std::uint64_t position, std::uint64_t length, std::byte* into) const {
  walk(index_.at(position), length, [&](const std::byte* memory, std::uint64_t bytes) {
    copy_bytes(into, memory, bytes);
    into += bytes;
  });
}

void MemoryStream::copy_in(std::uint64_t position, std::uint64_t length, const std::byte* from) const {
  walk(index_.at(position), length, [&](std::byte* memory, std::uint64_t bytes) {
    copy_bytes(memory, from, bytes);
    from += bytes;
  });
}

void MemoryStream::for_each_stretch(std::uint64_t position, std::uint64_t length,
                                    const std::function<void(std::byte*, std::uint64_t)>& visit) const {
  walk(index_.at(position), length, visit);
}

}  // namespace weir::collective
