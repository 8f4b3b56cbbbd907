#include "telemetry/msgpack.hpp"

#include <bit>
#include <cstring>

namespace weir::telemetry {

namespace {

std::uint64_t big_endian_at(const char* at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8U | static_cast<unsigned char>(at[i]);
  return value;
}

// How a token is laid out, from its first byte: a head (that byte and the lengths or numbers behind it), and
// a body of `body` bytes behind that. A token whose body's length stands in the head needs the head first.
struct Layout {
  Token::Type type = Token::Type::nil;
  std::uint8_t head = 0;  // bytes, the first included; 0: not MessagePack
  std::uint8_t length_size =
      0;                   // bytes of the head that give the length of the body or the count of elements
  std::uint8_t fixed = 0;  // that length or count where the first byte itself gives it
};

Layout layout_of(unsigned char first) {
  using Type = Token::Type;
  if (first < 0x80 || first >= 0xe0) return {first < 0x80 ? Type::number : Type::negative, 1};
  if (first < 0x90) return {Type::map, 1, 0, static_cast<std::uint8_t>(first & 0x0fU)};
  if (first < 0xa0) return {Type::array, 1, 0, static_cast<std::uint8_t>(first & 0x0fU)};
  if (first < 0xc0) return {Type::text, 1, 0, static_cast<std::uint8_t>(first & 0x1fU)};
  switch (first) {
    case 0xc0:
      return {Type::nil, 1};
    case 0xc2:
    case 0xc3:
      return {Type::boolean, 1};
    case 0xc4:
      return {Type::binary, 2, 1};
    case 0xc5:
      return {Type::binary, 3, 2};
    case 0xc6:
      return {Type::binary, 5, 4};
    case 0xc7:
      return {Type::extension, 3, 1};
    case 0xc8:
      return {Type::extension, 4, 2};
    case 0xc9:
      return {Type::extension, 6, 4};
    case 0xca:
      return {Type::real, 5};
    case 0xcb:
      return {Type::real, 9};
    case 0xcc:
      return {Type::number, 2};
    case 0xcd:
      return {Type::number, 3};
    case 0xce:
      return {Type::number, 5};
    case 0xcf:
      return {Type::number, 9};
    case 0xd0:
      return {Type::negative, 2};
    case 0xd1:
      return {Type::negative, 3};
    case 0xd2:
      return {Type::negative, 5};
    case 0xd3:
      return {Type::negative, 9};
    case 0xd4:
      return {Type::extension, 2, 0, 1};
    case 0xd5:
      return {Type::extension, 2, 0, 2};
    case 0xd6:
      return {Type::extension, 2, 0, 4};
    case 0xd7:
      return {Type::extension, 2, 0, 8};
    case 0xd8:
      return {Type::extension, 2, 0, 16};
    case 0xd9:
      return {Type::text, 2, 1};
    case 0xda:
      return {Type::text, 3, 2};
    case 0xdb:
      return {Type::text, 5, 4};
    case 0xdc:
      return {Type::array, 3, 2};
    case 0xdd:
      return {Type::array, 5, 4};
    case 0xde:
      return {Type::map, 3, 2};
    case 0xdf:
      return {Type::map, 5, 4};
    default:
      return {};  // 0xc1 is nothing
  }
}

bool has_body(Token::Type type) {
  return type == Token::Type::text || type == Token::Type::binary || type == Token::Type::extension;
}

bool has_elements(Token::Type type) {
  return type == Token::Type::array || type == Token::Type::map;
}

std::int64_t sign_extended(std::uint64_t value, int bytes) {
  const int unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

}  // namespace

bool MsgPackReader::next(Token& token) {
  if (at_ == end_) return false;
  const auto first = static_cast<unsigned char>(*at_);
  const Layout layout = layout_of(first);
  if (layout.head == 0 || end_ - at_ < layout.head) return false;
  const std::uint64_t length =
      layout.length_size > 0 ? big_endian_at(at_ + 1, layout.length_size) : layout.fixed;
  const int size = layout.head - 1;  // of a number in the head
  token.type = layout.type;
  switch (layout.type) {
    case Token::Type::nil:
      break;
    case Token::Type::boolean:
      token.number = first & 1U;
      break;
    case Token::Type::number:
      token.number = size == 0 ? first : big_endian_at(at_ + 1, size);
      break;
    case Token::Type::negative:
      token.negative =
          size == 0 ? static_cast<signed char>(first) : sign_extended(big_endian_at(at_ + 1, size), size);
      if (token.negative >= 0) {  // a signed form may hold a number that is not below 0
        token.type = Token::Type::number;
        token.number = static_cast<std::uint64_t>(token.negative);
      }
      break;
    case Token::Type::real: {
      const std::uint64_t bits = big_endian_at(at_ + 1, size);
      token.real =
          size == 4 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits)) : std::bit_cast<double>(bits);
      break;
    }
    case Token::Type::array:
    case Token::Type::map:
      token.number = length;
      break;
    case Token::Type::extension:
      token.extension_type = static_cast<std::int8_t>(at_[layout.head - 1]);
      [[fallthrough]];
    case Token::Type::text:
    case Token::Type::binary:
      if (static_cast<std::uint64_t>(end_ - at_ - layout.head) < length) return false;
      token.bytes = {at_ + layout.head, length};
      at_ += length;
      break;
  }
  at_ += layout.head;
  return true;
}

bool MsgPackReader::skip() {
  MsgPackMeasure measure;
  const auto length = measure.measure(rest(), static_cast<std::uint64_t>(end_ - at_));
  if (!length || !*length) return false;
  at_ += **length;
  return true;
}

Result<std::optional<std::size_t>> MsgPackMeasure::measure(std::string_view bytes, std::uint64_t longest) {
  const auto ended = [&]() -> std::optional<std::size_t> {
    if (at_ > bytes.size()) return std::nullopt;  // all that is missing is the body of the last token
    return static_cast<std::size_t>(at_);
  };
  if (at_ > 0 && depth_ == 0) return ended();
  while (at_ < bytes.size()) {
    const char* const token = bytes.data() + at_;
    const Layout layout = layout_of(static_cast<unsigned char>(*token));
    if (layout.head == 0) return fail(ErrorCode::corrupt, "not MessagePack: byte 0xc1");
    if (bytes.size() - at_ < layout.head) return std::nullopt;
    const std::uint64_t length =
        layout.length_size > 0 ? big_endian_at(token + 1, layout.length_size) : layout.fixed;
    at_ += layout.head + (has_body(layout.type) ? length : 0);
    // Each element takes at least one byte: a count that cannot fit is refused before they arrive.
    const std::uint64_t elements =
        has_elements(layout.type) ? length * (layout.type == Token::Type::map ? 2 : 1) : 0;
    if (at_ > longest || elements > longest - at_)
      return fail(ErrorCode::corrupt, "a message announces more than " + std::to_string(longest) + " bytes");
    if (depth_ > 0) --open_[depth_ - 1];
    if (elements > 0) {
      if (depth_ == deepest_nesting)
        return fail(ErrorCode::corrupt, "nested deeper than " + std::to_string(deepest_nesting) + " levels");
      open_[depth_++] = elements;
    }
    while (depth_ > 0 && open_[depth_ - 1] == 0) --depth_;
    if (depth_ == 0) return ended();
  }
  return std::nullopt;
}

void MsgPackWriter::big_endian(std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) byte(static_cast<unsigned>(value >> (8 * i) & 0xffU));
}

void MsgPackWriter::number(std::uint64_t value) {
  if (value < 0x80) return byte(static_cast<unsigned>(value));
  const int size = value <= UINT8_MAX ? 0 : value <= UINT16_MAX ? 1 : value <= UINT32_MAX ? 2 : 3;
  byte(0xcc + static_cast<unsigned>(size));
  big_endian(value, 1 << size);
}

void MsgPackWriter::text(std::string_view value) {
  if (value.size() < 32) {
    byte(0xa0 + static_cast<unsigned>(value.size()));
  } else if (value.size() <= UINT8_MAX) {
    byte(0xd9);
    big_endian(value.size(), 1);
  } else {
    byte(0xdb);
    big_endian(value.size(), 4);
  }
  target_->append(value);
}

void MsgPackWriter::binary(std::string_view value) {
  byte(0xc6);
  big_endian(value.size(), 4);
  target_->append(value);
}

void MsgPackWriter::array(std::uint32_t elements) {
  if (elements < 16) return byte(0x90 + elements);
  byte(0xdd);
  big_endian(elements, 4);
}

void MsgPackWriter::map(std::uint32_t pairs) {
  if (pairs < 16) return byte(0x80 + pairs);
  byte(0xdf);
  big_endian(pairs, 4);
}

void MsgPackWriter::event_time(std::int64_t nanoseconds) {
  byte(0xd7);
  byte(0);
  big_endian(static_cast<std::uint64_t>(nanoseconds / 1'000'000'000), 4);
  big_endian(static_cast<std::uint64_t>(nanoseconds % 1'000'000'000), 4);
}

}  // namespace weir::telemetry
