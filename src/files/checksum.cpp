#include "files/checksum.hpp"

#include <fmt/format.h>
#include <xxhash.h>
#if defined(__x86_64__)
// Redirects the functions below to those for this processor; the plain ones in Debian's library are built for
// the oldest.
#include <xxh_x86dispatch.h>
#endif

#include <new>

namespace weir::files {

std::uint64_t checksum(const std::byte* data, std::uint64_t size) {
  return XXH3_64bits(data, size);
}

Checksummer::Checksummer() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(static_cast<XXH3_state_t*>(state_));
}

Checksummer::~Checksummer() {
  XXH3_freeState(static_cast<XXH3_state_t*>(state_));
}

void Checksummer::add(const std::byte* data, std::uint64_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state_), data, size);
}

std::uint64_t Checksummer::value() const {
  return XXH3_64bits_digest(static_cast<const XXH3_state_t*>(state_));
}

void append_row(std::vector<std::uint64_t>& table, std::uint64_t slot, const Box& box,
                std::uint64_t checksum) {
  table.push_back(slot);
  table.insert(table.end(), box.offset.begin(), box.offset.end());
  table.insert(table.end(), box.count.begin(), box.count.end());
  table.push_back(checksum);
}

Result<std::vector<ChecksumRow>> parse_table(const std::vector<std::uint64_t>& table, const Extent& shape,
                                             std::uint64_t slots) {
  const std::uint64_t width = row_width(shape);
  if (table.size() % width != 0) return fail(ErrorCode::corrupt, "the table of checksums has a broken row");
  std::vector<ChecksumRow> rows;
  const auto dimensions = static_cast<std::ptrdiff_t>(shape.size());
  for (auto at = table.begin(); at != table.end(); at += static_cast<std::ptrdiff_t>(width)) {
    ChecksumRow row{
        .slot = at[0],
        .box = {Extent(at + 1, at + 1 + dimensions), Extent(at + 1 + dimensions, at + 1 + 2 * dimensions)},
        .checksum = at[static_cast<std::ptrdiff_t>(width) - 1]};
    if (row.slot >= slots)
      return fail(ErrorCode::corrupt,
                  fmt::format("the table of checksums names slot {} of {}", row.slot, slots));
    WEIR_TRY(check_box(row.box, shape));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace weir::files
