#include "interpose/call_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weir::interpose {

namespace {

using aggregation::RowBuilder;
using aggregation::Rows;

// Beyond this the list of pieces is larger than the data is worth.
constexpr std::uint64_t most_rows = std::uint64_t{1} << 24U;

tl::unexpected<Failure> too_irregular() {
  return fail(ErrorCode::unsupported, "a data type has too many pieces");
}

void move(Rows& rows, std::uint64_t distance) {
  for (aggregation::Row& row : rows) row.offset += distance;
}

// The innermost level becomes a row; those around it are walked over.
Status add(RowBuilder& builder, const pattern::Access& access) {
  const auto& levels = access.shape.levels;
  if (access.repeat != 1) return fail(ErrorCode::unsupported, "a view shows some bytes more than once");
  const auto base = static_cast<std::uint64_t>(access.offset);
  if (levels.empty()) {
    builder.add(base, access.shape.block);
    return {};
  }
  std::vector<std::uint64_t> index(levels.size() - 1, 0);
  for (;;) {
    std::uint64_t offset = base;
    for (std::size_t i = 0; i < index.size(); ++i)
      offset += index[i] * static_cast<std::uint64_t>(levels[i].stride);
    builder.add({.offset = offset,
                 .length = access.shape.block,
                 .count = levels.back().count,
                 .stride = static_cast<std::uint64_t>(levels.back().stride)});
    if (builder.rows().size() > most_rows) return too_irregular();
    std::size_t level = index.size();
    while (level > 0 && ++index[level - 1] == levels[level - 1].count) index[--level] = 0;
    if (level == 0) return {};
  }
}

// Accesses that lie between each other's pieces, piece by piece in file order: which is the order of the
// data, see in_file_order().
Status add_interleaved(RowBuilder& builder, const std::vector<pattern::Access>& accesses) {
  std::vector<pattern::PieceCursor> cursors;
  cursors.reserve(accesses.size());
  for (const pattern::Access& access : accesses) {
    if (access.repeat != 1) return fail(ErrorCode::unsupported, "a view shows some bytes more than once");
    cursors.emplace_back(access);
  }
  const auto later = [&](std::size_t a, std::size_t b) {
    return cursors[a].piece().offset > cursors[b].piece().offset;
  };
  std::vector<std::size_t> heap(cursors.size());
  std::iota(heap.begin(), heap.end(), std::size_t{0});
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    pattern::PieceCursor& cursor = cursors[heap.back()];
    const pattern::Piece piece = cursor.piece();
    builder.add(static_cast<std::uint64_t>(piece.offset), piece.length);
    if (builder.rows().size() > most_rows) return too_irregular();
    cursor.advance();
    if (cursor.done())
      heap.pop_back();
    else
      std::push_heap(heap.begin(), heap.end(), later);
  }
  return {};
}

bool one_behind_the_other(const std::vector<pattern::Access>& accesses) {
  for (std::size_t i = 1; i < accesses.size(); ++i)
    if (accesses[i].offset < pattern::end(accesses[i - 1])) return false;
  return true;
}

}  // namespace

void FileRows::set_view(pattern::View view) {
  view_ = std::move(view);
  known_ = false;
}

Status FileRows::update(Rows& rows, std::uint64_t offset, std::uint64_t bytes) {
  const pattern::Datatype& type = view_.file_type();
  if (known_ && bytes == bytes_) {
    if (offset == offset_) return {};
    const auto moved = static_cast<std::int64_t>((offset - offset_) * view_.elementary_size());
    const auto size = static_cast<std::int64_t>(type.size());
    if (size > 0 && moved % size == 0) {
      // The farthest byte must stay in reach; if it does not, the way below says so.
      std::int64_t distance = 0, end = 0;
      if (!__builtin_mul_overflow(moved / size, type.extent(), &distance) &&
          (rows.empty() ||
           !__builtin_add_overflow(static_cast<std::int64_t>(rows.back().end()), distance, &end))) {
        move(rows, static_cast<std::uint64_t>(distance));
        offset_ = offset;
        return {};
      }
    }
  }
  known_ = false;
  rows.clear();
  WEIR_ASSIGN(const auto accesses, view_.accesses(offset, bytes));
  RowBuilder builder;
  if (one_behind_the_other(accesses)) {
    for (const pattern::Access& access : accesses) WEIR_TRY(add(builder, access));
  } else {
    WEIR_TRY(add_interleaved(builder, accesses));
  }
  rows = builder.take();
  known_ = true;
  offset_ = offset;
  bytes_ = bytes;
  return {};
}

bool in_file_order(const pattern::Datatype& file_type) {
  if (file_type.size() == 0) return true;
  std::int64_t first = 0, reached = std::numeric_limits<std::int64_t>::min();
  std::uint64_t blocks = 0;
  bool ordered = true;
  file_type.for_each_block(1, [&](std::int64_t offset, std::uint64_t length) {
    if (blocks++ == 0) first = offset;
    ordered = offset >= reached && blocks <= most_rows;
    reached = offset + static_cast<std::int64_t>(length);
    return ordered;
  });
  return ordered && file_type.extent() >= reached - first;
}

Status MemoryRows::update(Rows& rows, const void* buffer, std::uint64_t count, MPI_Datatype type) {
  const auto base = reinterpret_cast<std::uint64_t>(buffer);
  WEIR_ASSIGN(TypeTree tree, read_type(type));
  if (tree_ && count == count_ && *tree_ == tree) {
    move(rows, base - base_);
    base_ = base;
    return {};
  }
  tree_.reset();
  rows.clear();
  RowBuilder builder;
  if (tree.combiner == MPI_COMBINER_NAMED && static_cast<std::int64_t>(tree.size) == tree.extent) {
    builder.add(base, count * tree.size);
  } else {
    WEIR_ASSIGN(const pattern::Datatype datatype, to_datatype(tree));
    bool fits = true;
    datatype.for_each_block(count, [&](std::int64_t offset, std::uint64_t length) {
      builder.add(base + static_cast<std::uint64_t>(offset), length);
      fits = builder.rows().size() <= most_rows;
      return fits;
    });
    if (!fits) return too_irregular();
  }
  rows = builder.take();
  tree_ = std::move(tree);
  count_ = count;
  base_ = base;
  return {};
}

}  // namespace weir::interpose
