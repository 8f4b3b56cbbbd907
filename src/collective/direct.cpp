#include "collective/direct.hpp"

#include <algorithm>
#include <memory>

namespace weir::collective {

namespace {

// Memory in crumbs costs the kernel more than one copy costs us: below this mean size of stretches they are
// gathered first.
constexpr std::uint64_t crumb = 256;
constexpr std::uint64_t gather_bytes = 1U << 20U;

}  // namespace

Status transfer(FileIo& file, FileIo::Direction direction, const aggregation::Rows& pieces,
                const MemoryStream& memory) {
  const std::uint64_t total = aggregation::total_bytes(pieces);
  file.begin(direction);
  if (memory.stretches() > 1 && total / memory.stretches() < crumb) {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(std::min(total, gather_bytes));
    aggregation::Cursor cursor(pieces);
    while (!cursor.done()) {
      const std::uint64_t first = cursor.passed();
      const std::uint64_t bytes = std::min(gather_bytes, total - first);
      if (direction == FileIo::Direction::write) memory.copy_out(first, bytes, buffer.get());
      for (std::uint64_t at = 0; at < bytes;) {
        const aggregation::Piece piece = cursor.piece();
        const std::uint64_t step = std::min(piece.length, bytes - at);
        WEIR_TRY(file.add(piece.offset, buffer.get() + at, step));
        cursor.advance(step);
        at += step;
      }
      WEIR_TRY(file.finish());
      if (direction == FileIo::Direction::read) memory.copy_in(first, bytes, buffer.get());
    }
    return {};
  }
  Status status;
  for (aggregation::Cursor cursor(pieces); !cursor.done() && status;) {
    const aggregation::Piece piece = cursor.piece();
    std::uint64_t offset = piece.offset;
    memory.for_each_stretch(cursor.passed(), piece.length, [&](std::byte* at, std::uint64_t bytes) {
      if (status) status = file.add(offset, at, bytes);
      offset += bytes;
    });
    cursor.advance(piece.length);
  }
  if (!status) return status;
  return file.finish();
}

}  // namespace weir::collective
