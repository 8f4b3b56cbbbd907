#include "core/types.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace weir
