#include "pattern/datatype.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pattern_support.hpp"

namespace weir::pattern {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Numbers = std::vector<std::int64_t>;
const Datatype number = Datatype::named(8);

std::vector<std::int64_t> stream(const Datatype& type, std::uint64_t count) {
  std::vector<std::int64_t> bytes;
  type.for_each_block(count, [&](std::int64_t offset, std::uint64_t length) {
    for (std::uint64_t at = 0; at < length; ++at) bytes.push_back(offset + static_cast<std::int64_t>(at));
    return true;
  });
  return bytes;
}

TEST(Datatype, VectorsStayCompressed) {
  const auto vector = Datatype::vector(1000, 2, 5, number);
  ASSERT_TRUE(vector);
  EXPECT_EQ(vector->size(), 16'000U);
  EXPECT_EQ(vector->extent(), 8 * (999 * 5 + 2));
  EXPECT_THAT(*flatten(*vector), ElementsAre(Access{0, {16, {{1000, 40}}}, 1}));
  EXPECT_THAT(*flatten(*Datatype::contiguous(7, number)), ElementsAre(Access::contiguous(0, 56)));
  EXPECT_THAT(*flatten(*Datatype::hvector(3, 1, 100, *vector)),
              ElementsAre(testing::_, testing::_, testing::_))
      << "interleaved parts are kept apart";
}

TEST(Datatype, RegularListsBecomeLoops) {
  Numbers displacements, lengths(500, 2);
  for (std::int64_t at = 0; at < 500; ++at) displacements.push_back(at * 10);
  EXPECT_THAT(*flatten(*Datatype::indexed(lengths, displacements, number)),
              ElementsAre(Access{0, {16, {{500, 80}}}, 1}));
  EXPECT_THAT(*flatten(*Datatype::hindexed_block(1, Numbers{0, 8, 16, 100}, number)),
              ElementsAre(Access::contiguous(0, 24), Access::contiguous(100, 8)));
}

TEST(Datatype, SubarraysInBothOrders) {
  const auto c = Datatype::subarray(Numbers{10, 20}, Numbers{3, 4}, Numbers{2, 5}, ArrayOrder::c, number);
  EXPECT_THAT(*flatten(*c), ElementsAre(Access{(2 * 20 + 5) * 8, {32, {{3, 160}}}, 1}));
  EXPECT_EQ(c->extent(), 1600);
  const auto fortran =
      Datatype::subarray(Numbers{20, 10}, Numbers{4, 3}, Numbers{5, 2}, ArrayOrder::fortran, number);
  EXPECT_EQ(*flatten(*fortran), *flatten(*c));
}

TEST(Datatype, CyclicArraysCoverEverythingOnce) {
  std::map<std::int64_t, int> touched;
  for (std::int64_t rank = 0; rank < 6; ++rank) {
    const auto type =
        Datatype::darray(6, rank, Numbers{11, 13}, std::vector{Distribution::cyclic, Distribution::block},
                         Numbers{2, default_argument}, Numbers{2, 3}, ArrayOrder::c, number);
    ASSERT_TRUE(type);
    EXPECT_EQ(type->extent(), 11 * 13 * 8);
    for (const std::int64_t at : stream(*type, 1)) {
      ++touched[at];
      EXPECT_EQ(at / 8 / 13 / 2 % 2, rank / 3);
      EXPECT_EQ(at / 8 % 13 / 5, rank % 3);
    }
  }
  EXPECT_EQ(touched.size(), 11U * 13 * 8);
}

TEST(Datatype, StructuresArePaddedAndResized) {
  const auto pair =
      Datatype::structure(Numbers{1, 1}, Numbers{0, 8}, std::vector{number, Datatype::named(1)});
  EXPECT_EQ(pair->size(), 9U);
  EXPECT_EQ(pair->extent(), 16);
  const auto packed = Datatype::resized(0, 9, *pair);
  EXPECT_EQ(packed->extent(), 9);
  EXPECT_THAT(*flatten(*Datatype::contiguous(4, *packed)), ElementsAre(Access::contiguous(0, 36)));
  // Where one part was resized, it alone sets the bounds.
  const auto mixed = Datatype::structure(Numbers{1, 1}, Numbers{0, 100}, std::vector{*packed, number});
  EXPECT_EQ(mixed->extent(), 9);
  EXPECT_EQ(mixed->true_upper(), 108);
}

TEST(Datatype, AbsurdOnesAreRefused) {
  EXPECT_THAT(Datatype::contiguous(-1, number).error().message(), HasSubstr("length -1"));
  EXPECT_THAT(Datatype::contiguous(INT64_MAX, number).error().message(), HasSubstr("larger than any"));
  EXPECT_FALSE(Datatype::vector(2, 1, INT64_MAX, number));
  EXPECT_FALSE(Datatype::vector(-2, 1, 1, number));
  EXPECT_FALSE(Datatype::hindexed(Numbers{1}, Numbers{INT64_MAX - 3}, number));
  EXPECT_FALSE(Datatype::hindexed(Numbers{1, 2}, Numbers{0}, number));
  EXPECT_FALSE(Datatype::hindexed(Numbers{1, 1}, Numbers{INT64_MIN + 8, INT64_MAX - 16}, number));
  EXPECT_FALSE(Datatype::subarray(Numbers{4}, Numbers{3}, Numbers{2}, ArrayOrder::c, number));
  EXPECT_FALSE(Datatype::subarray(Numbers{}, Numbers{}, Numbers{}, ArrayOrder::c, number));
  EXPECT_FALSE(
      Datatype::subarray(Numbers{INT64_MAX, 4}, Numbers{1, 1}, Numbers{0, 0}, ArrayOrder::c, number));
  EXPECT_FALSE(Datatype::darray(4, 4, Numbers{4}, std::vector{Distribution::block}, Numbers{-1}, Numbers{4},
                                ArrayOrder::c, number));
  EXPECT_FALSE(Datatype::darray(4, 0, Numbers{9}, std::vector{Distribution::block}, Numbers{2}, Numbers{4},
                                ArrayOrder::c, number));
  EXPECT_FALSE(Datatype::darray(4, 0, Numbers{9}, std::vector{Distribution::none}, Numbers{-1}, Numbers{4},
                                ArrayOrder::c, number));
  EXPECT_FALSE(Datatype::resized(1, INT64_MAX, number));
  Result<Datatype> deep = number;
  unsigned depth = 0;
  for (; deep && depth < 1000; ++depth) deep = Datatype::hvector(2, 1, 0, *deep);
  EXPECT_FALSE(deep);
  // Twice itself again and again: few nodes, but no list of its parts ends.
  Result<Datatype> doubled = number;
  for (int round = 0; round < 40; ++round) {
    const Numbers places{0, 8 * ((std::int64_t{1} << round) + 1)};
    doubled =
        Datatype::structure(Numbers{1, 1}, places, std::vector{*doubled, *Datatype::resized(0, 8, *doubled)});
    ASSERT_TRUE(doubled);
  }
  const auto flat = flatten(*doubled);
  EXPECT_TRUE(!flat || flat->size() <= 1U << 20U);
}

TEST(View, WithoutOneBytesAreBytes) {
  EXPECT_THAT(*View().accesses(100, 50), ElementsAre(Access::contiguous(100, 50)));
  EXPECT_TRUE(View().accesses(100, 0)->empty());
  EXPECT_FALSE(View().accesses(UINT64_MAX - 2, 50));
  EXPECT_FALSE(View().accesses(std::uint64_t{INT64_MAX} - 5, 50));
}

TEST(View, TilesOfAFile) {
  const auto tile = Datatype::subarray(Numbers{8, 12}, Numbers{4, 3}, Numbers{4, 6}, ArrayOrder::c, number);
  const auto view = View::make(1000, number, *tile);
  ASSERT_TRUE(view);
  // Three steps in one call: the file type three times.
  EXPECT_THAT(*view->accesses(0, 3 * 96),
              ElementsAre(Access{1000 + (4 * 12 + 6) * 8, {24, {{3, 768}, {4, 96}}}, 1}));
  EXPECT_THAT(*view->accesses(4, 16), ElementsAre(Access::contiguous(1000 + (5 * 12 + 7) * 8, 16)));
}

TEST(View, WrongOnesAreRefused) {
  EXPECT_FALSE(View::make(-1, number, number));
  EXPECT_THAT(View::make(0, number, Datatype::named(12)).error().message(), HasSubstr("no multiple"));
  EXPECT_FALSE(View::make(7, number, *Datatype::hindexed(Numbers{1}, Numbers{-8}, number)));
  EXPECT_TRUE(View::make(8, number, *Datatype::hindexed(Numbers{1}, Numbers{-8}, number)));
  EXPECT_FALSE(View::make(0, number, *Datatype::contiguous(0, number))->accesses(0, 8));
}

// Random file types that ascend, and every part of the data through them, byte by byte.
TEST(View, EveryRangeAgreesWithTheStream) {
  Random random(8);
  for (int round = 0; round < 60; ++round) {
    Datatype type = Datatype::named(static_cast<std::uint64_t>(draw(random, 1, 3)));
    for (int nested = 0; nested < 3; ++nested) {
      const std::int64_t kind = draw(random, 0, 3), extent = type.extent();
      if (kind == 0) {
        type = *Datatype::hvector(draw(random, 1, 3), 1, extent + draw(random, 0, 4), type);
      } else if (kind == 1) {
        Numbers places{0};
        while (places.size() < 4) places.push_back(places.back() + extent + draw(random, 0, 5));
        type = *Datatype::hindexed_block(1, places, type);
      } else if (kind == 2) {
        type = *Datatype::subarray(Numbers{3, 2}, Numbers{2, 1},
                                   Numbers{draw(random, 0, 1), draw(random, 0, 1)}, ArrayOrder::c, type);
      } else {
        type = *Datatype::resized(0, extent + draw(random, 0, 3), type);
      }
    }
    const auto view = View::make(5, Datatype::named(1), type);
    ASSERT_TRUE(view) << view.error().message();
    std::vector<std::int64_t> bytes = stream(type, 4);
    for (std::int64_t& at : bytes) at += 5;
    const auto size = static_cast<std::int64_t>(bytes.size());
    for (int part = 0; part < 40; ++part) {
      const std::int64_t begin = draw(random, 0, size - 1), count = draw(random, 1, size - begin);
      const auto accesses =
          view->accesses(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(count));
      ASSERT_TRUE(accesses);
      std::vector<std::int64_t> found;
      for (const Access& access : *accesses) {
        ASSERT_TRUE(check(access));
        const auto list = list_bytes(access);
        found.insert(found.end(), list.begin(), list.end());
      }
      std::sort(found.begin(), found.end());
      ASSERT_EQ(found, std::vector<std::int64_t>(bytes.begin() + begin, bytes.begin() + begin + count));
    }
  }
}

}  // namespace
}  // namespace weir::pattern
