#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pattern/application_matrix.hpp"
#include "pattern/shuffle.hpp"
#include "pattern/stated.hpp"
#include "pattern_support.hpp"

namespace weir::pattern {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The example of section 3.1 of the SetMatch paper.
Pattern sequence(const std::vector<std::uint32_t>& order, std::uint64_t ranks) {
  Pattern pattern(ranks);
  FilePattern& file = pattern.add_file("example");
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t at = 0; at < order.size(); ++at) {
      if (order[at] == rank)
        pattern.add(file.writes, rank, Access::contiguous(static_cast<std::int64_t>(at) * 10, 10));
    }
  }
  return pattern;
}

TEST(ApplicationMatrix, WorkedExampleOfThePaper) {
  const Pattern pattern = sequence({0, 4, 1, 0, 4, 1, 5, 2, 3, 4, 1, 3, 2, 5, 4, 2, 5, 4, 0, 4, 1}, 6);
  ASSERT_TRUE(pattern.check());
  const double expected[6][6] = {{0, 1, 0, 0, 4, 0}, {1, 0, 0, 1, 4, 1}, {0, 0, 0, 2, 1, 3},
                                 {0, 1, 2, 0, 1, 0}, {4, 4, 1, 1, 0, 2}, {0, 1, 3, 0, 2, 0}};
  const SparseMatrix matrix = application_matrix(pattern);
  ASSERT_TRUE(matrix.check());
  for (std::uint32_t row = 0; row < 6; ++row) {
    for (std::uint32_t column = 0; column < 6; ++column)
      EXPECT_EQ(matrix.at(row, column), expected[row][column]) << row << ", " << column;
  }
  const SparseMatrix bytes = application_matrix(pattern, {.weight = Weight::bytes});
  EXPECT_EQ(bytes.at(0, 4), 40);
  EXPECT_EQ(bytes.sum(), 10 * matrix.sum());
}

// The same from a list of all pieces.
SparseMatrix by_listing(const Pattern& pattern, Weight weight) {
  struct Entry {
    Piece piece;
    std::uint32_t rank, repeat;
  };
  std::vector<Entry> list;
  const AccessTable& table = pattern.files[0].writes;
  for (std::uint64_t rank = 0; rank < table.ranks(); ++rank) {
    for (const Use& use : table.of(rank)) {
      for (const Piece& piece : list_pieces(pattern.access(use), UINT64_MAX))
        list.push_back({piece, static_cast<std::uint32_t>(rank), use.repeat});
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.piece.offset, a.rank) < std::tie(b.piece.offset, b.rank);
  });
  std::vector<Triple> pairs;
  for (std::size_t at = 1; at < list.size(); ++at) {
    const Entry &a = list[at - 1], &b = list[at];
    double value = std::min(a.repeat, b.repeat);
    if (weight == Weight::bytes) value *= static_cast<double>(std::min(a.piece.length, b.piece.length));
    if (a.rank != b.rank) pairs.push_back({a.rank, b.rank, value});
  }
  return from_pairs(pattern.ranks, pairs);
}

// Two accesses of one rank at the same place may stand in either order, which matters if their blocks differ;
// the matrix by bytes is compared where no rank has such a pair.
bool ties_in_a_rank(const Pattern& pattern) {
  for (std::uint64_t rank = 0; rank < pattern.ranks; ++rank) {
    std::set<std::int64_t> starts;
    for (const Use& use : pattern.files[0].writes.of(rank)) {
      for (const Piece& piece : list_pieces(pattern.access(use), UINT64_MAX)) {
        if (!starts.insert(piece.offset).second) return true;
      }
    }
  }
  return false;
}

TEST(ApplicationMatrix, SweepAgreesWithListing) {
  Random random(4);
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    const Pattern pattern = random_pattern(random, static_cast<std::uint64_t>(draw(random, 1, 7)));
    ASSERT_TRUE(pattern.check());
    if (ties_in_a_rank(pattern)) continue;
    ++compared;
    ASSERT_EQ(application_matrix(pattern), by_listing(pattern, Weight::count)) << round;
    ASSERT_EQ(application_matrix(pattern, {.weight = Weight::bytes}), by_listing(pattern, Weight::bytes))
        << round;
  }
  EXPECT_GT(compared, 500);
}

TEST(ApplicationMatrix, StatedPatternsAgreeWithListing) {
  const auto same = [](const Result<Pattern>& pattern) {
    ASSERT_TRUE(pattern) << pattern.error().message();
    ASSERT_TRUE(pattern->check());
    EXPECT_EQ(application_matrix(*pattern), by_listing(*pattern, Weight::count));
    EXPECT_EQ(application_matrix(*pattern, {.weight = Weight::bytes}), by_listing(*pattern, Weight::bytes));
  };
  same(state(Cartesian{.processes = {4, 5}, .block = {3, 2}, .element = 7}));
  same(state(Cartesian{.processes = {4, 5}, .block = {3, 2}, .element = 7, .seed = 9}));
  same(state(Cartesian{.processes = {2, 3, 4}, .block = {2, 3, 2}, .element = 1}));
  same(state(Cartesian{.processes = {6}, .block = {5}, .element = 8}));
  same(state(BlockTridiagonal{.ranks = 16, .points = 16, .element = 5, .steps = 3}));
  same(state(BlockTridiagonal{.ranks = 9, .points = 11, .element = 5, .steps = 2, .seed = 3}));
  same(state(Ior{.ranks = 5, .transfer = 4, .block = 12, .segments = 3}));
  same(state(Ior{.ranks = 5, .transfer = 4, .block = 12, .segments = 3, .strided = true}));
  same(state(Hpio{.ranks = 3, .regions = 17, .region = 11, .spacing = 2}));
}

TEST(ApplicationMatrix, OfBtByItsParameters) {
  for (const std::uint64_t q : {1U, 2U, 3U, 4U, 5U, 8U}) {
    for (const std::uint64_t points : {q, q + 1, 2 * q - 1, 2 * q, 3 * q + q / 2}) {
      for (const std::uint64_t steps : {1U, 3U}) {
        for (const std::uint64_t seed : {0U, 5U}) {
          const BlockTridiagonal bt{
              .ranks = q * q, .points = points, .element = 5, .steps = steps, .seed = seed};
          const auto pattern = state(bt);
          ASSERT_TRUE(pattern);
          for (const Weight weight : {Weight::count, Weight::bytes})
            ASSERT_EQ(application_matrix(bt, weight), application_matrix(*pattern, {.weight = weight}))
                << q << " cells of " << points << " points, " << steps << " steps, seed " << seed;
        }
      }
    }
  }
}

TEST(ApplicationMatrix, FilesAndDirectionsAddUp) {
  Pattern pattern(2);
  for (int file = 0; file < 2; ++file) pattern.add_file(std::string("f") + static_cast<char>('0' + file));
  for (std::uint64_t rank = 0; rank < 2; ++rank) {
    const Access access{static_cast<std::int64_t>(rank) * 10, {10, {{4, 20}}}, 1};
    pattern.add(pattern.files[0].reads, rank, access);
    pattern.add(pattern.files[1].writes, rank, access);
  }
  EXPECT_EQ(application_matrix(pattern).at(0, 1), 14);
  EXPECT_EQ(application_matrix(pattern, {.file = 1}).at(0, 1), 7);
  EXPECT_EQ(application_matrix(pattern, {.direction = Direction::read}).at(1, 0), 7);
  EXPECT_EQ(application_matrix(pattern, {.file = 1, .direction = Direction::read}).entries(), 0U);
}

TEST(CartesianMatrix, RowsAreStrong) {
  const auto matrix = cartesian_matrix({.processes = {3, 4}});
  ASSERT_TRUE(matrix && matrix->check() && is_symmetric(*matrix));
  EXPECT_EQ(matrix->at(0, 3), 10);
  EXPECT_EQ(matrix->at(3, 4), 0);
  EXPECT_EQ(matrix->at(1, 5), 1);
  const auto chain = cartesian_matrix({.processes = {3, 4}, .longest_clique = 3});
  EXPECT_EQ(chain->at(0, 1), 10);
  EXPECT_EQ(chain->at(0, 3), 0);
  EXPECT_FALSE(cartesian_matrix({.processes = {}}));
  EXPECT_FALSE(cartesian_matrix({.processes = {1 << 20, 1 << 20}}));
  EXPECT_FALSE(cartesian_matrix({.processes = {4, 0}}));
}

TEST(Shuffle, AgreesWithBytes) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const Pattern pattern = random_pattern(random, static_cast<std::uint64_t>(draw(random, 1, 6)));
    const AccessTable& table = pattern.files[0].writes;
    const Domains domains = even_domains(pattern, table, static_cast<std::uint64_t>(draw(random, 1, 9)),
                                         static_cast<std::uint64_t>(draw(random, 1, 5)));
    ASSERT_TRUE(std::is_sorted(domains.edges.begin(), domains.edges.end()));
    const SparseMatrix found = shuffle(pattern, table, domains);
    ASSERT_TRUE(found.check());
    std::vector<Triple> triples;
    for (std::uint32_t rank = 0; rank < pattern.ranks; ++rank) {
      for (const Use& use : table.of(rank)) {
        for (const std::int64_t at : list_bytes(pattern.access(use))) {
          const auto edge = std::upper_bound(domains.edges.begin(), domains.edges.end(), at);
          triples.push_back({rank, static_cast<std::uint32_t>(edge - domains.edges.begin() - 1),
                             static_cast<double>(use.repeat)});
        }
      }
    }
    ASSERT_EQ(found, from_triples(pattern.ranks, domains.count(), triples));
    ASSERT_EQ(found.sum(), static_cast<double>(pattern.totals(table).bytes));
    // Just enough room, and one value too few.
    ASSERT_EQ(shuffle_up_to(found.entries(), pattern, table, domains), found);
    if (found.entries() > 0) {
      ASSERT_EQ(shuffle_up_to(found.entries() - 1, pattern, table, domains), std::nullopt);
    }
    double largest = 0;
    for (std::uint32_t rank = 0; rank < pattern.ranks; ++rank) {
      const auto values = found.values_of(rank);
      if (!values.empty()) largest += *std::max_element(values.begin(), values.end());
    }
    ASSERT_GE(most_in_one_domain(pattern, table, domains) * found.sum() * (1 + 1e-9), largest);
  }
}

// One file row per aggregator: every rank feeds one domain only.
TEST(Shuffle, EachCallHasDomainsOfItsOwn) {
  const BlockTridiagonal once{.ranks = 9, .points = 12, .element = 5};
  BlockTridiagonal thrice = once;
  thrice.steps = 3;
  const Pattern one = *state(once), three = *state(thrice);
  const AccessTable &first = one.files[0].writes, &all = three.files[0].writes;
  const auto period = period_of(three, all);
  ASSERT_TRUE(period);
  EXPECT_EQ(period->parts, 3U);
  EXPECT_EQ(period->stride, 12 * 12 * 12 * 5);
  SparseMatrix expected = shuffle(one, first, even_domains(one, first, 5));
  for (double& value : expected.value) value *= 3;
  EXPECT_EQ(shuffle(three, all, even_domains_of_calls(three, all, 5, 3)), expected);
  EXPECT_NE(shuffle(three, all, even_domains(three, all, 5)), expected);
  EXPECT_EQ(even_domains_of_calls(three, all, 4, 1).edges, even_domains(three, all, 4).edges);

  // Steps that leave a gap: a part is what is touched, not the stride.
  Pattern gaps(2);
  AccessTable& table = gaps.add_file("gaps").writes;
  for (std::uint64_t rank = 0; rank < 2; ++rank)
    gaps.add(table, rank, {static_cast<std::int64_t>(100 + rank * 10), {10, {{5, 1000}}}, 1});
  const SparseMatrix own = shuffle(gaps, table, even_domains_of_calls(gaps, table, 2, 5));
  EXPECT_EQ(own, from_triples(2, 2, std::vector<Triple>{{0, 0, 50}, {1, 1, 50}}));
  // Any other number of calls: equal parts, and nothing is lost.
  for (std::uint64_t calls = 1; calls < 9; ++calls) {
    const Domains domains = even_domains_of_calls(gaps, table, 3, calls);
    EXPECT_EQ(domains.count(), 3U);
    EXPECT_EQ(shuffle(gaps, table, domains).sum(), 100) << calls;
  }
  // No period: a tile of several rows of ranks, and ranks that repeat differently.
  const Pattern tile = *state(Cartesian{.processes = {2, 2}, .block = {4, 4}, .element = 8});
  EXPECT_FALSE(period_of(tile, tile.files[0].writes));
  gaps.add(table, 1, {500, {10, {{4, 1000}}}, 1});
  EXPECT_FALSE(period_of(gaps, table));
  EXPECT_FALSE(period_of(Pattern(1), AccessTable()));
}

TEST(Shuffle, OfManyRanksIsRefusedBeforeItIsMade) {
  const Pattern pattern = *state(BlockTridiagonal{.ranks = 400, .points = 40});
  const AccessTable& table = pattern.files[0].writes;
  const Domains domains = even_domains(pattern, table, 400);
  const SparseMatrix all = shuffle(pattern, table, domains);
  EXPECT_EQ(shuffle_up_to(all.entries() / 2, pattern, table, domains), std::nullopt);
  EXPECT_EQ(shuffle_up_to(all.entries(), pattern, table, domains), all);
  // A domain is 4 of the 40 rows of a plane: a rank has 2 of its 80 pieces there, in one of its three runs.
  const double bound = most_in_one_domain(pattern, table, domains);
  EXPECT_GE(bound, 2.0 / 80);
  EXPECT_LE(bound, 3 * 2.0 / 80);
}

TEST(Shuffle, TileRowsAndGroups) {
  const Pattern pattern = *state(Cartesian{.processes = {4, 4}, .block = {8, 8}, .element = 16});
  const AccessTable& table = pattern.files[0].writes;
  const SparseMatrix two_phase = shuffle(pattern, table, even_domains(pattern, table, 4));
  EXPECT_EQ(two_phase.entries(), 16U);
  for (std::uint32_t rank = 0; rank < 16; ++rank) EXPECT_EQ(two_phase.at(rank, rank / 4), 1024);
  std::vector<std::uint32_t> group_of(16);
  for (std::uint32_t rank = 0; rank < 16; ++rank) group_of[rank] = rank % 4;
  const SparseMatrix groups = shuffle_in_groups(pattern, table, group_of, 4);
  EXPECT_EQ(groups.at(5, 1), 1024);
  EXPECT_EQ(groups.entries(), 16U);
  EXPECT_THROW((void)shuffle_in_groups(pattern, table, group_of, 3), std::logic_error);
  EXPECT_THROW((void)even_domains(pattern, table, 0), std::logic_error);
}

TEST(SparseMatrix, TriplesAddUp) {
  const std::vector<Triple> triples{{1, 2, 3}, {0, 1, 1}, {1, 2, 4}, {1, 0, 5}, {0, 0, 0}};
  const SparseMatrix matrix = from_triples(2, 3, triples);
  ASSERT_TRUE(matrix.check());
  EXPECT_THAT(matrix.row_begin, ElementsAre(0, 1, 3));
  EXPECT_THAT(matrix.column, ElementsAre(1, 0, 2));
  EXPECT_THAT(matrix.value, ElementsAre(1, 5, 7));
  EXPECT_EQ(transposed(transposed(matrix)), matrix);
  EXPECT_FALSE(is_symmetric(matrix));
  EXPECT_TRUE(is_symmetric(from_pairs(3, triples)));
  EXPECT_THROW((void)from_triples(1, 3, triples), std::logic_error);
}

TEST(SparseMatrix, CheckFindsWhatIsWrong) {
  const SparseMatrix good = from_triples(2, 3, std::vector<Triple>{{0, 1, 1}, {0, 2, 1}, {1, 2, 1}});
  const auto message = [&](auto change) {
    SparseMatrix matrix = good;
    change(matrix);
    return matrix.check() ? "" : matrix.check().error().message();
  };
  EXPECT_THAT(message([](SparseMatrix& m) { m.rows = 3; }), HasSubstr("3 rows"));
  EXPECT_THAT(message([](SparseMatrix& m) { m.row_begin[1] = 9; }), HasSubstr("ends before"));
  EXPECT_THAT(message([](SparseMatrix& m) { m.column[1] = 3; }), HasSubstr("column 3 of 3"));
  EXPECT_THAT(message([](SparseMatrix& m) { m.column[1] = 1; }), HasSubstr("out of order"));
  EXPECT_THAT(message([](SparseMatrix& m) { m.value[0] = -1; }), HasSubstr("no weight"));
}

}  // namespace
}  // namespace weir::pattern
