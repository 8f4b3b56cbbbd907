// Tables of checksums, as a file has them: no crash, and every row that is accepted lies inside its array.
#include <cstdlib>
#include <cstring>

#include "files/checksum.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  if (size < 4) return 0;
  const std::size_t dimensions = data[0] % 4;
  Extent shape;
  for (std::size_t d = 0; d < dimensions; ++d) shape.push_back(data[1 + d % 3] % 16U);
  const std::uint64_t slots = data[3] % 8;
  std::vector<std::uint64_t> table((size - 4) / 8);
  if (!table.empty()) std::memcpy(table.data(), data + 4, table.size() * 8);
  const auto rows = files::parse_table(table, shape, slots);
  if (!rows) return 0;
  for (const files::ChecksumRow& row : *rows) {
    if (row.slot >= slots || row.box.offset.size() != shape.size()) std::abort();
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (row.box.offset[d] + row.box.count[d] > shape[d]) std::abort();
  }
  return 0;
}
