#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/evaluation.hpp"
#include "analysis/evaluation_words.hpp"
#include "analysis/job_analysis.hpp"
#include "analysis/statistics.hpp"

namespace weir::analysis {
namespace {

using testing::Contains;
using testing::HasSubstr;

double normal(Random& random) {  // Box and Muller
  return std::sqrt(-2 * std::log(random.uniform())) * std::cos(2 * M_PI * random.uniform());
}

// Runs of configurations that differ from the first by known factors in every metric, with noise.
RunTable runs_of(const std::vector<double>& factors, std::size_t repeats, double noise, std::uint64_t seed) {
  Random random(seed);
  RunTable table;
  table.metrics = {{"wait", Direction::low_is_good}, {"use", Direction::high_is_good}};
  table.values.resize(2);
  for (std::size_t c = 0; c < factors.size(); ++c) {
    for (std::size_t run = 0; run < repeats; ++run) {
      table.configurations.push_back(std::string(1, static_cast<char>('a' + c)));
      table.values[0].push_back(10 / factors[c] * std::exp(noise * normal(random)));
      table.values[1].push_back(0.2 * factors[c] * std::exp(noise * normal(random)));
      table.throughput.push_back(1e9 * factors[c] * std::exp(noise * normal(random)));
    }
  }
  return table;
}

TEST(Evaluation, FindsTheKnownRatio) {
  const auto result = evaluate(runs_of({1, 1.5, 0.8}, 5, 0.05, 1));
  ASSERT_TRUE(result) << result.error().message();
  const Candidate& b = result->candidates[1];
  EXPECT_NEAR(b.index.value, 1.5, 0.1);
  EXPECT_LT(b.index.low, 1.5);
  EXPECT_GT(b.index.high, 1.5);
  EXPECT_NEAR(b.throughput_ratio.value, 1.5, 0.15);
  EXPECT_NEAR(b.effects[0].value, 1 / 1.5, 0.06) << "as measured: less waiting";
  EXPECT_NEAR(b.effects[1].value, 1.5, 0.15);
  EXPECT_GT(b.chance_of_best, 0.99);
  EXPECT_GT(b.chance_of_fastest, 0.99);
  EXPECT_DOUBLE_EQ(b.rank_score, 1.0);
  EXPECT_EQ(result->best(), 1U);
  EXPECT_DOUBLE_EQ(result->candidates[0].index.value, 1.0);
  EXPECT_THAT(result->meaning, Contains(HasSubstr("b moved 1.5")));
}

// An interval that is called 95% must hold the truth about that often, with the few runs that people make.
TEST(Evaluation, IntervalsCoverTheTruth) {
  int covered = 0;
  const int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    const auto result = evaluate(runs_of({1, 1.2, 1.2, 0.9}, 4, 0.1, 100 + static_cast<std::uint64_t>(round)),
                                 {.resamples = 400});
    ASSERT_TRUE(result);
    const Interval& ratio = result->candidates[1].throughput_ratio;
    covered += ratio.low <= 1.2 && 1.2 <= ratio.high ? 1 : 0;
  }
  EXPECT_GE(covered, rounds * 87 / 100);
  EXPECT_LE(covered, rounds * 995 / 1000) << "far too wide";
}

TEST(Evaluation, NoDifferenceIsNotCalledOne) {
  int decided = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto result = evaluate(runs_of({1, 1}, 5, 0.2, seed), {.seed = seed, .resamples = 500});
    ASSERT_TRUE(result);
    const Interval& index = result->candidates[1].index;
    decided += index.low > 1 || index.high < 1 ? 1 : 0;
  }
  EXPECT_LE(decided, 8);
}

TEST(Evaluation, OneRunEachSaysThatNothingIsSure) {
  const auto result = evaluate(runs_of({1, 3}, 1, 0.1, 1));
  ASSERT_TRUE(result);
  EXPECT_FALSE(is_known(result->candidates[1].index.low));
  EXPECT_FALSE(is_known(result->candidates[1].chance_of_best));
  EXPECT_THAT(result->meaning, Contains(HasSubstr("repeat each at least three times")));
  EXPECT_GT(result->candidates[1].index.value, 2);
}

TEST(Evaluation, SameSeedSameResult) {
  const RunTable table = runs_of({1, 1.1, 1.2}, 3, 0.2, 7);
  EXPECT_EQ(to_json(*evaluate(table)).dump(), to_json(*evaluate(table)).dump());
}

// One metric follows throughput, one is noise, one goes against it: learned weights agree better with
// throughput, also on runs that taught nothing.
TEST(Evaluation, LearnsWhichMetricsFollowThroughput) {
  Random random(3);
  RunTable table;
  table.metrics = {{"follows", Direction::low_is_good},
                   {"noise", Direction::high_is_good},
                   {"against", Direction::high_is_good}};
  table.values.resize(3);
  for (int c = 0; c < 8; ++c) {
    for (int run = 0; run < 4; ++run) {
      const double speed = 1 + 0.2 * c;
      table.configurations.push_back("c" + std::to_string(c));
      table.values[0].push_back(std::exp(0.1 * normal(random)) / speed);
      table.values[1].push_back(std::exp(0.5 * normal(random)));
      table.values[2].push_back(std::exp(0.1 * normal(random)) / std::sqrt(speed));
      table.throughput.push_back(speed * std::exp(0.05 * normal(random)));
    }
  }
  const auto result = evaluate(table);
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->learned);
  EXPECT_GT(result->weights[0].weight, 0.7);
  EXPECT_DOUBLE_EQ(result->weights[2].weight, 0.0);
  EXPECT_LT(result->weights[2].correlation, -0.5);
  EXPECT_GT(result->agreement_learned, result->agreement_equal + 0.1);
  EXPECT_THAT(result->meaning, Contains(HasSubstr("against went against")));
  // With few runs nothing is learned.
  EXPECT_FALSE(evaluate(table, {.runs_to_learn = 33})->learned);
}

TEST(Evaluation, DuplicateMetricsShareAVote) {
  RunTable table;
  table.metrics = {{"depth", Direction::low_is_good},
                   {"wait", Direction::low_is_good},
                   {"other", Direction::high_is_good}};
  table.configurations = {"a", "b", "c", "d", "e", "f"};
  table.values = {{1, 2, 3, 4, 5, 6}, {10, 20, 30, 40, 50, 60}, {4, 1, 6, 2, 5, 3}};
  const auto result = evaluate(table);
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->weights[0].weight, 0.25);
  EXPECT_DOUBLE_EQ(result->weights[2].weight, 0.5);
  EXPECT_THAT(result->meaning, Contains(HasSubstr("depth and wait say the same")));
}

TEST(Evaluation, StandsZerosAndUnknownValues) {
  RunTable table;
  table.metrics = {{"wait", Direction::low_is_good}, {"use", Direction::high_is_good}};
  table.configurations = {"a", "a", "b", "b"};
  table.values = {{0, 0, 1, 0}, {unknown, 2, 3, 4}};
  const auto result = evaluate(table);
  ASSERT_TRUE(result);
  for (const Candidate& candidate : result->candidates) {
    EXPECT_TRUE(std::isfinite(candidate.index.value)) << candidate.name;
    EXPECT_FALSE(is_known(candidate.throughput));
  }
  EXPECT_FALSE(render(*result).empty());
}

TEST(Evaluation, NamesABaselineThatIsNotThere) {
  const auto result = evaluate(runs_of({1, 2}, 2, 0.1, 1), {.baseline = "z"});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), HasSubstr("'z'"));
  EXPECT_FALSE(evaluate({}));
}

TEST(Evaluation, ReadsRunsFromACsv) {
  const auto table = read_run_table(
      "configuration,req_qdepth,hits:high,throughput\na,10,1,5\na,,2,6\nb,20,3,\n", "runs.csv");
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ(table->metrics[1].name, "hits");
  EXPECT_EQ(table->metrics[0].good, Direction::low_is_good);
  EXPECT_FALSE(is_known(table->values[0][1]));
  EXPECT_FALSE(is_known(table->throughput[2]));
  const auto odd = read_run_table("configuration,latency\na,1\n", "runs.csv");
  ASSERT_FALSE(odd);
  EXPECT_THAT(odd.error().message(), HasSubstr("latency:low"));
  const auto negative = read_run_table("configuration,req_qdepth\na,-1\n", "runs.csv");
  ASSERT_FALSE(negative);
  EXPECT_THAT(negative.error().message(), HasSubstr("runs.csv:2"));
}

}  // namespace
}  // namespace weir::analysis
