// Lustre's attribute, built here field by field as its documentation lays it out, in both byte orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "aggregation/file_system.hpp"
#include "core/file.hpp"

namespace weir::aggregation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Bytes {
 public:
  explicit Bytes(bool big) : big_(big) {}
  Bytes& put(std::uint64_t number, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      data.push_back(static_cast<std::byte>(number >> (8 * (big_ ? size - 1 - i : i)) & 0xFFU));
    return *this;
  }
  std::vector<std::byte> data;

 private:
  bool big_;
};

// lov_user_md_v1, or _v3 with a pool.
std::vector<std::byte> plain(bool big, std::uint32_t magic, std::uint32_t unit, std::uint16_t count,
                             const std::vector<std::uint32_t>& targets, std::uint32_t pattern = 1) {
  Bytes bytes(big);
  bytes.put(magic, 4).put(pattern, 4).put(0x200000401, 8).put(77, 8).put(unit, 4).put(count, 2).put(3, 2);
  if (magic == 0x0BD30BD0) bytes.put(0x6c6f6f70, 8).put(0, 8);
  for (const std::uint32_t target : targets) bytes.put(1, 8).put(2, 8).put(0, 4).put(target, 4);
  return bytes.data;
}

struct Component {
  std::uint64_t begin, end;
  std::uint32_t flags;
  std::vector<std::byte> layout;
};

std::vector<std::byte> composite(bool big, const std::vector<Component>& components) {
  Bytes bytes(big);
  std::size_t at = 32 + 48 * components.size();
  std::size_t size = at;
  for (const auto& component : components) size += component.layout.size();
  bytes.put(0x0BD60BD0, 4).put(size, 4).put(1, 4).put(0, 2).put(components.size(), 2).put(0, 8).put(0, 8);
  std::uint32_t id = 1;
  for (const auto& component : components) {
    bytes.put(id++, 4).put(component.flags, 4).put(component.begin, 8).put(component.end, 8).put(at, 4);
    bytes.put(component.layout.size(), 4).put(0, 4).put(0, 8).put(0, 4);
    at += component.layout.size();
  }
  for (const auto& component : components)
    bytes.data.insert(bytes.data.end(), component.layout.begin(), component.layout.end());
  return bytes.data;
}

// Of a file of one part.
Striping striping_of(const std::vector<std::byte>& attribute) {
  const auto parts = parse_lov(attribute).value();
  EXPECT_EQ(parts.size(), 1U);
  return parts.front().striping;
}

class Lustre : public testing::TestWithParam<bool> {};  // big-endian or not

TEST_P(Lustre, PlainLayouts) {
  const auto v1 = striping_of(plain(GetParam(), 0x0BD10BD0, 1U << 20U, 4, {7, 3, 0, 11}));
  EXPECT_EQ(v1.unit, 1U << 20U);
  EXPECT_EQ(v1.factor, 4U);
  EXPECT_THAT(v1.targets, ElementsAre(7, 3, 0, 11));
  const auto v3 = striping_of(plain(GetParam(), 0x0BD30BD0, 65536, 2, {5, 6}));
  EXPECT_EQ(v3.factor, 2U);
  EXPECT_THAT(v3.targets, ElementsAre(5, 6));
  const auto empty = striping_of(plain(GetParam(), 0x0BD10BD0, 65536, 2, {}));
  EXPECT_EQ(empty.factor, 2U);
  EXPECT_TRUE(empty.targets.empty());
  EXPECT_EQ(striping_of(plain(GetParam(), 0x0BD10BD0, 65536, 0, {}, 0x100)).factor,
            1U);  // on the metadata server
}

TEST_P(Lustre, CompositeFilesAreStripedAsTheComponentThatIsTouched) {
  const auto attribute = composite(
      GetParam(),
      {{0, 1U << 20U, 0x10, plain(GetParam(), 0x0BD10BD0, 1U << 20U, 1, {2})},
       {1U << 20U, 1ULL << 30U, 0x10, plain(GetParam(), 0x0BD30BD0, 1U << 20U, 4, {0, 1, 2, 3})},
       {0, UINT64_MAX, 0x1, plain(GetParam(), 0x0BD10BD0, 4U << 20U, 8, {})},  // stale: a mirror out of date
       {1ULL << 30U, UINT64_MAX, 0, plain(GetParam(), 0x0BD10BD0, 4U << 20U, 16, {})}});
  const auto parts = parse_lov(attribute).value();
  const auto factor = [&](std::uint64_t begin, std::uint64_t end) {
    return striping_between(parts, begin, end).factor;
  };
  EXPECT_EQ(factor(0, 1000), 1U);
  EXPECT_EQ(factor(0, 0), 1U);
  EXPECT_EQ(factor(0, 1U << 29U), 4U);
  EXPECT_EQ(factor(0, 1ULL << 40U), 16U);
  // A file grows: what counts is where a call is, not where the file began.
  EXPECT_EQ(factor((1U << 20U) - 10, (1U << 20U) + 11), 4U);
  EXPECT_EQ(factor(1ULL << 35U, 1ULL << 35U), 16U);
  EXPECT_EQ(factor(UINT64_MAX - 1, UINT64_MAX), 16U);
  EXPECT_FALSE(striping_between({}, 0, 10).known());
}

TEST_P(Lustre, AComponentOnAllTargetsLeavesOthersKnown) {
  const auto attribute =
      composite(GetParam(), {{0, 1000, 0x10, plain(GetParam(), 0x0BD10BD0, 65536, 2, {1, 2})},
                             {1000, UINT64_MAX, 0, plain(GetParam(), 0x0BD10BD0, 65536, 0xFFFF, {})}});
  const auto parts = parse_lov(attribute).value();
  EXPECT_EQ(striping_between(parts, 0, 10).factor, 2U);
  EXPECT_FALSE(striping_between(parts, 2000, 3000).known());
}

TEST_P(Lustre, DamagedOnesAreRefused) {
  const auto good = composite(
      GetParam(), {{0, UINT64_MAX, 0x10, plain(GetParam(), 0x0BD10BD0, 1U << 20U, 4, {1, 2, 3, 4})}});
  ASSERT_TRUE(parse_lov(good));
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto result = parse_lov(std::span(good).first(size));
    ASSERT_FALSE(result) << size;
    EXPECT_THAT(result.error().message(), HasSubstr("lustre.lov"));
  }
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {  // whatever comes out, it comes out
    auto bad = good;
    for (int n = 0; n < 4; ++n) bad[random() % bad.size()] = static_cast<std::byte>(random());
    if (const auto parts = parse_lov(bad)) {
      EXPECT_TRUE(check(striping_between(*parts, 0, 10)));
    }
  }
  EXPECT_FALSE(parse_lov(plain(GetParam(), 0x0BD10BD0, 0, 4, {})));
  EXPECT_FALSE(parse_lov(plain(GetParam(), 0x0BD10BD0, 65536, 4, {1, 2})));
  EXPECT_FALSE(parse_lov(plain(GetParam(), 0x0BD10BD0, 65536, 0xFFFF, {})));
  EXPECT_FALSE(parse_lov(plain(GetParam(), 0x0BD70BD0, 65536, 1, {})));
}

INSTANTIATE_TEST_SUITE_P(ByteOrders, Lustre, testing::Bool());

TEST(Striping, Described) {
  EXPECT_EQ(parse_striping("1MiB x 4").value(), (Striping{.unit = 1U << 20U, .factor = 4}));
  EXPECT_EQ(parse_striping("65536x12").value(), (Striping{.unit = 65536, .factor = 12}));
  for (const char* wrong : {"", "x", "4", "0x4", "1M x 0", "1M x -1", "M x 4", "1M x 4 x"})
    EXPECT_FALSE(parse_striping(wrong)) << wrong;
}

TEST(Striping, WhatIsAskedForIsWhatWouldBeRead) {
  const Striping wanted{.unit = 4U << 20U, .factor = 12};
  EXPECT_EQ(striping_of(lov_for(wanted)), wanted);
}

TEST(Striping, TargetsAloneHaveUsualStripes) {
  EXPECT_TRUE((Striping{.factor = 4}.asked_for()));
  EXPECT_FALSE(Striping().asked_for());
  EXPECT_EQ(completed({.factor = 4}), (Striping{.unit = 1U << 20U, .factor = 4}));
  EXPECT_EQ(completed({.unit = 4096, .factor = 4}), (Striping{.unit = 4096, .factor = 4}));
  EXPECT_FALSE(completed({}).known());
}

TEST(FileSystem, OrdinaryFilesHaveNoStripes) {
  std::string folder =
      std::string(std::getenv("TMPDIR") == nullptr ? "/tmp" : std::getenv("TMPDIR")) + "/weir-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::filesystem::path path = std::filesystem::path(folder) / "file";
  const auto file = open_file(path, O_CREAT | O_RDWR);
  ASSERT_TRUE(file);
  const FileSystemFacts facts = ask_file_system(file->get());
  if (!facts.lustre) {
    EXPECT_TRUE(facts.parts.empty());
    EXPECT_FALSE(create_striped(path.string() + "2", {.unit = 65536, .factor = 2}).value());
    EXPECT_FALSE(std::filesystem::exists(path.string() + "2"));
  }
  EXPECT_FALSE(ask_file_system(-1).shared_locks);
  EXPECT_FALSE(create_striped(folder + "/none/file", {.unit = 65536, .factor = 2}));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weir::aggregation
