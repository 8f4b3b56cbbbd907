#include "pattern/packed_file.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace weir::pattern {

namespace {

constexpr std::string_view magic = "WEIRPATT";

void put_fixed(std::string& out, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(value >> shift & 0xffU));
}

std::uint64_t get_fixed(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + byte])} << (8 * byte);
  return value;
}

tl::unexpected<Failure> corrupt(std::string what, std::string advice = "record the program again") {
  return fail(ErrorCode::corrupt, std::move(what), std::move(advice));
}

}  // namespace

PackedHeader PackedHeader::of(std::uint64_t version, std::string_view body) {
  return {version, body.size(), XXH3_64bits(body.data(), body.size())};
}

std::string PackedHeader::text() const {
  std::string bytes(magic);
  for (const std::uint64_t value : {version, body_size, checksum}) put_fixed(bytes, value);
  return bytes;
}

Result<PackedHeader> PackedHeader::read(std::string_view bytes) {
  if (bytes.substr(0, magic.size()) != magic)
    return corrupt("this is no pattern file", "make one with weir record");
  if (bytes.size() < size) return corrupt("the pattern file is truncated");
  return PackedHeader{get_fixed(bytes, 8), get_fixed(bytes, 16), get_fixed(bytes, 24)};
}

Status PackedHeader::check(std::string_view body) const {
  if (body_size > body.size())
    return corrupt(
        fmt::format("the pattern file is truncated: {} of {} bytes are there", body.size(), body_size));
  if (body_size < body.size()) return corrupt("the pattern file goes on behind its end");
  if (XXH3_64bits(body.data(), body.size()) != checksum)
    return corrupt("the pattern file is damaged: its checksum is wrong");
  return {};
}

Result<std::uint64_t> NumberReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == bytes_.size()) return broken("ends in the middle of a number");
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    if (shift == 63 && byte > 1) break;
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return broken("has a number beyond 64 bits");
}

Result<std::uint64_t> NumberReader::count(std::uint64_t each) {
  WEIR_ASSIGN(const std::uint64_t value, number());
  if (value > (bytes_.size() - at_) / each) return broken("announces more than it holds");
  return value;
}

Result<std::int64_t> NumberReader::difference(std::int64_t from) {
  WEIR_ASSIGN(const std::uint64_t value, number());
  const std::uint64_t change = value >> 1U ^ (value & 1U ? ~std::uint64_t{0} : 0);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + change);
}

Result<std::string_view> NumberReader::text() {
  WEIR_ASSIGN(const std::uint64_t size, count(1));
  at_ += size;
  return bytes_.substr(at_ - size, size);
}

tl::unexpected<Failure> NumberReader::broken(std::string_view what) const {
  return fail(ErrorCode::corrupt,
              fmt::format("the pattern file {} (at byte {})", what, PackedHeader::size + at_));
}

}  // namespace weir::pattern
