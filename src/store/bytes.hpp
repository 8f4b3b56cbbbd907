// Numbers as bytes: base-128 with the low bits first, and signed numbers folded so that small ones stay
// small.
//
// Threads: plain functions and values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::store {

inline std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
inline std::uint64_t unzigzag(std::uint64_t folded) {
  return (folded >> 1) ^ (0 - (folded & 1));
}

inline void put_number(std::string& bytes, std::uint64_t number) {
  while (number >= 0x80) {
    bytes.push_back(static_cast<char>(number | 0x80));
    number >>= 7;
  }
  bytes.push_back(static_cast<char>(number));
}

// Reads what put_number wrote; past the end, or with a number longer than 64 bits, it stays failed and gives
// 0.
class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ >= bytes_.size()) return stop();
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift == 63 && byte > 1) return stop();
      number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return number;
    }
    return stop();
  }
  std::string_view take(std::size_t size) {
    if (size > bytes_.size() - at_) {
      stop();
      return {};
    }
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::size_t left() const { return bytes_.size() - at_; }
  bool failed() const { return failed_; }

 private:
  std::uint64_t stop() {
    failed_ = true;
    at_ = bytes_.size();
    return 0;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace weir::store
