#include "core/box.hpp"
#include "core/box_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

namespace weir {
namespace {

Box random_box(const Extent& shape, std::mt19937& random) {
  Box box{Extent(shape.size()), Extent(shape.size())};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    box.offset[d] = random() % (shape[d] + 1);
    box.count[d] = random() % (shape[d] - box.offset[d] + 1);
  }
  return box;
}

Extent random_shape(std::mt19937& random) {
  Extent shape(1 + random() % 4);
  for (auto& n : shape) n = random() % 7;
  return shape;
}

std::set<std::uint64_t> elements_of(const Extent& shape, const Box& box) {
  std::set<std::uint64_t> elements;
  for_each_run(shape, box, [&](const weir::Run& run) {
    for (std::uint64_t i = 0; i < run.length; ++i) EXPECT_TRUE(elements.insert(run.in_array + i).second);
    return true;
  });
  return elements;
}

TEST(Box, RunsCoverTheBoxOnceAndInOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const Extent shape = random_shape(random);
    const Box box = random_box(shape, random);
    std::uint64_t next_in_box = 0;
    std::uint64_t last_end = 0;
    bool first = true;
    for_each_run(shape, box, [&](const weir::Run& run) {
      EXPECT_EQ(run.in_box, next_in_box);
      EXPECT_GT(run.length, 0U);
      EXPECT_TRUE(first || run.in_array > last_end) << "neighbouring runs should have been one";
      next_in_box += run.length;
      last_end = run.in_array + run.length;
      first = false;
      return true;
    });
    EXPECT_EQ(next_in_box, volume(box.count));
    EXPECT_LE(last_end, volume(shape));
  }
}

TEST(Box, SplitKeepsEveryElementAndTheLimit) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    const Extent shape = random_shape(random);
    const Box box = random_box(shape, random);
    const std::uint64_t limit = 1 + random() % 40;
    std::uint64_t position = 0;
    for (const Box& piece : split(box, limit)) {
      EXPECT_LE(volume(piece.count), limit);
      EXPECT_EQ(position_of(piece, box), position) << "pieces follow each other in memory";
      position += volume(piece.count);
    }
    EXPECT_EQ(position, volume(box.count));
  }
}

TEST(Box, CopySharedMovesExactlyTheSharedElements) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const Extent shape = random_shape(random);
    const Box from = random_box(shape, random);
    const Box to = random_box(shape, random);
    std::vector<std::int32_t> source(volume(from.count));
    std::vector<std::int32_t> target(volume(to.count), -1);
    for_each_run(shape, from, [&](const weir::Run& run) {
      for (std::uint64_t i = 0; i < run.length; ++i)
        source[run.in_box + i] = static_cast<std::int32_t>(run.in_array + i);
      return true;
    });
    copy_shared(from, reinterpret_cast<const std::byte*>(source.data()), to,
                reinterpret_cast<std::byte*>(target.data()), 4);
    const auto inside = elements_of(shape, from);
    for_each_run(shape, to, [&](const weir::Run& run) {
      for (std::uint64_t i = 0; i < run.length; ++i) {
        const auto element = static_cast<std::int32_t>(run.in_array + i);
        EXPECT_EQ(target[run.in_box + i], inside.count(run.in_array + i) != 0 ? element : -1);
      }
      return true;
    });
  }
}

TEST(Box, FindOverlapAgreesWithComparingAllPairs) {
  std::mt19937 random(4);
  for (int round = 0; round < 500; ++round) {
    const Extent shape = {20, 20, 3};
    std::vector<Box> boxes;
    for (int i = 0; i < 30; ++i) {
      Box box = random_box(shape, random);
      for (auto& n : box.count) n = std::min<std::uint64_t>(n, 3);
      boxes.push_back(box);
    }
    bool expected = false;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      for (std::size_t j = i + 1; j < boxes.size(); ++j)
        expected = expected || intersect(boxes[i], boxes[j]).has_value();
    }
    const auto found = find_overlap(boxes);
    EXPECT_EQ(found.has_value(), expected);
    if (found) {
      EXPECT_TRUE(intersect(boxes[found->first], boxes[found->second]));
    }
  }
}

TEST(Box, FindOverlapOfAMillionTiles) {
  std::vector<Box> tiles;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    for (std::uint64_t j = 0; j < 1000; ++j) tiles.push_back({{i * 7, j * 5}, {7, 5}});
  }
  std::shuffle(tiles.begin(), tiles.end(), std::mt19937(5));
  EXPECT_FALSE(find_overlap(tiles));
  tiles.push_back({{3500, 2500}, {1, 1}});
  EXPECT_TRUE(find_overlap(tiles));
}

TEST(BoxIndex, AgreesWithComparingAllWhileItGrowsAndShrinks) {
  std::mt19937 random(6);
  for (int round = 0; round < 50; ++round) {
    const Extent shape = {40, 40, 3};
    BoxIndex index;
    for (int i = 0; i < 120; ++i) {
      std::vector<Box> some(1 + random() % 3);
      for (Box& box : some) {
        box = random_box(shape, random);
        for (auto& n : box.count) n = std::min<std::uint64_t>(n, 4);
        const bool expected = std::any_of(index.boxes().begin(), index.boxes().end(), [&](const Box& other) {
          return intersect(box, other).has_value();
        });
        const auto found = index.find(box);
        ASSERT_EQ(found.has_value(), expected);
        if (found) {
          ASSERT_TRUE(intersect(index.boxes()[*found], box));
        }
      }
      index.add(some);
      if (i % 10 == 9) index.remove(index.boxes()[random() % index.boxes().size()]);
    }
  }
}

// A program that writes an array in very many blocks: as many questions and additions as there are blocks.
TEST(BoxIndex, ManyAdditionsOfOne) {
  std::vector<Box> tiles;
  for (std::uint64_t i = 0; i < 200; ++i) {
    for (std::uint64_t j = 0; j < 100; ++j) tiles.push_back({{i * 7, j * 5}, {7, 5}});
  }
  std::shuffle(tiles.begin(), tiles.end(), std::mt19937(5));
  BoxIndex index;
  for (const Box& tile : tiles) {
    ASSERT_FALSE(index.find(tile));
    index.add({&tile, 1});
  }
  EXPECT_TRUE(index.find({{700, 250}, {1, 1}}));
  EXPECT_FALSE(index.find({{1400, 250}, {1, 1}}));
}

TEST(Box, ChecksNameWhatIsWrong) {
  EXPECT_FALSE(check_shape({}, 8));
  EXPECT_FALSE(check_shape(Extent(17, 1), 8));
  EXPECT_FALSE(check_shape({1ULL << 60U, 2}, 8));
  EXPECT_FALSE(check_shape({UINT64_MAX, UINT64_MAX}, 1));
  EXPECT_TRUE(check_shape({UINT64_MAX, 0}, 8));
  EXPECT_TRUE(check_shape({1ULL << 60U}, 4));
  EXPECT_FALSE(check_box({{0}, {1}}, {1, 1}));
  EXPECT_FALSE(check_box({{2}, {UINT64_MAX}}, {5})) << "the sum would overflow";
  EXPECT_TRUE(check_box({{5}, {0}}, {5}));
  EXPECT_NE(check_box({{0, 3}, {1, 2}}, {4, 4}).error().message().find("dimension 1"), std::string::npos);
}

}  // namespace
}  // namespace weir
