// Checksums of blocks (XXH3, 64 bits), and the tables in which a file keeps them.
//
// The table of variable T is the array weir/checksum/T of uint64, one row per block:
//     slot, offset in each dimension, count in each dimension, checksum of the block's bytes in C order
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/box.hpp"

namespace weir::files {

std::uint64_t checksum(const std::byte* data, std::uint64_t size);

// The checksum of data that arrives in pieces.
class Checksummer {
 public:
  Checksummer();
  Checksummer(const Checksummer&) = delete;
  Checksummer& operator=(const Checksummer&) = delete;
  ~Checksummer();
  void add(const std::byte* data, std::uint64_t size);
  std::uint64_t value() const;

 private:
  void* state_;
};

inline std::uint64_t row_width(const Extent& shape) {
  return 2 + 2 * shape.size();
}
void append_row(std::vector<std::uint64_t>& table, std::uint64_t slot, const Box& box,
                std::uint64_t checksum);

struct ChecksumRow {
  std::uint64_t slot = 0;
  Box box;
  std::uint64_t checksum = 0;
};
// The table came from a file: a row that lies outside the array is a failure.
Result<std::vector<ChecksumRow>> parse_table(const std::vector<std::uint64_t>& table, const Extent& shape,
                                             std::uint64_t slots);

// Names under which a file keeps what belongs to Weir. No program can use them.
inline constexpr std::string_view reserved_prefix = "weir/";
inline std::string checksum_name(const std::string& variable) {
  return "weir/checksum/" + variable;
}
inline std::string steps_name(const std::string& variable) {
  return "weir/steps/" + variable;
}

}  // namespace weir::files
