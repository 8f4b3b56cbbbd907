#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "placement_support.hpp"

namespace weir {
namespace {

using testing::HasSubstr;

bool built_without(const PlacementProblem& problem, const AlgorithmChoice& choice) {
  const auto placed = place(problem, choice);
  return !placed && placed.error().code == ErrorCode::unsupported;
}

std::vector<std::string> names_for(const PlacementProblem& problem) {
  std::vector<std::string> names;
  const auto choices = parse_algorithms("all", problem);
  EXPECT_TRUE(choices);
  for (const AlgorithmChoice& choice : *choices)
    if (!built_without(problem, choice)) names.push_back(choice.text);
  return names;
}

TEST(PlacementAlgorithms, KeepTheInvariantsForOddNumbers) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 7}, {5, 3}, {7, 11}, {13, 13}}) {
    const auto ranks = static_cast<std::uint32_t>(rows * columns);
    for (const std::uint32_t cores : {1U, 5U, 48U}) {
      const Problem problem(cluster((ranks + cores - 1) / cores + ranks % 2, cores),
                            tile(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), 3),
                            {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)});
      for (const std::string& name : names_for(problem.value)) problem.place(name);
    }
  }
}

TEST(PlacementAlgorithms, KeepToSlotsAndLimits) {
  Platform platform = cluster(6, 8);
  platform.nodes[1].slots = 3;
  platform.nodes[4].slots = 1;
  platform.node_types[0].unusable_pus = {2};
  const Problem problem(platform, tile(5, 5, 9), {5, 5}, {.ranks_per_node = 6});
  EXPECT_EQ(problem.machine->capacity(0), 6U);
  EXPECT_EQ(problem.machine->capacity(1), 3U);
  EXPECT_EQ(problem.machine->total_capacity(), 4 * 6 + 3 + 1U);
  for (const std::string& name : names_for(problem.value)) {
    const Placed placed = problem.place(name);
    for (const std::uint32_t core : placed.assignment.core_of) EXPECT_NE(core, 2U) << name;
  }
}

TEST(PlacementAlgorithms, MemoryIsALimit) {
  Platform platform = cluster(4, 8);
  EXPECT_THAT(Machine::of(platform, {.memory_per_rank = 1}).error().message(), HasSubstr("memory"));
  platform.node_types[0].numa_domains[0].memory_bytes = 1000;
  const auto machine = Machine::of(platform, {.memory_per_rank = 300});
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->capacity(0), 3U);
  EXPECT_FALSE(Machine::of(platform, {.memory_per_rank = 1001}));
}

TEST(PlacementAlgorithms, SayWhyTheyCannot) {
  const Problem small(cluster(2, 8), tile(4, 8));
  for (const PlacementAlgorithm& algorithm : placement_algorithms()) {
    if (algorithm.cartesian) {
      EXPECT_THAT(place(small.value, *parse_algorithm(algorithm.name)).error().message(), HasSubstr("fit"));
      continue;
    }
    EXPECT_THAT(place(small.value, *parse_algorithm(algorithm.name)).error().message(),
                HasSubstr("32 ranks do not fit: 2 nodes take 16"));
  }
  const Problem no_grid(cluster(2, 16), tile(4, 8));
  EXPECT_THAT(place(no_grid.value, *parse_algorithm("setmatch")).error().message(), HasSubstr("--grid"));
  EXPECT_THAT(place(no_grid.value, *parse_algorithm("byslot:3")).error().message(), HasSubstr("room for 6"));
  const Problem wrong(cluster(2, 16), tile(4, 8));
  PlacementProblem other = wrong.value;
  other.ranks = 31;
  EXPECT_THAT(place(other, *parse_algorithm("joint")).error().message(), HasSubstr("32 by 32"));
}

TEST(PlacementAlgorithms, AreParsedByName) {
  EXPECT_EQ(parse_algorithm("byslot:32")->options.ranks_per_node, 32U);
  EXPECT_EQ(parse_algorithm("setmatchg:20")->options.percentage, 20);
  EXPECT_EQ(parse_algorithm("mpipp:5")->options.passes, 5U);
  EXPECT_THAT(parse_algorithm("setmach").error().message(), HasSubstr("did you mean 'setmatch'"));
  for (const char* bad : {"byslot:", "byslot:x", "byslot:0", "bynode:3", "setmatch:101", "joint:1", ""})
    EXPECT_FALSE(parse_algorithm(bad)) << bad;
  const Problem problem(cluster(8, 48), tile(16, 16), {16, 16});
  const auto all = parse_algorithms("all,byslot", problem.value);
  ASSERT_TRUE(all);
  std::set<std::string> names;
  for (const AlgorithmChoice& choice : *all) EXPECT_TRUE(names.insert(choice.text).second) << choice.text;
  EXPECT_EQ(names.size(), placement_algorithms().size() + 1);
  EXPECT_TRUE(names.contains("byslot:32"));
  EXPECT_FALSE(parse_algorithms("byslot,,joint", problem.value));
}

TEST(Byslot, FillsNodesUpToALimit) {
  const Problem problem(cluster(3, 4), rings(2, 4, 0));
  EXPECT_EQ(problem.place("byslot").assignment.node_of, (Numbers{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(problem.place("byslot:3").assignment.node_of, (Numbers{0, 0, 0, 1, 1, 1, 2, 2}));
  EXPECT_EQ(problem.place("bynode").assignment.node_of, (Numbers{0, 1, 2, 0, 1, 2, 0, 1}));
}

TEST(SetMatch, KeepsSetsTogetherWhateverTheOrderOfRanks) {
  const Problem problem(cluster(8, 48), rings(16, 16, 5));
  const Numbers node_of = problem.place("setmatchg").assignment.node_of;
  const auto rank_at = pattern::permutation(256, 5);
  for (std::uint32_t ring = 0; ring < 16; ++ring) {
    for (std::uint32_t i = 1; i < 16; ++i)
      EXPECT_EQ(node_of[rank_at[ring * 16 + i]], node_of[rank_at[ring * 16]]) << ring;
  }
}

TEST(SetMatch, CutsASetThatIsLargerThanANode) {
  const Problem problem(cluster(3, 8), rings(1, 20, 0));
  const Numbers node_of = problem.place("setmatchg").assignment.node_of;
  EXPECT_EQ(node_of, (Numbers{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2}));
}

TEST(SetMatch, ThePercentageSaysWhatIsStrong) {
  // 0-1 and 2-3 exchange 100, the pairs 85 with each other: within 20 percent, but not within 10.
  const std::vector<pattern::Triple> pairs = {{0, 1, 100}, {2, 3, 100}, {1, 2, 85}};
  const Problem problem(cluster(2, 4), pattern::from_pairs(4, pairs));
  const Numbers apart = problem.place("setmatchg").assignment.node_of;
  EXPECT_NE(apart[0], apart[2]);
  const Numbers together = problem.place("setmatchg:20").assignment.node_of;
  EXPECT_EQ(together[0], together[2]);
}

TEST(SetMatch, OnTheGridCannotSeeReorderedRanks) {
  const Problem plain(cluster(8, 48), tile(16, 16), {16, 16});
  EXPECT_LT(plain.forecast_of("setmatch").cross_node_share, 0.01);
  const Problem reordered(cluster(8, 48), tile(16, 16, 7), {16, 16});
  EXPECT_GT(reordered.forecast_of("setmatch").cross_node_share, 0.5);
  EXPECT_LT(reordered.forecast_of("setmatchg").cross_node_share, 0.01);
}

TEST(Mpipp, MorePassesAreNotWorse) {
  const Problem problem(cluster(4, 16), rings(4, 16, 2));
  const double one = problem.forecast_of("mpippg:1").objective;
  const double many = problem.forecast_of("mpippg:20").objective;
  EXPECT_LE(many, one);
  EXPECT_LT(many, problem.forecast_of("bynode").objective);
  EXPECT_EQ(problem.place("mpippg:3"), problem.place("mpippg:3"));
}

TEST(TreeMatch, GroupsFromBelow) {
  const Problem problem(cluster(4, 4), rings(4, 4, 3));
  const Forecast forecast = problem.forecast_of("treematch");
  EXPECT_LT(forecast.cross_node_share, 0.02);
  EXPECT_EQ(forecast.most_ranks_on_node, 4U);
}

TEST(Scotch, IsRepairedWhereItOverfills) {
  const Problem problem(cluster(5, 5), tile(5, 5, 4));
  const auto choice = parse_algorithm("scotch");
  if (built_without(problem.value, *choice)) GTEST_SKIP() << "built without Scotch";
  EXPECT_EQ(problem.forecast_of("scotch").most_ranks_on_node, 5U);
}

}  // namespace
}  // namespace weir
