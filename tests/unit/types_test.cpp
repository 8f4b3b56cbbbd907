#include "core/types.hpp"

#include <gtest/gtest.h>

#include <cfloat>
#include <cstring>

#include <cmath>
#include <limits>

namespace weir {
namespace {

TEST(Types, NamesAndSizesRoundTrip) {
  for (int code = 0; code < type_count; ++code) {
    const Type type = *type_from_code(code);
    EXPECT_EQ(*parse_type(name_of(type)), type);
    with_type(type, [&](auto element) {
      EXPECT_EQ(type_of<decltype(element)>(), type);
      EXPECT_EQ(size_of(type), sizeof(element));
    });
  }
  EXPECT_FALSE(type_from_code(-1));
  EXPECT_FALSE(type_from_code(type_count));
  EXPECT_NE(parse_type("flaot64").error().message().find("did you mean 'float64'"), std::string::npos);
}

TEST(Types, CIntegersMapByWidth) {
  EXPECT_EQ(type_of<char>(), std::is_signed_v<char> ? Type::int8 : Type::uint8);
  EXPECT_EQ(type_of<long>(), Type::int64);
  EXPECT_EQ(type_of<long long>(), Type::int64);
  EXPECT_EQ(type_of<unsigned long>(), Type::uint64);
  EXPECT_EQ(type_of<unsigned short>(), Type::uint16);
}

template <class T>
void expect_round_trip(T value) {
  const std::string text = format_element(type_of<T>(), reinterpret_cast<const std::byte*>(&value));
  std::vector<std::byte> bytes;
  ASSERT_TRUE(parse_element(type_of<T>(), text, bytes)) << text;
  T back;
  ASSERT_EQ(bytes.size(), sizeof(T));
  std::memcpy(&back, bytes.data(), sizeof(T));
  if constexpr (std::is_floating_point_v<T>) {
    EXPECT_TRUE(back == value || (std::isnan(back) && std::isnan(value))) << text;
  } else {
    EXPECT_EQ(back, value) << text;
  }
}

TEST(Types, ElementsAsTextReadBackExactly) {
  expect_round_trip<std::int8_t>(-128);
  expect_round_trip<std::uint8_t>(255);
  expect_round_trip<std::int64_t>(INT64_MIN);
  expect_round_trip<std::uint64_t>(UINT64_MAX);
  expect_round_trip<float>(0.1F);
  expect_round_trip<double>(std::numeric_limits<double>::denorm_min());
  expect_round_trip<double>(std::numeric_limits<double>::max());
  expect_round_trip<double>(-std::numeric_limits<double>::infinity());
  expect_round_trip<double>(std::nan(""));
  expect_round_trip<long double>(0.1L);
  expect_round_trip<std::complex<double>>({0.1, -1e300});
  std::vector<std::byte> bytes;
  EXPECT_FALSE(parse_element(Type::int8, "300", bytes));
  EXPECT_FALSE(parse_element(Type::float64, "1e999", bytes));
  EXPECT_FALSE(parse_element(Type::float64, "1x", bytes));
  EXPECT_FALSE(parse_element(Type::complex64, "(1", bytes));
  EXPECT_FALSE(parse_element(Type::complex64, "", bytes));
  EXPECT_TRUE(bytes.empty());
}

TEST(Values, PaddingOfLongDoublesIsCleared) {
  for (const Type type : {Type::long_double, Type::complex_long_double, Type::float64}) {
    Values values{.type = type, .bytes = std::vector<std::byte>(4 * size_of(type))};
    for (std::size_t i = 0; i < 4 * size_of(type) / size_of(Type::long_double); ++i) {
      const long double number = 1.5L + static_cast<long double>(i);
      std::memcpy(values.bytes.data() + i * sizeof number, &number, sizeof number);
    }
    Values other = values;
    if (type != Type::float64 && sizeof(long double) == 16 && LDBL_MANT_DIG == 64) {
      for (std::size_t at = 10; at < other.bytes.size(); at += at % 16 == 15 ? 11 : 1)
        other.bytes[at] = std::byte{0x5A};
      EXPECT_NE(other, values);
    }
    values.clear_padding();
    other.clear_padding();
    EXPECT_EQ(other, values) << name_of(type);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(format_element(type, other.bytes.data() + i * size_of(type)),
                format_element(type, values.bytes.data() + i * size_of(type)));
  }
}

}  // namespace
}  // namespace weir
