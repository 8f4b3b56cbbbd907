// Kernels and expected values of STREAM, and the grid of HPCG: what needs no MPI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "workloads/hpcg_grid.hpp"
#include "workloads/share.hpp"
#include "workloads/stream_kernels.hpp"

namespace weir::workloads {
namespace {

TEST(StreamKernels, ComputeWhatStreamDefines) {
  std::vector<double> a = {1, 2, 3};
  std::vector<double> b = {0, 0, 0};
  std::vector<double> c = {0, 0, 0};
  stream_copy(c.data(), a.data(), 3);
  EXPECT_THAT(c, testing::ElementsAre(1, 2, 3));
  stream_scale(b.data(), c.data(), 3);
  EXPECT_THAT(b, testing::ElementsAre(0.42, 0.84, testing::DoubleEq(1.26)));
  stream_add(c.data(), a.data(), b.data(), 3);
  EXPECT_THAT(c, testing::ElementsAre(1.42, 2.84, testing::DoubleEq(4.26)));
  stream_triad(a.data(), b.data(), c.data(), 3);
  EXPECT_DOUBLE_EQ(a[0], 0.42 + 0.42 * 1.42);
  EXPECT_DOUBLE_EQ(a[2], 1.26 + 0.42 * 4.26);
}

class Expected : public testing::Test {
 protected:
  static constexpr std::uint64_t first = 123'456'789;
  static constexpr std::size_t n = 20'011;
  Expected() : a(n), b(n), c(n) { stream_initialise(a, b, c, first); }
  void loop(int times) {
    for (int i = 0; i < times; ++i) {
      stream_copy(c.data(), a.data(), n);
      stream_scale(b.data(), c.data(), n);
      stream_add(c.data(), a.data(), b.data(), n);
      stream_triad(a.data(), b.data(), c.data(), n);
      for (const Kernel kernel : all_kernels) expected.advance(kernel);
    }
  }
  std::vector<double> a, b, c;
  StreamExpectation expected;
};

TEST_F(Expected, AgreesWithTheKernelsAfterManyLoops) {
  loop(1000);
  EXPECT_TRUE(expected.compare(Kernel::triad, a, first));
  EXPECT_TRUE(expected.compare(Kernel::scale, b, first));
  EXPECT_TRUE(expected.compare(Kernel::add, c, first));
}

TEST_F(Expected, NoticesOneWrongElementAndNamesIt) {
  loop(3);
  a[17] *= 1 + 1e-9;
  const Status found = expected.compare(Kernel::triad, a, first);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), testing::HasSubstr("element 123456806 of 'triad'"));
  a[17] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(expected.compare(Kernel::triad, a, first));
}

TEST_F(Expected, NoticesABlockInTheWrongPlaceAndAnOldOne) {
  loop(3);
  EXPECT_FALSE(expected.compare(Kernel::triad, a, first + 1));
  EXPECT_FALSE(expected.compare(Kernel::triad, a, first + 4096));
  const std::vector<double> old = a;
  loop(1);
  EXPECT_FALSE(expected.compare(Kernel::triad, old, first));
  EXPECT_TRUE(expected.compare(Kernel::triad, a, first));
}

TEST_F(Expected, LastsAsLongAsItSays) {
  for (int i = 0; i < most_stream_loops; ++i) {
    for (const Kernel kernel : all_kernels) expected.advance(kernel);
  }
  const std::vector<double> zero(8, 0.0);
  const Status found = expected.compare(Kernel::triad, zero, 0);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), testing::Not(testing::HasSubstr("inf")));
}

TEST(Share, CoversEverythingOnce) {
  for (const std::uint64_t n : {0ULL, 1ULL, 6ULL, 7ULL, 1'000'003ULL, ~0ULL}) {
    for (const std::uint64_t parts : {1ULL, 2ULL, 3ULL, 7ULL, 32ULL}) {
      std::uint64_t next = 0;
      for (std::uint64_t part = 0; part < parts; ++part) {
        const auto [first, count] = share_of(n, part, parts);
        EXPECT_EQ(first, next);
        next = first + count;
      }
      EXPECT_EQ(next, n);
    }
  }
}

TEST(HpcgGrid, FactorsRanksAsACube) {
  EXPECT_EQ(factor_ranks(1), (Index3{1, 1, 1}));
  EXPECT_EQ(factor_ranks(2), (Index3{1, 1, 2}));
  EXPECT_EQ(factor_ranks(4), (Index3{1, 2, 2}));
  EXPECT_EQ(factor_ranks(7), (Index3{1, 1, 7}));
  EXPECT_EQ(factor_ranks(64), (Index3{4, 4, 4}));
  EXPECT_EQ(factor_ranks(12), (Index3{2, 2, 3}));
}

TEST(HpcgGrid, WeakScalingGivesEveryRankTheSame) {
  const auto part = make_grid({16, 8, 24}, false, 5, 8);
  ASSERT_TRUE(part) << part.error().message();
  EXPECT_EQ(part->levels, 4);
  EXPECT_EQ(part->global, (Index3{32, 16, 48}));
  EXPECT_EQ(part->first, (Index3{16, 0, 24}));
}

TEST(HpcgGrid, StrongScalingCoversTheGridOnceInUnitsOfTheCoarsestLevel) {
  for (const int ranks : {1, 2, 3, 4, 7, 12}) {
    std::int64_t points = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto part = make_grid({24, 40, 56}, true, rank, ranks);
      ASSERT_TRUE(part) << part.error().message();
      EXPECT_EQ(part->levels, 4);
      for (const std::int64_t local : part->local) EXPECT_EQ(local % 8, 0);
      points += part->points();
    }
    EXPECT_EQ(points, 24 * 40 * 56);
  }
}

TEST(HpcgGrid, HasAsManyLevelsAsTheSizeAllows) {
  EXPECT_EQ(make_grid({8, 8, 8}, false, 0, 1)->levels, 4);
  EXPECT_EQ(make_grid({12, 16, 16}, false, 0, 1)->levels, 3);
  EXPECT_EQ(make_grid({7, 16, 16}, false, 0, 1)->levels, 1);
  EXPECT_EQ(make_grid({8, 8, 8}, true, 0, 7)->levels, 1);  // seven ranks share eight layers
  EXPECT_FALSE(make_grid({8, 8, 6}, true, 0, 7));
  EXPECT_FALSE(make_grid({0, 8, 8}, false, 0, 1));
  EXPECT_FALSE(make_grid({1 << 20, 1 << 20, 1 << 20}, false, 0, 1));
}

// What one side sends is what the other expects, point by point.
TEST(HpcgGrid, HalosOfNeighboursMatch) {
  constexpr int ranks = 12;
  std::vector<GridPart> parts;
  std::vector<Halo> halos;
  for (int rank = 0; rank < ranks; ++rank) {
    parts.push_back(*make_grid({10, 6, 7}, true, rank, ranks));
    halos.emplace_back(parts.back());
  }
  int surfaces = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto mine = static_cast<std::size_t>(rank);
    // Every point one step outside has a place of its own, and holds the same point as its owner sent.
    const Index3 n = parts[mine].local;
    for (std::int64_t z = -1; z <= n[2]; ++z) {
      for (std::int64_t y = -1; y <= n[1]; ++y) {
        for (std::int64_t x = -1; x <= n[0]; ++x) {
          const std::int64_t place = halos[mine].place_of({x, y, z});
          const Index3 global = {parts[mine].first[0] + x, parts[mine].first[1] + y,
                                 parts[mine].first[2] + z};
          const bool outside = global[0] < 0 || global[1] < 0 || global[2] < 0 || global[0] >= 10 ||
                               global[1] >= 6 || global[2] >= 7;
          ASSERT_EQ(place < 0, outside);
          if (place < parts[mine].points()) continue;
          for (const Neighbour& from : halos[mine].neighbours()) {
            const std::int64_t k = place - from.receive_first;
            if (k < 0 || k >= from.receive_count) continue;
            const auto theirs = static_cast<std::size_t>(from.rank);
            for (const Neighbour& back : halos[theirs].neighbours()) {
              if (back.rank != rank) continue;
              ASSERT_EQ(static_cast<std::int64_t>(back.send.size()), from.receive_count);
              const std::int64_t row = back.send[static_cast<std::size_t>(k)];
              const GridPart& other = parts[theirs];
              EXPECT_EQ(global, (Index3{other.first[0] + row % other.local[0],
                                        other.first[1] + row / other.local[0] % other.local[1],
                                        other.first[2] + row / other.local[0] / other.local[1]}));
              ++surfaces;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(surfaces, 100);
}

}  // namespace
}  // namespace weir::workloads
