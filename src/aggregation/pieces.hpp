// Bytes of a file (or of memory) as a compact list: each entry is a row of equal pieces at a constant
// distance. A 2-D tile is one entry, however many lines it has. What collective I/O negotiates is made of
// these.
//
// Threads: plain values; functions only read them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace weir::aggregation {

// `count` pieces of `length` bytes; the first at `offset`, each of the others `stride` bytes after the one
// before.
struct Row {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t count = 1;
  std::uint64_t stride = 0;  // means nothing when count is 1

  std::uint64_t bytes() const { return length * count; }
  std::uint64_t begin_of(std::uint64_t piece) const { return offset + piece * stride; }
  std::uint64_t end() const { return begin_of(count - 1) + length; }  // REQUIRES: count > 0
  bool operator==(const Row&) const = default;
};

struct Piece {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool operator==(const Piece&) const = default;
};

// In file order: no piece begins before its predecessor. Made by RowBuilder, which keeps it compact.
using Rows = std::vector<Row>;

std::uint64_t total_bytes(std::span<const Row> rows);
std::uint64_t total_pieces(std::span<const Row> rows);

// As MPI demands of file views: offsets do not decrease, nothing is empty or leaves 63 bits; for writing,
// pieces of one rank do not overlap.
Status check(std::span<const Row> rows, bool may_overlap);

// Appends pieces and rows; neighbours become one piece, equal pieces at a constant distance one row. Empty
// ones are left out.
class RowBuilder {
 public:
  void add(std::uint64_t offset, std::uint64_t length);
  void add(const Row& row);
  const Rows& rows() const { return rows_; }
  Rows take();

 private:
  Rows rows_;
};

// The part of the row that lies in [begin, end): whole pieces and up to two cut ones. REQUIRES: stride >=
// length.
void clip(const Row& row, std::uint64_t begin, std::uint64_t end, RowBuilder& into);
Rows clip(std::span<const Row> rows, std::uint64_t begin, std::uint64_t end);

// A walk over the pieces in order, without listing them.
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(std::span<const Row> rows) : rows_(rows) {}

  bool done() const { return row_ == rows_.size(); }
  // What is left of the piece the walk stands on. REQUIRES: !done().
  Piece piece() const;
  void advance(std::uint64_t bytes);  // REQUIRES: bytes <= piece().length
  void skip(std::uint64_t bytes);     // over any number of pieces
  std::uint64_t passed() const { return passed_; }

 private:
  friend class RowIndex;
  std::span<const Row> rows_;
  std::size_t row_ = 0;
  std::uint64_t index_ = 0;   // of the piece in its row
  std::uint64_t within_ = 0;  // bytes of that piece that are behind
  std::uint64_t passed_ = 0;  // bytes that are behind in all
};

// Rows with sums, to find places in them quickly. Owns its rows. REQUIRES: check(rows, false) holds for
// *_before; at() needs no order.
class RowIndex {
 public:
  RowIndex() : RowIndex(Rows{}) {}
  explicit RowIndex(Rows rows);

  const Rows& rows() const { return rows_; }
  std::uint64_t bytes() const { return bytes_.back(); }
  std::uint64_t pieces() const { return pieces_.back(); }
  std::uint64_t bytes_before(std::uint64_t offset) const;   // of pieces, below that offset
  std::uint64_t pieces_before(std::uint64_t offset) const;  // that begin below it
  // A walk that begins after so many bytes; it refers to this index. REQUIRES: position <= bytes().
  Cursor at(std::uint64_t position) const;

 private:
  std::size_t row_before(std::uint64_t offset) const;  // rows that begin below it

  Rows rows_;
  std::vector<std::uint64_t> bytes_;   // before each row
  std::vector<std::uint64_t> pieces_;  // before each row
};

// The same whenever the pieces are the same but for a common shift; what schedules are kept under.
std::uint64_t shape_hash(std::span<const Row> rows);

}  // namespace weir::aggregation
