#include "aggregation/cycles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>

namespace weir::aggregation {

namespace {

struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t pieces = 0;
};

Amount before(std::span<const RowIndex> sources, std::uint64_t offset) {
  Amount sum;
  for (const RowIndex& source : sources) {
    sum.bytes += source.bytes_before(offset);
    sum.pieces += source.pieces_before(offset);
  }
  return sum;
}

}  // namespace

std::vector<std::uint64_t> cut_cycles(std::span<const RowIndex> sources, const CycleLimits& limits) {
  std::uint64_t begin = UINT64_MAX;
  std::uint64_t end = 0;
  for (const RowIndex& source : sources) {
    if (source.bytes() == 0) continue;
    begin = std::min(begin, source.rows().front().offset);
    end = std::max(end, source.rows().back().end());
  }
  if (begin >= end) return {};

  std::vector<std::uint64_t> boundaries = {begin};
  while (boundaries.back() < end) {
    const std::uint64_t from = boundaries.back();
    const Amount base = before(sources, from);
    const auto fits = [&](std::uint64_t to) {
      const Amount sum = before(sources, to);
      return sum.bytes - base.bytes <= limits.bytes && sum.pieces - base.pieces <= limits.pieces;
    };
    std::uint64_t good = from + 1;
    std::uint64_t bad = end + 1;
    if (fits(end)) {
      good = end;
    } else {
      while (bad - good > 1) {
        const std::uint64_t middle = good + (bad - good) / 2;
        (fits(middle) ? good : bad) = middle;
      }
      const std::uint64_t aligned = limits.alignment > 1 ? good / limits.alignment * limits.alignment : good;
      // Only where it does not make the cycle much smaller: tiny buffers must not become tinier.
      if (aligned > from && before(sources, aligned).bytes - base.bytes >= limits.bytes / 2) good = aligned;
    }
    boundaries.push_back(good);
  }
  return boundaries;
}

Status check(std::span<const std::uint64_t> boundaries, std::span<const RowIndex> sources,
             const CycleLimits& limits) {
  const auto wrong = [](std::string what) { return fail(ErrorCode::invalid_argument, std::move(what)); };
  std::uint64_t total = 0;
  for (const RowIndex& source : sources) total += source.bytes();
  if (boundaries.empty()) return total == 0 ? Status() : wrong("there is data and no cycle");
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c + 1 < boundaries.size(); ++c) {
    if (boundaries[c] >= boundaries[c + 1]) return wrong(fmt::format("cycle {} has no bytes", c));
    const Amount from = before(sources, boundaries[c]);
    const Amount to = before(sources, boundaries[c + 1]);
    sum += to.bytes - from.bytes;
    if (boundaries[c + 1] - boundaries[c] > 1 &&
        (to.bytes - from.bytes > limits.bytes || to.pieces - from.pieces > limits.pieces))
      return wrong(fmt::format("cycle {} takes {} bytes in {} pieces", c, to.bytes - from.bytes,
                               to.pieces - from.pieces));
  }
  return sum == total ? Status() : wrong(fmt::format("cycles take {} of {} bytes", sum, total));
}

Rows merged(std::span<const RowIndex> sources, std::uint64_t begin, std::uint64_t end) {
  std::vector<Rows> parts;
  for (const RowIndex& source : sources) {
    Rows rows = clip(source.rows(), begin, end);
    if (!rows.empty()) parts.push_back(std::move(rows));
  }
  if (parts.size() == 1) return std::move(parts.front());

  using Entry = std::pair<std::uint64_t, std::size_t>;  // where a part goes on, and which
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
  std::vector<Cursor> cursors;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    cursors.emplace_back(parts[i]);
    next.emplace(parts[i].front().offset, i);
  }
  RowBuilder builder;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  while (!next.empty()) {
    const std::size_t i = next.top().second;
    next.pop();
    const Piece piece = cursors[i].piece();
    if (piece.offset > to) {
      builder.add(from, to - from);
      from = piece.offset;
      to = from;
    }
    if (from == to) from = piece.offset, to = from;
    to = std::max(to, piece.offset + piece.length);
    cursors[i].advance(piece.length);
    if (!cursors[i].done()) next.emplace(cursors[i].piece().offset, i);
  }
  builder.add(from, to - from);
  return builder.take();
}

Filled fill_small_gaps(std::span<const Row> runs, std::uint64_t gap,
                       const std::function<bool(const Piece&)>& may) {
  RowBuilder builder;
  RowBuilder gaps;
  Cursor cursor(runs);
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t data = 0;    // bytes of the run that are wanted
  std::uint64_t filled = 0;  // and that are not
  for (; !cursor.done(); cursor.advance(cursor.piece().length)) {
    const Piece piece = cursor.piece();
    const Piece between{.offset = to, .length = piece.offset - to};
    if (data > 0 && between.length <= gap && filled + between.length <= data && (!may || may(between))) {
      filled += between.length;
      gaps.add(between.offset, between.length);
    } else {
      builder.add(from, to - from);
      from = piece.offset;
      data = filled = 0;
    }
    to = piece.offset + piece.length;
    data += piece.length;
  }
  builder.add(from, to - from);
  return {.runs = builder.take(), .gaps = gaps.take()};
}

Filled fill_nobodys_gaps(std::span<const Row> runs, const RowIndex& taken) {
  return fill_small_gaps(runs, small_gap, [&](const Piece& gap) {
    return taken.bytes_before(gap.offset + gap.length) == taken.bytes_before(gap.offset);
  });
}

}  // namespace weir::aggregation
