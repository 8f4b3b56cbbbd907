#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pattern/application_matrix.hpp"
#include "pattern/stated.hpp"
#include "pattern_support.hpp"

namespace weir::pattern {
namespace {

using testing::HasSubstr;

// Which rank touches each byte; each byte that is touched is touched once.
std::map<std::int64_t, std::uint64_t> owners(const Pattern& pattern) {
  std::map<std::int64_t, std::uint64_t> result;
  EXPECT_TRUE(pattern.check());
  const AccessTable& table = pattern.files[0].writes;
  for (std::uint64_t rank = 0; rank < pattern.ranks; ++rank) {
    for (const Use& use : table.of(rank)) {
      for (const std::int64_t at : list_bytes(pattern.access(use)))
        EXPECT_TRUE(result.emplace(at, rank).second) << at;
    }
  }
  return result;
}

TEST(Stated, PermutationIsOneAndTheSameEverywhere) {
  const auto position = permutation(8, 7);
  EXPECT_EQ(std::set<std::uint32_t>(position.begin(), position.end()).size(), 8U);
  EXPECT_EQ(position, permutation(8, 7));
  EXPECT_NE(position, permutation(8, 8));
  EXPECT_EQ(permutation(3, 0), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(permutation(8, 7), (std::vector<std::uint32_t>{1, 4, 5, 2, 6, 0, 3, 7}));
}

TEST(Stated, GridOfTiles) {
  const Cartesian grid{.processes = {3, 4}, .block = {2, 5}, .element = 3, .seed = 11};
  const auto position = permutation(12, 11);
  const auto owner = owners(*state(grid));
  ASSERT_EQ(owner.size(), 3U * 2 * 4 * 5 * 3);
  for (const auto& [at, rank] : owner) {
    const std::int64_t row = at / 60, column = at % 60 / 3;
    EXPECT_EQ(position[rank], row / 2 * 4 + column / 5);
  }
}

TEST(Stated, GridOfCubes) {
  const auto owner = owners(*state(Cartesian{.processes = {2, 3, 2}, .block = {2, 2, 3}, .element = 1}));
  ASSERT_EQ(owner.size(), 144U);
  for (const auto& [at, rank] : owner) {
    const std::int64_t x = at % 6, y = at / 6 % 6, z = at / 36;
    EXPECT_EQ(rank, static_cast<std::uint64_t>(z / 2 * 6 + y / 2 * 2 + x / 3));
  }
}

// Each rank has one cell in each layer, in a row of its own in x and in y, as the diagonal multi-partition
// has it.
TEST(Stated, BlockTridiagonal) {
  for (const std::uint64_t points : {12, 13, 14, 15}) {
    for (const std::uint64_t q : {1, 2, 3, 4}) {
      const BlockTridiagonal bt{.ranks = q * q, .points = points, .element = 2, .steps = 2};
      const auto owner = owners(*state(bt));
      const std::uint64_t cube = points * points * points * 2;
      ASSERT_EQ(owner.size(), 2 * cube);
      const auto cell = [&](std::uint64_t point) {
        std::uint64_t part = 0;
        for (std::uint64_t end = 0; part < q; ++part) {
          end += points / q + (part < points % q ? 1 : 0);
          if (point < end) break;
        }
        return part;
      };
      for (const auto& [at, rank] : owner) {
        const std::uint64_t point = static_cast<std::uint64_t>(at) % cube / 2;
        const std::uint64_t x = cell(point % points), y = cell(point / points % points);
        const std::uint64_t z = cell(point / points / points);
        ASSERT_EQ((rank % q + z) % q, x);
        ASSERT_EQ((rank / q + q - z) % q, y);
      }
    }
  }
}

TEST(Stated, Ior) {
  auto owner = owners(*state(Ior{.ranks = 3, .transfer = 2, .block = 6, .segments = 2}));
  ASSERT_EQ(owner.size(), 36U);
  for (const auto& [at, rank] : owner) EXPECT_EQ(rank, static_cast<std::uint64_t>(at % 18 / 6));
  owner = owners(*state(Ior{.ranks = 3, .transfer = 2, .block = 6, .segments = 2, .strided = true}));
  ASSERT_EQ(owner.size(), 36U);
  for (const auto& [at, rank] : owner) EXPECT_EQ(rank, static_cast<std::uint64_t>(at % 6 / 2));
}

TEST(Stated, Hpio) {
  const auto owner = owners(*state(Hpio{.ranks = 3, .regions = 5, .region = 4, .spacing = 2}));
  ASSERT_EQ(owner.size(), 60U);
  for (const auto& [at, rank] : owner) {
    EXPECT_LT(at % 6, 4);
    EXPECT_EQ(rank, static_cast<std::uint64_t>(at / 6 % 3));
  }
}

TEST(Stated, WhatCannotBeIsRefused) {
  EXPECT_THAT(state(Cartesian{.processes = {2, 2}, .block = {1}}).error().message(),
              HasSubstr("2 dimensions"));
  EXPECT_FALSE(state(Cartesian{.processes = {2, 0}, .block = {1, 1}}));
  EXPECT_FALSE(state(Cartesian{.processes = {2}, .block = {UINT64_MAX}}));
  EXPECT_FALSE(state(Cartesian{.processes = {1 << 25}, .block = {1}}));
  EXPECT_THAT(state(BlockTridiagonal{.ranks = 8}).error().message(), HasSubstr("no square"));
  EXPECT_THAT(state(BlockTridiagonal{.ranks = 16, .points = 3}).error().message(), HasSubstr("4 cells"));
  EXPECT_THAT(state(Ior{.transfer = 3, .block = 10}).error().message(), HasSubstr("no multiple"));
  EXPECT_FALSE(state(Ior{.transfer = 0}));
  EXPECT_FALSE(state(Hpio{.regions = 0}));
  EXPECT_FALSE(state(Hpio{.ranks = 0}));
  EXPECT_FALSE(state(Hpio{.spacing = UINT64_MAX}));
}

// Nothing here depends on the number of pieces, or it would not end in a test's time.
TEST(Stated, AMillionRanks) {
  const Pattern pattern =
      *state(Cartesian{.processes = {1024, 1024}, .block = {512, 512}, .element = 1024, .seed = 7});
  const AccessTable& table = pattern.files[0].writes;
  EXPECT_LT(table.uses.capacity() * sizeof(Use) + table.rank_begin.capacity() * 8, 100'000'000U);
  EXPECT_EQ(pattern.shapes.size(), 1U);
  const SparseMatrix matrix = application_matrix(pattern);
  ASSERT_TRUE(matrix.check());
  // Per tile row 512 file rows of 1023 neighbours, 511 seams between them; and 1023 seams between tile rows.
  EXPECT_EQ(matrix.sum() / 2, 1024.0 * (512 * 1023 + 511) + 1023);
}

}  // namespace
}  // namespace weir::pattern
