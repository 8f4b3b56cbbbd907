#include "core/types.hpp"

#include <fmt/format.h>

#include <array>
#include <cfloat>
#include <charconv>
#include <cstdlib>

namespace weir {

namespace {

constexpr std::array<std::string_view, type_count> names = {
    "int8",   "int16",   "int32",   "int64",      "uint8",     "uint16",     "uint32",
    "uint64", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble"};

template <class T>
std::string format_number(T value) {
  if constexpr (std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::uint8_t>) {
    return fmt::format("{}", static_cast<int>(value));
  } else {
    return fmt::format("{}", value);
  }
}

template <class T>
std::string format_number(std::complex<T> value) {
  return fmt::format("({},{})", value.real(), value.imag());
}

template <class T>
bool parse_number(const char*& text, T& value) {
  // Not strtod(): its decimal point is that of the program's locale.
  const auto [stop, error] = std::from_chars(text, text + std::strlen(text), value);
  text = stop;
  return error == std::errc{};
}

template <class T>
bool parse_number(const char*& text, std::complex<T>& value) {
  T real{};
  T imaginary{};
  if (*text++ != '(' || !parse_number(text, real) || *text++ != ',' || !parse_number(text, imaginary) ||
      *text++ != ')') {
    return false;
  }
  value = {real, imaginary};
  return true;
}

}  // namespace

std::size_t size_of(Type type) {
  return with_type(type, [](auto element) { return sizeof(element); });
}

std::string_view name_of(Type type) {
  const auto code = static_cast<std::size_t>(type);
  return code < names.size() ? names[code] : "unknown";
}

Result<Type> parse_type(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Type>(i);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("unknown element type '{}'{}", name, suggest(name, {names.begin(), names.end()})));
}

Result<Type> type_from_code(int code) {
  if (code < 0 || code >= type_count) {
    return fail(ErrorCode::invalid_argument, fmt::format("unknown element type number {}", code));
  }
  return static_cast<Type>(code);
}

void Values::clear_padding() {
  constexpr std::size_t whole = sizeof(long double);
  constexpr std::size_t used = LDBL_MANT_DIG == 64 ? 10 : whole;  // x86's has 80 bits
  if (type != Type::long_double && type != Type::complex_long_double) return;
  for (std::size_t at = 0; at + whole <= bytes.size(); at += whole)
    std::memset(bytes.data() + at + used, 0, whole - used);
}

std::string format_element(Type type, const std::byte* element) {
  return with_type(type, [&](auto value) {
    std::memcpy(&value, element, sizeof(value));
    return format_number(value);
  });
}

Status parse_element(Type type, const std::string& text, std::vector<std::byte>& bytes) {
  return with_type(type, [&](auto value) -> Status {
    const char* at = text.c_str();
    if (!parse_number(at, value) || at != text.c_str() + text.size()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("'{}' is not a value of type {}", text, name_of(type)));
    }
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof(value));
    return {};
  });
}

}  // namespace weir
