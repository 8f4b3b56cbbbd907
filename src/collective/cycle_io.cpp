#include "collective/cycle_io.hpp"

#include <algorithm>
#include <vector>

#include "core/copy.hpp"

namespace weir::collective {

using aggregation::Cursor;
using aggregation::Piece;
using aggregation::RowIndex;
using aggregation::Rows;

struct CycleIo::Window {
  const Schedule& schedule;
  std::span<std::byte* const> parts;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t shift;  // added to offsets, modulo 2^64
  const Rows& runs;
  const Rows& gaps;  // to be filled
  std::optional<std::uint64_t> zeros_from;
  std::uint64_t bytes = 0;
  std::uint64_t pieces = 0;
  std::uint32_t sources = 0;  // with data

  // The pieces of one source, and where each is in its part.
  template <class Visit>
  void for_each_piece(std::size_t source, const Visit& visit) const {
    const RowIndex& rows = schedule.sources[source].rows;
    std::uint64_t left = rows.bytes_before(end);
    const std::uint64_t first = rows.bytes_before(begin);
    left -= first;
    if (left == 0) return;
    std::byte* memory = parts[source];
    for (Cursor cursor = rows.at(first); left > 0;) {
      Piece piece = cursor.piece();
      piece.length = std::min(piece.length, left);
      visit(piece, memory);
      memory += piece.length;
      left -= piece.length;
      cursor.advance(piece.length);
    }
  }
};

namespace {

// Where bytes of the file are in a buffer that holds runs one after another. Asked in file order.
class Locator {
 public:
  explicit Locator(const Rows& runs) : cursor_(runs), run_(cursor_.piece()) {}

  // REQUIRES: the piece is within one run.
  std::uint64_t position(std::uint64_t offset) {
    while (offset >= run_.offset + run_.length) {
      cursor_.advance(run_.length);
      run_ = cursor_.piece();
    }
    return cursor_.passed() + (offset - run_.offset);
  }

 private:
  Cursor cursor_;
  Piece run_;
};

constexpr std::uint64_t worth_no_copy =
    2048;  // mean size of pieces from which on the kernel gathers them itself

}  // namespace

std::byte* CycleIo::scratch(std::uint64_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_.reset();
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    scratch_bytes_ = bytes;
  }
  return scratch_.get();
}

Status CycleIo::run(FileIo::Direction direction, Schedule& schedule, std::uint32_t cycle,
                    std::span<std::byte* const> parts, const Terms& terms) {
  const auto& boundaries = schedule.boundaries[schedule.number];
  Rows& runs = schedule.runs[cycle];
  if (runs.empty()) {
    std::vector<RowIndex> rows;
    for (const Source& source : schedule.sources)
      rows.emplace_back(clip(source.rows.rows(), boundaries[cycle], boundaries[cycle + 1]));
    runs = merged(rows, boundaries[cycle], boundaries[cycle + 1]);
    if (schedule.fill) schedule.gaps[cycle] = schedule.gaps_to_fill(runs);
  }
  Window window{.schedule = schedule,
                .parts = parts,
                .begin = boundaries[cycle],
                .end = boundaries[cycle + 1],
                .shift = static_cast<std::uint64_t>(terms.shift),
                .runs = runs,
                .gaps = schedule.gaps[cycle],
                .zeros_from = terms.zeros_from};
  for (const Source& source : schedule.sources) {
    const std::uint64_t bytes = source.rows.bytes_before(window.end) - source.rows.bytes_before(window.begin);
    if (bytes == 0) continue;
    window.bytes += bytes;
    window.pieces += source.rows.pieces_before(window.end) - source.rows.pieces_before(window.begin) + 1;
    ++window.sources;
  }
  const bool overlapping = total_bytes(runs) != window.bytes;
  if (window.sources == 1 || (!overlapping && window.bytes / window.pieces >= worth_no_copy))
    return in_pieces(direction, window);
  return direction == FileIo::Direction::write ? write_sorted(window) : read_sorted(window);
}

Status CycleIo::in_pieces(FileIo::Direction direction, const Window& window) {
  std::vector<FileIo::Piece> pieces;
  for (std::size_t s = 0; s < window.parts.size(); ++s)
    window.for_each_piece(s, [&](const Piece& piece, std::byte* memory) {
      pieces.push_back({piece.offset + window.shift, piece.length, memory});
    });
  if (window.sources > 1)
    std::sort(pieces.begin(), pieces.end(),
              [](const FileIo::Piece& a, const FileIo::Piece& b) { return a.offset < b.offset; });
  if (direction == FileIo::Direction::write) return write(pieces, window);
  file_.begin(direction);
  for (const FileIo::Piece& piece : pieces) WEIR_TRY(file_.add(piece.offset, piece.memory, piece.length));
  return file_.finish();
}

// Stretches with gaps to be filled are written one by one, what is between them together.
Status CycleIo::write(std::span<const FileIo::Piece> pieces, const Window& window) {
  const WriteLock lock = window.zeros_from ? WriteLock() : file_.share();
  const auto end = [&](std::size_t i) { return pieces[i].offset + pieces[i].length; };
  const auto plainly = [&](std::size_t first, std::size_t last) -> Status {
    file_.begin(FileIo::Direction::write);
    for (std::size_t i = first; i < last; ++i)
      WEIR_TRY(file_.add(pieces[i].offset, pieces[i].memory, pieces[i].length));
    return file_.finish();
  };
  if (!window.zeros_from) return plainly(0, pieces.size());
  std::size_t written = 0;
  Cursor gap(window.gaps);
  for (std::size_t first = 0; first < pieces.size() && !gap.done();) {
    std::size_t last = first + 1;
    bool filled = false;
    for (; last < pieces.size(); ++last) {
      const bool fills = !gap.done() && gap.piece().offset + window.shift == end(last - 1);
      if (!fills && end(last - 1) != pieces[last].offset) break;
      if (fills) gap.advance(gap.piece().length);
      filled = filled || fills;
    }
    if (filled) {
      WEIR_TRY(plainly(written, first));
      WEIR_TRY(file_.rewrite(pieces.subspan(first, last - first), *window.zeros_from));
      written = last;
    }
    first = last;
  }
  return plainly(written, pieces.size());
}

Status CycleIo::write_sorted(const Window& window) {
  std::byte* buffer = scratch(total_bytes(window.runs));
  for (std::size_t s = 0; s < window.parts.size(); ++s) {
    Locator locator(window.runs);
    window.for_each_piece(s, [&](const Piece& piece, const std::byte* memory) {
      copy_bytes(buffer + locator.position(piece.offset), memory, piece.length);
    });
  }
  std::vector<FileIo::Piece> pieces;
  for (Cursor cursor(window.runs); !cursor.done();) {
    const Piece run = cursor.piece();
    pieces.push_back({run.offset + window.shift, run.length, buffer + cursor.passed()});
    cursor.advance(run.length);
  }
  return write(pieces, window);
}

Status CycleIo::read_sorted(const Window& window) {
  const Rows runs = fill_small_gaps(window.runs, aggregation::small_gap).runs;
  std::byte* buffer = scratch(total_bytes(runs));
  file_.begin(FileIo::Direction::read);
  for (Cursor cursor(runs); !cursor.done();) {
    const Piece run = cursor.piece();
    WEIR_TRY(file_.add(run.offset + window.shift, buffer + cursor.passed(), run.length));
    cursor.advance(run.length);
  }
  WEIR_TRY(file_.finish());
  for (std::size_t s = 0; s < window.parts.size(); ++s) {
    Locator locator(runs);
    window.for_each_piece(s, [&](const Piece& piece, std::byte* memory) {
      copy_bytes(memory, buffer + locator.position(piece.offset), piece.length);
    });
  }
  return {};
}

}  // namespace weir::collective
