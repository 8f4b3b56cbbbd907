// Element types at run time: names, sizes, and the values of attributes.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.hpp"

namespace weir {

std::size_t size_of(Type type);
std::string_view name_of(Type type);  // "float64", as NumPy spells it
Result<Type> parse_type(std::string_view name);
Result<Type> type_from_code(int code);  // for values that crossed a C interface or a file

// Calls visit(T{}) with a value of the C++ element type that `type` stands for.
template <class Visitor>
decltype(auto) with_type(Type type, Visitor&& visit) {
  switch (type) {
    case Type::int8:
      return visit(std::int8_t{});
    case Type::int16:
      return visit(std::int16_t{});
    case Type::int32:
      return visit(std::int32_t{});
    case Type::int64:
      return visit(std::int64_t{});
    case Type::uint8:
      return visit(std::uint8_t{});
    case Type::uint16:
      return visit(std::uint16_t{});
    case Type::uint32:
      return visit(std::uint32_t{});
    case Type::uint64:
      return visit(std::uint64_t{});
    case Type::float32:
      return visit(float{});
    case Type::float64:
      return visit(double{});
    case Type::long_double:
      return visit(static_cast<long double>(0));
    case Type::complex64:
      return visit(std::complex<float>{});
    case Type::complex128:
      return visit(std::complex<double>{});
    case Type::complex_long_double:
      return visit(std::complex<long double>{});
  }
  throw std::logic_error("unknown element type");
}

// Elements whose type is known at run time.
struct Values {
  Type type = Type::uint8;
  std::vector<std::byte> bytes;

  std::size_t size() const { return bytes.size() / size_of(type); }
  bool operator==(const Values&) const = default;

  // A long double has bytes that belong to no value and hold whatever was in memory: they become zero, so
  // that equal values are equal bytes.
  void clear_padding();

  template <class T>
  static Values of(std::span<const T> elements) {
    Values values{.type = type_of<T>(), .bytes = std::vector<std::byte>(elements.size_bytes())};
    if (!elements.empty()) std::memcpy(values.bytes.data(), elements.data(), elements.size_bytes());
    return values;
  }
};

// What an attribute holds: a text, or a short one-dimensional array.
using AttributeValue = std::variant<std::string, Values>;

// One element as text: "3", "1.5", "(1,-2)". Reads back to the same value.
std::string format_element(Type type, const std::byte* element);
// The reverse; the text must be used up and the value must fit. Appends to `bytes`.
Status parse_element(Type type, const std::string& text, std::vector<std::byte>& bytes);

}  // namespace weir
