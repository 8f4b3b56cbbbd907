// What files of patterns and recordings are made of: a header that knows whether the rest is whole, and
// numbers of variable length, seven bits a byte, the lowest first.
//
// Ownership: a NumberReader does not own its bytes. Threads: plain functions of their arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace weir::pattern {

// Magic, version, length and checksum of the body.
struct PackedHeader {
  static constexpr std::size_t size = 32;
  std::uint64_t version = 0;
  std::uint64_t body_size = 0;
  std::uint64_t checksum = 0;

  static PackedHeader of(std::uint64_t version, std::string_view body);
  std::string text() const;

  // Fails for what is no file of a pattern, or not even a whole header.
  static Result<PackedHeader> read(std::string_view bytes);
  // Whether this is the body, whole and undamaged.
  Status check(std::string_view body) const;
};

class NumberWriter {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out_.push_back(static_cast<char>(value | 0x80U));
    out_.push_back(static_cast<char>(value));
  }
  // Small numbers of either sign become small numbers. Differences wrap around, here and in the reader.
  void difference(std::int64_t from, std::int64_t to) {
    const std::uint64_t value = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    number(value << 1U ^ (value >> 63U ? ~std::uint64_t{0} : 0));
  }
  void text(std::string_view value) {
    number(value.size());
    out_ += value;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Of a body; failures name the place in the file.
class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : bytes_(bytes) {}

  Result<std::uint64_t> number();
  // A number of things each of which takes at least `each` bytes.
  Result<std::uint64_t> count(std::uint64_t each);
  Result<std::int64_t> difference(std::int64_t from);
  Result<std::string_view> text();
  bool done() const { return at_ == bytes_.size(); }
  tl::unexpected<Failure> broken(std::string_view what) const;

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace weir::pattern
