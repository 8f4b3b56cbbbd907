#include "backends/hdf5_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weir::backends::hdf5 {

namespace {

constexpr std::uint64_t short_row = 4096;

}  // namespace

std::vector<Piece> pieces_of(std::span<const SourceBlock> blocks, std::size_t element_size,
                             std::uint64_t most_bytes) {
  std::vector<Piece> pieces;
  for (const SourceBlock& block : blocks) {
    if (block.box.empty()) continue;
    if (volume(block.box.count) * element_size <= most_bytes) {
      pieces.push_back({block.box, block.data});
      continue;
    }
    for (Box& part : split(block.box, most_bytes / element_size)) {
      const std::byte* data = block.data + position_of(part, block.box) * element_size;
      pieces.push_back({std::move(part), data});
    }
  }
  return pieces;
}

bool is_fragmented(const Box& box, const Extent& shape, std::size_t element_size) {
  std::uint64_t row = element_size;
  for (std::size_t d = shape.size(); d-- > 0;) {
    row *= box.count[d];
    if (box.count[d] != shape[d]) break;
  }
  return row < short_row && row < volume(box.count) * element_size;
}

Status check_name(const std::string& name) {
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part(name.data() + at, end - at);
    if (part.empty() || part == ".") {
      return fail(ErrorCode::invalid_argument, fmt::format("HDF5 cannot store a variable named '{}'", name),
                  "leave out empty parts and '.' between the slashes");
    }
    at = end + 1;
  }
  return {};
}

Extent chunk_of(const Extent& shape, std::size_t element_size, std::uint64_t limit) {
  Extent chunk(shape.size(), 1);
  if (Box::whole(shape).empty()) return chunk;
  std::uint64_t slice = element_size;  // bytes of the dimensions after d
  for (const std::uint64_t n : shape) slice *= n;
  bool cut = false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::uint64_t length = shape[d];
    slice /= length;
    if (cut) {
      chunk[d] = length;
      continue;
    }
    const std::uint64_t rows = std::clamp<std::uint64_t>(limit / slice, 1, length);
    const std::uint64_t parts = (length + rows - 1) / rows;
    chunk[d] = (length + parts - 1) / parts;
    cut = slice <= limit;
  }
  return chunk;
}

}  // namespace weir::backends::hdf5
