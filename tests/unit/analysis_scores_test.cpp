#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/csv.hpp"
#include "analysis/near_duplicates.hpp"
#include "analysis/score_table.hpp"
#include "analysis/statistics.hpp"
#include "core/file.hpp"

namespace weir::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ScoreTable table_of(const char* file) {
  const auto text = read_text(std::string(WEIR_TEST_DATA) + "/scores/" + file);
  EXPECT_TRUE(text);
  auto ranks = read_rank_table(*text, file);
  EXPECT_TRUE(ranks) << ranks.error().message();
  return make_score_table(std::move(*ranks));
}

std::vector<std::string> printed(const ScoreTable& table) {
  std::vector<std::string> scores;
  for (const double score : table.scores) scores.push_back(fmt::format("{:.2f}", two_decimals(score)));
  return scores;
}

TEST(Scores, Table61ToTheLastDigit) {
  const ScoreTable table = table_of("table_6_1.csv");
  EXPECT_THAT(printed(table), ElementsAre("4.83", "4.50", "4.83", "3.67", "3.33", "3.67", "6.50", "4.67"));
  EXPECT_EQ(table.ranks.configurations[table.best()], "T:agg=1,rr=1,req=4");
}

TEST(Scores, Table62ToTheLastDigit) {
  const ScoreTable table = table_of("table_6_2.csv");
  EXPECT_THAT(printed(table), ElementsAre("4.00", "4.17", "2.83", "2.67", "3.17", "4.17"));
  EXPECT_EQ(table.ranks.configurations[table.best()], "T:agg=1,rr=1,req=8");
}

TEST(Scores, JsonHasTheRowsAsPrinted) {
  const ScoreTable table = table_of("table_6_1.csv");
  const Json json = to_json(table);
  ASSERT_EQ(json["scores"].size(), 8U);
  EXPECT_EQ(json["scores"][4]["configuration"], "T:agg=1,rr=1,req=4");
  EXPECT_EQ(json["scores"][4]["score"].dump(), "3.33");
  EXPECT_NEAR(json["scores"][4]["score_exact"].get<double>(), 20.0 / 6.0, 1e-12);
  const std::string text = render(table);
  EXPECT_THAT(text, HasSubstr("configuration"));
  EXPECT_THAT(text, HasSubstr("score"));
  EXPECT_THAT(text, HasSubstr("3.33  best"));
}

// What is known of the paper's tables: the metrics do not agree, two of them say the same, and the winner
// hangs on single metrics.
TEST(Scores, SaysHowFarTheTableCanBeTrusted) {
  const ScoreTable table = table_of("table_6_1.csv");
  EXPECT_NEAR(table.agreement, 0.17, 0.005);
  ASSERT_EQ(table.duplicates.size(), 1U);
  EXPECT_THAT(table.duplicates[0], ElementsAre("req_qdepth", "req_waittime"));
  ASSERT_EQ(table.opposed.size(), 1U);
  EXPECT_EQ(table.opposed[0].second, "T_wait_max");
  EXPECT_TRUE(std::any_of(table.leave_one_out.begin(), table.leave_one_out.end(),
                          [](const auto& left) { return !left.same; }));
  EXPECT_LT(table.wins[table.best()], 0.5);
  double all = 0;
  for (const double share : table.wins) all += share;
  EXPECT_NEAR(all, 1.0, 1e-9);
  EXPECT_NEAR(table_of("table_6_2.csv").agreement, 0.14, 0.005);
}

TEST(Scores, SameSeedSameResult) {
  const ScoreTable table = table_of("table_6_1.csv");
  EXPECT_EQ(table.wins, make_score_table(table.ranks).wins);
  EXPECT_NE(table.wins, make_score_table(table.ranks, 2).wins);
}

TEST(Scores, ClearWinnerIsCalledClear) {
  RankTable ranks{.configurations = {"a", "b", "c"}, .metrics = {"m", "n"}, .ranks = {{1, 2, 3}, {1, 3, 2}}};
  const ScoreTable table = make_score_table(ranks);
  EXPECT_DOUBLE_EQ(table.wins[0], 1.0);
  EXPECT_THAT(fmt::format("{}", table.meaning[1]), HasSubstr("whichever"));
  EXPECT_THAT(render(table), HasSubstr("a clear result"));
}

TEST(Scores, RanksOfValuesFollowTheDirection) {
  EXPECT_THAT(ranks_by({5, 1, 3}, Direction::low_is_good), ElementsAre(3, 1, 2));
  EXPECT_THAT(ranks_by({5, 1, 3}, Direction::high_is_good), ElementsAre(1, 3, 2));
  EXPECT_THAT(ranks_by({5, 5, 3, 3}, Direction::low_is_good), ElementsAre(3.5, 3.5, 1.5, 1.5));
  EXPECT_EQ(find_metric("req.qdepth")->id, "req_qdepth");
  EXPECT_EQ(find_metric("req_waitempty")->id, "req_waittime");
  EXPECT_EQ(find_metric("r bw")->good, Direction::high_is_good);
  EXPECT_EQ(find_metric("nothing"), nullptr);
}

std::string refusal(std::string_view text) {
  const auto table = read_rank_table(text, "r.csv");
  return table ? "accepted" : table.error().message();
}

TEST(Scores, RefusesWhatIsNoRankTableWithFileAndLine) {
  EXPECT_THAT(refusal(""), HasSubstr("r.csv:1"));
  EXPECT_THAT(refusal("a,b\n1,2\n"), HasSubstr("'configuration'"));
  EXPECT_THAT(refusal("configuration\nx\n"), HasSubstr("no column of a metric"));
  EXPECT_THAT(refusal("configuration,m\n"), HasSubstr("no configuration"));
  EXPECT_THAT(refusal("configuration,m\na,1\n\nb,x\n"),
              HasSubstr("r.csv:4: column 'm': 'x' is not a number"));
  EXPECT_THAT(refusal("configuration,m\na,0.25\n"), HasSubstr("--measured"));
  EXPECT_THAT(refusal("configuration,m\na,nan\n"), HasSubstr("not a number"));
  EXPECT_THAT(refusal("configuration,m\na,\n"), HasSubstr("r.csv:2: column 'm': it is empty"));
  EXPECT_THAT(refusal("configuration,m\na,1\na,2\n"), HasSubstr("r.csv:3"));
  EXPECT_THAT(refusal("configuration,m,M\na,1,2\n"), HasSubstr("two columns"));
  EXPECT_THAT(refusal("m,n,configuration\n1,a\n"), HasSubstr("2 fields where the titles say 3"));
  EXPECT_THAT(refusal("configuration,m\n\"a,1\n"), HasSubstr("never closed"));
}

TEST(Scores, UnderstandsTablesAsPeoplePasteThem) {
  const auto unquoted = read_rank_table(
      "\xEF\xBB\xBF"
      "Configuration, m ,n\r\nT:agg=1,rr=0,req=4, 1 ,2\r\n\r\nx,2,1\r\n",
      "r.csv");
  ASSERT_TRUE(unquoted) << unquoted.error().message();
  EXPECT_THAT(unquoted->configurations, ElementsAre("T:agg=1,rr=0,req=4", "x"));
  EXPECT_THAT(unquoted->ranks[1], ElementsAre(2, 1));
  const auto tabs = read_rank_table("configuration\tm\tscore\na,b\t1\t9.99\n", "r.tsv");
  ASSERT_TRUE(tabs) << tabs.error().message();
  EXPECT_THAT(tabs->configurations, ElementsAre("a,b"));
  EXPECT_THAT(tabs->metrics, ElementsAre("m"));
}

TEST(Csv, QuotesHoldSeparatorsQuotesAndLines) {
  const auto csv = parse_csv("a,b\n\"x\"\"y\",\"1\n2\"\nlast,3", "t.csv");
  ASSERT_TRUE(csv) << csv.error().message();
  EXPECT_EQ(csv->rows[0].fields[0], "x\"y");
  EXPECT_EQ(csv->rows[0].fields[1], "1\n2");
  EXPECT_EQ(csv->rows[1].line, 4U);
  EXPECT_EQ(csv->number(csv->rows[1], 1).value(), 3.0);
}

TEST(Statistics, DistributionOfKnownNumbers) {
  const Distribution d = distribution({1, unknown, 3, 2, 4});
  EXPECT_EQ(d.count, 4U);
  EXPECT_DOUBLE_EQ(d.mean, 2.5);
  EXPECT_DOUBLE_EQ(d.median, 2.5);
  EXPECT_DOUBLE_EQ(d.p25, 1.75);
  EXPECT_DOUBLE_EQ(d.gini, 0.25);
  EXPECT_NEAR(d.variation, std::sqrt(1.25) / 2.5, 1e-12);
  EXPECT_DOUBLE_EQ(d.most_over_mean, 1.6);
  EXPECT_DOUBLE_EQ(d.least_over_mean, 0.4);
  EXPECT_EQ(distribution({}).count, 0U);
  EXPECT_FALSE(is_known(distribution({unknown}).mean));
  EXPECT_FALSE(is_known(distribution({0, 0}).gini));
  EXPECT_NEAR(distribution({0, 0, 0, 8}).gini, 0.75, 1e-12);
}

TEST(Statistics, RankCorrelation) {
  EXPECT_DOUBLE_EQ(rank_correlation(std::vector<double>{1, 2, 3, 4}, std::vector<double>{10, 20, 30, 400}),
                   1.0);
  EXPECT_DOUBLE_EQ(rank_correlation(std::vector<double>{1, 2, 3, 4}, std::vector<double>{4, 3, 2, -1}), -1.0);
  EXPECT_FALSE(is_known(rank_correlation(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3})));
  EXPECT_FALSE(is_known(rank_correlation(std::vector<double>{1, unknown, 3}, std::vector<double>{1, 2, 3})));
  // With ties: x ranks 1 2.5 2.5 4, y ranks 1 3 2 4.
  EXPECT_NEAR(rank_correlation(std::vector<double>{1, 2, 2, 3}, std::vector<double>{1, 3, 2, 4}),
              4.5 / std::sqrt(4.5 * 5), 1e-12);
}

TEST(Statistics, DuplicatesShareAVote) {
  const std::vector<std::vector<double>> columns{
      {1, 2, 3, 4, 5, 6}, {6, 1, 5, 2, 4, 3}, {6, 5, 4, 3, 2, 1}, {1, 2, 3, 4, 6, 5}};
  const auto groups = duplicate_groups(columns);
  EXPECT_THAT(groups, ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(group_weights(groups), ElementsAre(1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6));
  EXPECT_THAT(opposed_pairs(columns), ElementsAre(std::pair<std::size_t, std::size_t>(0, 2),
                                                  std::pair<std::size_t, std::size_t>(2, 3)));
  EXPECT_THAT(duplicate_groups({{1, 2, 3}, {1, 2, 3}}), ElementsAre(0, 1)) << "three pairs prove nothing";
}

}  // namespace
}  // namespace weir::analysis
