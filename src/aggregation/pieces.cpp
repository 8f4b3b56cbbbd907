#include "aggregation/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace weir::aggregation {

std::uint64_t total_bytes(std::span<const Row> rows) {
  std::uint64_t sum = 0;
  for (const Row& row : rows) sum += row.bytes();
  return sum;
}

std::uint64_t total_pieces(std::span<const Row> rows) {
  std::uint64_t sum = 0;
  for (const Row& row : rows) sum += row.count;
  return sum;
}

namespace {

constexpr std::uint64_t farthest = INT64_MAX;

bool leaves_63_bits(const Row& row) {
  std::uint64_t last = 0;
  return __builtin_mul_overflow(row.count - 1, row.stride, &last) || last > farthest ||
         row.offset > farthest || row.length > farthest || last + row.offset > farthest - row.length;
}

}  // namespace

Status check(std::span<const Row> rows, bool may_overlap) {
  std::uint64_t least = 0;  // where the next row may begin
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const auto wrong = [&](std::string_view what) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("row {} of the pieces (offset {}, length {}, count {}, stride {}) {}", i,
                              row.offset, row.length, row.count, row.stride, what));
    };
    if (row.length == 0 || row.count == 0) return wrong("is empty");
    if (row.count > 1 ? leaves_63_bits(row) : row.offset > farthest || row.length > farthest - row.offset)
      return wrong("leaves the 63 bits of file offsets");
    if (__builtin_mul_overflow(row.length, row.count, &bytes))
      return wrong("has more bytes than can be counted");
    if (row.offset < least) return wrong("begins before its predecessor, or overlaps it");
    if (!may_overlap && row.count > 1 && row.stride < row.length) return wrong("overlaps itself");
    least = may_overlap ? row.begin_of(row.count - 1) : row.end();
  }
  return {};
}

void RowBuilder::add(std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return;
  if (rows_.empty()) {
    rows_.push_back({.offset = offset, .length = length});
    return;
  }
  Row& last = rows_.back();
  if (offset == last.end()) {
    if (last.count == 1) {
      last.length += length;
    } else {
      const Row grown{.offset = last.begin_of(last.count - 1), .length = last.length + length};
      --last.count;
      rows_.push_back(grown);
    }
  } else if (length == last.length && last.count == 1 && offset > last.end()) {
    last.stride = offset - last.offset;
    last.count = 2;
  } else if (length == last.length && last.count > 1 && offset == last.begin_of(last.count)) {
    ++last.count;
  } else {
    rows_.push_back({.offset = offset, .length = length});
  }
}

void RowBuilder::add(const Row& row) {
  if (row.count == 0 || row.length == 0) return;
  if (row.count == 1) return add(row.offset, row.length);
  if (row.stride == row.length) return add(row.offset, row.bytes());
  if (rows_.empty()) {
    rows_.push_back(row);
    return;
  }
  Row& last = rows_.back();
  const bool continues =
      last.length == row.length &&
      (last.count == 1 ? row.offset - last.offset == row.stride
                       : last.stride == row.stride && row.offset == last.begin_of(last.count));
  if (row.offset == last.end()) {
    add(row.offset, row.length);
    add(Row{.offset = row.begin_of(1), .length = row.length, .count = row.count - 1, .stride = row.stride});
  } else if (continues) {
    last.stride = row.stride;
    last.count += row.count;
  } else {
    rows_.push_back(row);
  }
}

Rows RowBuilder::take() {
  return std::exchange(rows_, {});
}

void clip(const Row& row, std::uint64_t begin, std::uint64_t end, RowBuilder& into) {
  if (begin >= end || row.offset >= end) return;
  if (row.count == 1 || row.stride < row.length) {
    for (std::uint64_t i = 0; i < row.count; ++i) {
      const std::uint64_t from = std::max(begin, row.begin_of(i));
      const std::uint64_t to = std::min(end, row.begin_of(i) + row.length);
      if (from < to) into.add(from, to - from);
    }
    return;
  }
  const std::uint64_t first =
      row.offset + row.length > begin ? 0 : (begin - row.length - row.offset) / row.stride + 1;
  const std::uint64_t behind = std::min(row.count, (end - row.offset - 1) / row.stride + 1);
  if (first >= behind) return;
  std::uint64_t whole_first = first;
  std::uint64_t whole_behind = behind;
  const bool cut_first = row.begin_of(first) < begin;
  const bool cut_last = row.begin_of(behind - 1) + row.length > end;
  if (cut_first || (cut_last && behind - 1 == first)) {
    const std::uint64_t from = std::max(begin, row.begin_of(first));
    into.add(from, std::min(end, row.begin_of(first) + row.length) - from);
    ++whole_first;
  }
  if (cut_last && behind - 1 >= whole_first) --whole_behind;
  if (whole_first < whole_behind)
    into.add(Row{.offset = row.begin_of(whole_first),
                 .length = row.length,
                 .count = whole_behind - whole_first,
                 .stride = row.stride});
  if (cut_last && behind - 1 >= whole_first)
    into.add(row.begin_of(behind - 1), end - row.begin_of(behind - 1));
}

Rows clip(std::span<const Row> rows, std::uint64_t begin, std::uint64_t end) {
  RowBuilder builder;
  for (const Row& row : rows) clip(row, begin, end, builder);
  return builder.take();
}

Piece Cursor::piece() const {
  const Row& row = rows_[row_];
  return {.offset = row.begin_of(index_) + within_, .length = row.length - within_};
}

void Cursor::advance(std::uint64_t bytes) {
  within_ += bytes;
  passed_ += bytes;
  const Row& row = rows_[row_];
  if (within_ < row.length) return;
  within_ = 0;
  if (++index_ < row.count) return;
  index_ = 0;
  ++row_;
}

void Cursor::skip(std::uint64_t bytes) {
  while (bytes > 0) {
    if (done()) throw std::logic_error("a walk over pieces went past their end");
    const Row& row = rows_[row_];
    const std::uint64_t left = row.bytes() - index_ * row.length - within_;
    if (bytes >= left) {
      bytes -= left;
      passed_ += left;
      index_ = within_ = 0;
      ++row_;
      continue;
    }
    const std::uint64_t at = index_ * row.length + within_ + bytes;
    index_ = at / row.length;
    within_ = at % row.length;
    passed_ += bytes;
    return;
  }
}

RowIndex::RowIndex(Rows rows) : rows_(std::move(rows)), bytes_(rows_.size() + 1), pieces_(rows_.size() + 1) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    bytes_[i + 1] = bytes_[i] + rows_[i].bytes();
    pieces_[i + 1] = pieces_[i] + rows_[i].count;
  }
}

std::size_t RowIndex::row_before(std::uint64_t offset) const {
  return static_cast<std::size_t>(
      std::lower_bound(rows_.begin(), rows_.end(), offset,
                       [](const Row& row, std::uint64_t value) { return row.offset < value; }) -
      rows_.begin());
}

std::uint64_t RowIndex::bytes_before(std::uint64_t offset) const {
  const std::size_t row_end = row_before(offset);
  if (row_end == 0) return 0;
  const Row& row = rows_[row_end - 1];
  const std::uint64_t piece =
      row.count == 1 ? 0 : std::min(row.count - 1, (offset - row.offset - 1) / row.stride);
  return bytes_[row_end - 1] + piece * row.length + std::min(row.length, offset - row.begin_of(piece));
}

std::uint64_t RowIndex::pieces_before(std::uint64_t offset) const {
  const std::size_t row_end = row_before(offset);
  if (row_end == 0) return 0;
  const Row& row = rows_[row_end - 1];
  return pieces_[row_end - 1] +
         (row.count == 1 ? 1 : std::min(row.count, (offset - row.offset - 1) / row.stride + 1));
}

Cursor RowIndex::at(std::uint64_t position) const {
  const auto above = std::upper_bound(bytes_.begin(), bytes_.end(), position);
  const auto row = static_cast<std::size_t>(above - bytes_.begin()) - 1;
  Cursor cursor(rows_);
  cursor.row_ = row;
  cursor.passed_ = bytes_[row];
  cursor.skip(position - bytes_[row]);
  return cursor;
}

std::uint64_t shape_hash(std::span<const Row> rows) {
  std::uint64_t hash = 0x9e3779b97f4a7c15U + rows.size();
  const auto mix = [&hash](std::uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
    hash *= 0xbf58476d1ce4e5b9U;
    hash ^= hash >> 31U;
  };
  for (const Row& row : rows) {
    mix(row.offset - rows.front().offset);
    mix(row.length);
    mix(row.count);
    mix(row.count > 1 ? row.stride : 0);
  }
  return hash;
}

}  // namespace weir::aggregation
