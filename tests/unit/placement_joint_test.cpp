#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "placement/domains.hpp"
#include "placement_support.hpp"
#include "plan/placement_plan.hpp"

namespace weir {
namespace {

constexpr double rounding = 1 + 1e-9;

// No other algorithm is better in objective or share, and nothing is below the bounds.
void expect_joint_is_best(const Problem& problem) {
  const Forecast joint = problem.forecast_of("joint");
  const LowerBounds bounds = lower_bounds(problem.value);
  const auto choices = parse_algorithms("all", problem.value);
  ASSERT_TRUE(choices);
  for (const AlgorithmChoice& choice : *choices) {
    const auto placed = place(problem.value, choice);
    if (!placed && placed.error().code == ErrorCode::unsupported) continue;
    ASSERT_TRUE(placed) << placed.error().message();
    const Forecast other = forecast(problem.value, *placed);
    EXPECT_LE(joint.objective, other.objective * rounding) << choice.text;
    EXPECT_LE(joint.cross_node_share, other.cross_node_share * rounding) << choice.text;
    EXPECT_GE(other.objective * rounding, bounds.objective) << choice.text;
    EXPECT_GE(other.cross_node_share * rounding, bounds.cross_node_share) << choice.text;
    EXPECT_GE(other.shuffle_cross_node_share * rounding, bounds.shuffle_cross_node_share) << choice.text;
    const double fair = share_with_best_aggregators(problem.value, *placed);
    EXPECT_LE(fair, other.shuffle_cross_node_share * rounding) << choice.text;
    EXPECT_GE(fair * rounding, bounds.shuffle_cross_node_share) << choice.text;
    if (choice.text.starts_with("joint")) continue;
    EXPECT_LE(problem.forecast_of("joint-shuffle").shuffle_cross_node_share,
              other.shuffle_cross_node_share * rounding)
        << choice.text;
  }
}

TEST(Joint, IsBestOnTiles) {
  expect_joint_is_best(Problem(cluster(8, 48), tile(16, 16), {16, 16}));
  expect_joint_is_best(Problem(cluster(8, 48), tile(16, 16, 7), {16, 16}));
  expect_joint_is_best(Problem(cluster(8, 32), tile(16, 16, 7), {16, 16}));
}

// The rule by which joint takes the shuffle's choice holds whatever the grid and the order of ranks.
TEST(Joint, TheShufflesChoiceCostsNothingAgainstOthers) {
  struct Kind {
    std::uint64_t rows, columns;
    std::uint32_t nodes, cores;
  };
  for (const Kind& kind : {Kind{8, 8, 2, 48}, Kind{8, 8, 4, 32}, Kind{16, 16, 8, 48}, Kind{13, 7, 4, 32},
                           Kind{32, 32, 32, 48}}) {
    for (std::uint64_t seed = 1; seed <= (kind.rows == 32 ? 4U : 20U); ++seed) {
      const Problem problem(cluster(kind.nodes, kind.cores), tile(kind.rows, kind.columns, seed));
      const Forecast joint = problem.forecast_of("joint"), by_shuffle = problem.forecast_of("joint-shuffle");
      const auto what = ::testing::Message() << kind.rows << "x" << kind.columns << " on " << kind.nodes
                                             << " nodes, seed " << seed;
      for (const char* name : {"byslot", "bynode", "setmatchg", "treematch", "scotch"}) {
        const auto other = place(problem.value, *parse_algorithm(name));
        if (!other && other.error().code == ErrorCode::unsupported) continue;
        ASSERT_TRUE(other) << other.error().message();
        EXPECT_LE(joint.objective, forecast(problem.value, *other).objective * rounding) << what << name;
        // Like for like: the same search for aggregators.
        EXPECT_LE(by_shuffle.shuffle_cross_node_share,
                  share_with_best_aggregators(problem.value, *other) * rounding)
            << what << name;
      }
      EXPECT_LE(joint.cost_relative, by_shuffle.cost_relative * rounding) << what;
      // Whole rows of ranks fit a node: nothing needs to leave it.
      if (kind.rows != 13) {
        EXPECT_EQ(joint.shuffle_cross_node_share, 0) << what;
      }
    }
  }
}

TEST(Joint, IsBestOnCubesAndBt) {
  expect_joint_is_best(Problem(cluster(8, 48), cube(4, 8, 8), {4, 8, 8}));
  expect_joint_is_best(Problem(cluster(8, 48), cube(4, 8, 8, 3), {4, 8, 8}));
  expect_joint_is_best(Problem(cluster(8, 48), block_tridiagonal(256, 64), {16, 16}));
}

TEST(Joint, IsBestOnLargerProblems) {
  const Problem problem(cluster(128, 48), tile(64, 64, 7));
  const Forecast joint = problem.forecast_of("joint");
  for (const char* other : {"byslot", "setmatchg", "treematch"}) {
    EXPECT_LE(joint.objective, problem.forecast_of(other).objective * rounding) << other;
    EXPECT_LT(joint.shuffle_cross_node_share, problem.forecast_of(other).shuffle_cross_node_share) << other;
  }
}

TEST(Joint, WorksForAHundredThousandRanks) {
  const Problem problem(cluster(2048, 48), tile(256, 256, 7));
  const Forecast joint = problem.forecast_of("joint");
  // A row of 256 ranks needs six nodes of 48, and pays for six cuts at least.
  EXPECT_NEAR(joint.cross_node_share, 6.0 / 256, 0.001);
  EXPECT_LE(joint.objective, problem.forecast_of("setmatchg").objective);
  EXPECT_LE(joint.objective, problem.forecast_of("treematch").objective);
}

TEST(Joint, ReachesZeroWhereAFileDomainFitsANode) {
  for (const std::uint64_t seed : {0U, 7U, 123U}) {
    const Problem problem(cluster(8, 48), tile(16, 16, seed));
    EXPECT_EQ(problem.forecast_of("joint-shuffle").shuffle_cross_node_share, 0) << seed;
    if (seed == 0) continue;
    EXPECT_GT(problem.forecast_of("setmatchg").shuffle_cross_node_share, 0.3) << seed;
  }
}

TEST(Joint, PutsNeighboursOnNearCores) {
  Platform platform = **find_site("archer2");
  platform.links = {{.level = Level::cache, .bytes_per_second = 20e9},
                    {.level = Level::package, .bytes_per_second = 8e9},
                    {.level = Level::node, .bytes_per_second = 4e9},
                    {.level = Level::machine, .bytes_per_second = 1e9}};
  const Problem problem(platform, rings(16, 8, 5));
  EXPECT_FALSE(problem.machine->flat_nodes());
  EXPECT_LT(problem.forecast_of("joint").objective, problem.forecast_of("byslot").objective);
  // Four cores share a cache, so a ring of eight pays for two cuts between caches at least.
  EXPECT_LE(problem.forecast_of("joint").objective, problem.forecast_of("setmatchg").objective);
}

TEST(Joint, PutsNeighboursUnderOneSwitch) {
  Platform platform = cluster(8, 4);
  platform.switches = {{.name = "a"}, {.name = "b"}};
  for (std::uint32_t node = 0; node < 8; ++node) platform.nodes[node].switch_ = node % 2;
  platform.links = {{.level = Level::node, .bytes_per_second = 8e9},
                    {.level = Level::network_switch, .bytes_per_second = 2e9},
                    {.level = Level::machine, .bytes_per_second = 0.5e9}};
  // Two rings of sixteen: each needs four nodes, and all four can be under one switch.
  const Problem problem(platform, rings(2, 16, 5));
  const Assignment placed = problem.place("joint").assignment;
  const auto rank_at = pattern::permutation(32, 5);
  for (std::uint32_t ring = 0; ring < 2; ++ring) {
    for (std::uint32_t i = 1; i < 16; ++i)
      EXPECT_EQ(placed.node_of[rank_at[ring * 16 + i]] % 2, placed.node_of[rank_at[ring * 16]] % 2) << ring;
  }
}

TEST(Joint, PlacesRanksAloneWithoutAShuffle) {
  const Problem problem(cluster(4, 8), rings(4, 8, 3));
  const Placed placed = problem.place("joint");
  EXPECT_TRUE(placed.node_of_domain.empty());
  EXPECT_FALSE(placed.note.empty());
  EXPECT_LT(forecast(problem.value, placed).cross_node_share, 0.01);
  EXPECT_FALSE(place(problem.value, *parse_algorithm("joint-shuffle")));
}

TEST(Domains, AreDealtBest) {
  // Every way of dealing four domains to four nodes is tried.
  const Problem problem(cluster(4, 4), tile(4, 4, 11));
  const Numbers node_of = problem.place("byslot").assignment.node_of;
  const auto across = [&](const Numbers& domains) {
    return forecast(problem.value, {.assignment = seat(*problem.machine, node_of), .node_of_domain = domains})
        .shuffle_cross_node_bytes;
  };
  Numbers trial = {0, 1, 2, 3};
  double best = across(trial);
  while (std::next_permutation(trial.begin(), trial.end())) best = std::min(best, across(trial));
  EXPECT_DOUBLE_EQ(across(assign_domains(problem.value, node_of)), best);
}

TEST(Bounds, AreBelowEveryPlacementOfASmallProblem) {
  const Problem problem(cluster(3, 2), tile(2, 3, 5));
  const LowerBounds bounds = lower_bounds(problem.value);
  // All ways to put six ranks on three nodes of two.
  Numbers node_of = {0, 0, 1, 1, 2, 2};
  double best = 1, best_shuffle = 1;
  do {
    Placed placed{.assignment = seat(*problem.machine, node_of)};
    placed.node_of_domain = assign_domains(problem.value, node_of);
    const Forecast one = forecast(problem.value, placed);
    best = std::min(best, one.cross_node_share);
    best_shuffle = std::min(best_shuffle, one.shuffle_cross_node_share);
  } while (std::next_permutation(node_of.begin(), node_of.end()));
  EXPECT_LE(bounds.cross_node_share, best * rounding);
  EXPECT_LE(bounds.shuffle_cross_node_share, best_shuffle + 1e-12);
  EXPECT_GT(bounds.cross_node_share, 0);
  EXPECT_LE(best, problem.forecast_of("joint").cross_node_share);
}

TEST(Bounds, OfShapesAreBelowThoseOfTheShuffleItself) {
  for (const pattern::Pattern& pattern :
       {tile(16, 16), tile(13, 7, 3), cube(4, 8, 8), block_tridiagonal(256, 64), block_tridiagonal(49, 15)}) {
    const Problem problem(cluster(8, 48), pattern);
    const auto& table = pattern.files[0].writes;
    const double bound =
        shuffle_bound_of_shapes(problem.value, pattern, table, pattern::even_domains(pattern, table, 8));
    EXPECT_LE(bound, problem.forecast_of("joint-shuffle").shuffle_cross_node_share * rounding);
  }
}

TEST(Bounds, AreExactForRings) {
  const Problem problem(cluster(12, 8), rings(3, 20, 4));
  // Twenty ranks need three nodes of eight: three cuts a ring.
  EXPECT_NEAR(lower_bounds(problem.value).cross_node_share, 9 * 100.0 / (60 * 100 + 2), 1e-9);
  EXPECT_NEAR(problem.forecast_of("joint").cross_node_share, 9 * 100.0 / (60 * 100 + 2), 0.001);
}

TEST(Bounds, SayWhenNothingCanBeGained) {
  EXPECT_TRUE(placement_cannot_help_shuffle(Problem(cluster(8, 48), block_tridiagonal(256, 64)).value));
  EXPECT_FALSE(placement_cannot_help_shuffle(Problem(cluster(8, 48), tile(16, 16, 7)).value));
}

TEST(Forecast, IsTheSumOfTheDefinition) {
  const Problem problem(cluster(3, 4), tile(3, 4, 2));
  const Placed placed = problem.place("bynode");
  double objective = 0, across = 0, total = 0;
  for (std::uint32_t i = 0; i < 12; ++i) {
    for (std::uint32_t j = i + 1; j < 12; ++j) {
      const double value = problem.recorded.at(i, j);
      const bool apart = placed.assignment.node_of[i] != placed.assignment.node_of[j];
      objective += value / (apart ? default_network_bandwidth : default_node_bandwidth);
      total += value;
      if (apart) across += value;
    }
  }
  const Forecast result = forecast(problem.value, placed);
  EXPECT_NEAR(result.objective, objective, objective * 1e-12);
  EXPECT_NEAR(result.cross_node_share, across / total, 1e-12);
}

TEST(PlacementPlan, NamesAggregatorsInTheOrderOfFileDomains) {
  const Problem problem(cluster(8, 48), tile(16, 16, 7));
  for (const char* name : {"byslot", "byslot:43", "bynode", "setmatchg", "joint", "joint-shuffle"}) {
    const auto plan = plan_placement(problem.value, problem.place(name), problem.platform);
    ASSERT_TRUE(plan) << plan.error().message();
    EXPECT_THAT(problems(*plan, 256, problem.platform), testing::IsEmpty());
    EXPECT_EQ(plan->aggregators.ranks.size(), 8U) << name;
  }
  const Placed placed = problem.place("joint-shuffle");
  const auto plan = plan_placement(problem.value, placed, problem.platform);
  for (std::size_t domain = 0; domain < 8; ++domain) {
    const std::uint32_t rank = plan->aggregators.ranks[domain];
    EXPECT_EQ(placed.assignment.node_of[rank], placed.node_of_domain[domain]);
    EXPECT_GT(problem.shuffle->at(rank, static_cast<std::uint32_t>(domain)), 0);
  }
}

TEST(PlacementPlan, CopesWithNodesOfFewRanks) {
  // 49 ranks on nodes of 48: the second node has one rank, and cannot hold half of the aggregators.
  const Problem problem(cluster(8, 48), tile(7, 7));
  const auto plan = plan_placement(problem.value, problem.place("byslot"), problem.platform);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->aggregators.ranks.size(), 8U);
}

}  // namespace
}  // namespace weir
