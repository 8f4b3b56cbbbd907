// From an analysis to words, units and charts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/comparison.hpp"
#include "report/job_charts.hpp"
#include "report/job_document.hpp"
#include "report/quantity.hpp"

namespace weir::report::test {

namespace {

using analysis::JobAnalysis;
using testing::HasSubstr;

constexpr double mebi = 1024.0 * 1024.0;
constexpr std::int64_t second = 1000000000;

analysis::Metric metric(const char* id, double value, const char* part, std::uint64_t parts) {
  analysis::Metric result{.kind = *analysis::find_metric(id), .value = value, .part = part};
  result.over_parts = {.count = parts,
                       .mean = value,
                       .median = value,
                       .p95 = value * 2,
                       .most = value * 3,
                       .gini = 0.4,
                       .most_over_mean = 3};
  return result;
}

JobAnalysis job(const char* id, const char* configuration, double speed) {
  JobAnalysis result;
  result.job = {.id = id,
                .user = "alice",
                .name = "ior",
                .state = "completed",
                .start_ns = 1564660800 * second,
                .end_ns = 1564660810 * second,
                .elapsed_seconds = 10,
                .nodes = 4,
                .shape = "2x2",
                .servers = 1,
                .targets = 2,
                .write_bytes = speed * 10,
                .figures = {{"io_seconds", 2.5}}};
  result.job.configuration = configuration;
  result.completeness = {.series = 4, .samples = 40, .covered = 0.9, .interval_seconds = 1, .resets = 2};
  result.metrics = {metric("req_qdepth", 12, "server", 1), metric("req_waittime", 0.0142, "server", 2),
                    metric("R_BW", 0.041, "link", 10), metric("OST_mean", speed / 2, "OST", 2)};
  for (const char* which : {"write", "read"}) {
    analysis::Timeline timeline{
        .id = std::string(which) + "_throughput",
        .title = which == std::string("write") ? "Write throughput" : "Read throughput",
        .unit = "B/s",
        .start_ns = result.job.start_ns,
        .step_ns = second};
    for (int i = 0; i < 10; ++i) timeline.values.push_back(i == 4 ? NAN : i == 7 ? speed * 2 : speed / 2);
    result.timelines.push_back(timeline);
  }
  result.timelines.push_back({.id = "idle",
                              .title = "Network",
                              .unit = "B/s",
                              .start_ns = result.job.start_ns,
                              .step_ns = second,
                              .values = {0, 0}});
  result.matrices = {{.id = "ost_write_time",
                      .title = "Write throughput of each OST over time",
                      .unit = "B/s",
                      .row_title = "OST",
                      .column_title = "time",
                      .rows = {"a", "b"},
                      .columns = {"0 s", "5 s"},
                      .values = {speed, speed, 2 * speed, NAN},
                      .scale_high = 4 * speed},
                     {.id = "ost_write_position",
                      .title = "Write throughput of each OST at its place",
                      .unit = "B/s",
                      .rows = {"0"},
                      .columns = {"0", "1"},
                      .values = {speed, 2 * speed},
                      .cells = {"a", "b"},
                      .scale_high = 4 * speed}};
  result.insights = {{.code = "slow-target",
                      .severity = analysis::Severity::critical,
                      .sentence = "OST a is slow.",
                      .advice = "Leave it out.",
                      .evidence = {{"busy_rate", 3145728.0},
                                   {"idle", 4},
                                   {"longest_wait_seconds", 0.25},
                                   {"mean_bytes", 2048},
                                   {"wait_share", 0.25}},
                      .objects = {"a"}}};
  result.neighbours = {{.job_id = "7",
                        .user = "bob",
                        .name = "other",
                        .shared_servers = 1,
                        .overlap_seconds = 5,
                        .share = 0.6}};
  result.notes = {"No job counters are there."};
  return result;
}

const Fact* fact(const JobPage& page, const std::string& label) {
  for (const Fact& each : page.facts) {
    if (each.label == label) return &each;
  }
  return nullptr;
}

TEST(ReportQuantity, UnitsThatPeopleRead) {
  EXPECT_EQ(format_quantity(1288490189, "B"), "1.20 GiB");
  EXPECT_EQ(format_quantity(95 * mebi, "B/s"), "95 MiB/s");
  EXPECT_EQ(format_quantity(0.0142, "s"), "14.2 ms");
  EXPECT_EQ(format_quantity(132, "requests"), "132 requests");
  EXPECT_EQ(format_quantity(NAN, "s"), "-");
  EXPECT_EQ(format_quantity(0, "B"), "0 B");
  EXPECT_EQ(format_share(0.0412), "4.1 %");
  EXPECT_EQ(format_share(0.0001), "< 0.1 %");
  EXPECT_EQ(format_share(1), "100 %");
  EXPECT_EQ(format_duration(0.85), "850 ms");
  EXPECT_EQ(format_duration(185), "3 min 05 s");
  EXPECT_EQ(format_duration(59.97), "1 min 00 s");
  EXPECT_EQ(format_duration(7380), "2 h 03 min");
  EXPECT_EQ(format_time(1564660800 * second), "2019-08-01 12:00:00 UTC");
  EXPECT_EQ(format_time(0), "-");
}

TEST(ReportJobDocument, FactsInWords) {
  const JobPage page = job_page(job("1", "a", 100 * mebi));
  EXPECT_EQ(page.line,
            "alice · 4 nodes (2x2) · 1 I/O node · 2 storage targets · 2019-08-01 12:00:00 UTC · 10 s");
  EXPECT_EQ(page.tone, Tone::good);
  ASSERT_NE(fact(page, "Written"), nullptr);
  EXPECT_EQ(fact(page, "Written")->value, "1000 MiB");
  EXPECT_EQ(fact(page, "Written")->note, "100 MiB/s on average");
  EXPECT_EQ(fact(page, "Read"), nullptr) << "nothing is known of reads";
  EXPECT_EQ(fact(page, "Peak write")->value, "200 MiB/s");
  EXPECT_EQ(fact(page, "Peak write")->note, "7 s after the start");
  EXPECT_EQ(fact(page, "I/O time")->note, "25 % of the run, as the program saw it");
  EXPECT_EQ(fact(page, "Wait of requests")->value, "14.2 ms");
  EXPECT_EQ(fact(page, "Wait of requests")->note, "worst server 42.6 ms");
  EXPECT_EQ(fact(page, "Use of links")->value, "4.1 %");
  EXPECT_EQ(fact(page, "Balance")->tone, Tone::bad);
  EXPECT_EQ(fact(page, "Data")->value, "90 %");
  EXPECT_EQ(fact(page, "Data")->note, "every 1 s, 2 resets");
  EXPECT_EQ(fact(page, "Data")->tone, Tone::caution);
}

TEST(ReportJobDocument, WhatTheProgramSaysGoesBeforeWhatItsTargetsSaw) {
  JobAnalysis analysis = job("1", "a", 100 * mebi);
  analysis.job.figures["bytes_written"] = 500 * mebi;
  const JobPage page = job_page(analysis);
  EXPECT_EQ(fact(page, "Written")->value, "500 MiB");
  EXPECT_THAT(fact(page, "Written")->note, HasSubstr("storage saw 1000 MiB"));
}

TEST(ReportJobDocument, NoSamplesIsSaid) {
  JobAnalysis analysis;
  analysis.job = {.id = "1", .state = "lost"};
  const JobPage page = job_page(analysis);
  EXPECT_EQ(page.tone, Tone::bad);
  EXPECT_EQ(fact(page, "Data")->value, "none");
  EXPECT_TRUE(page.timelines.empty());
}

TEST(ReportJobDocument, ReadsAndWritesShareAChartInAUnitThatFits) {
  const auto charts = timeline_charts(job("1", "a", 100 * mebi));
  ASSERT_EQ(charts.size(), 1U) << "an idle network is no chart";
  EXPECT_EQ(charts[0].title, "Throughput");
  EXPECT_EQ(charts[0].y_label, "throughput (MiB/s)");
  ASSERT_EQ(charts[0].series.size(), 2U);
  EXPECT_EQ(charts[0].series[0].name, "write");
  EXPECT_DOUBLE_EQ(charts[0].series[0].values[7], 200);
  EXPECT_TRUE(std::isnan(charts[0].series[0].values[4]));
  EXPECT_DOUBLE_EQ(charts[0].x[3], 3);
}

TEST(ReportJobDocument, HeatMapsKeepTheSitesScale) {
  const auto maps = heat_maps(job("1", "a", 100 * mebi));
  ASSERT_EQ(maps.size(), 2U);
  EXPECT_DOUBLE_EQ(maps[0].high, 400);
  EXPECT_EQ(maps[0].value_label, "MiB/s");
  EXPECT_FALSE(maps[0].upward);
  EXPECT_TRUE(maps[1].upward) << "positions are drawn as on a map";
  EXPECT_EQ(maps[1].cells[1], "b");
}

TEST(ReportJobDocument, BalanceHasTheBusiestFirst) {
  const auto charts = balance_charts(job("1", "a", 100 * mebi));
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].categories, (std::vector<std::string>{"b", "a"}));
  EXPECT_DOUBLE_EQ(charts[0].series[0].values[0], 200);
  EXPECT_DOUBLE_EQ(charts[0].references[0].value, 150);
}

TEST(ReportJobDocument, FindingsNeighboursAndNotes) {
  const JobPage page = job_page(job("1", "a", 100 * mebi));
  ASSERT_EQ(page.findings.size(), 1U);
  EXPECT_EQ(page.findings[0].tone, Tone::bad);
  EXPECT_EQ(page.findings[0].evidence,
            "busy rate 3 MiB/s, idle 4, longest wait 250 ms, mean bytes 2 KiB, wait share 25 %; a");
  ASSERT_EQ(page.tables.size(), 3U);
  EXPECT_EQ(page.tables[1].rows[0].back(), "60 %");
  EXPECT_EQ(page.tables[2].rows[0][0], "No job counters are there.");
}

TEST(ReportJobDocument, SeveralRunsWithTheirScores) {
  auto comparison = analysis::compare({job("1", "slow", 50 * mebi), job("2", "fast", 100 * mebi),
                                       job("3", "slow", 52 * mebi), job("4", "fast", 101 * mebi)});
  ASSERT_TRUE(comparison) << comparison.error().message();
  const Document document = job_document(*comparison);
  EXPECT_EQ(document.title, "slow vs fast");
  ASSERT_TRUE(document.comparison);
  const Grid& table = document.comparison->table;
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][0], "A, C");
  EXPECT_EQ(table.rows[1][0], "B, D");
  EXPECT_EQ(table.rows[1][1], "fast");
  EXPECT_FALSE(document.comparison->verdict.empty());
  EXPECT_EQ(document.jobs[0].heat_maps[0].high, document.jobs[1].heat_maps[0].high);
  // A slow run and a fast one are drawn in the same unit.
  comparison = analysis::compare({job("1", "slow", 50 * 1024.0), job("2", "fast", 3000 * mebi)});
  ASSERT_TRUE(comparison);
  const Document far_apart = job_document(*comparison);
  EXPECT_EQ(far_apart.jobs[0].timelines[0].y_label, "throughput (GiB/s)");
  EXPECT_EQ(far_apart.jobs[1].timelines[0].y_label, "throughput (GiB/s)");
  EXPECT_EQ(far_apart.jobs[0].charts[0].y_label, far_apart.jobs[1].charts[0].y_label);
  EXPECT_EQ(far_apart.jobs[0].heat_maps[0].value_label, far_apart.jobs[1].heat_maps[0].value_label);
  ASSERT_TRUE(document.comparison->chart);
  EXPECT_TRUE(check(*document.comparison->chart));
}

}  // namespace

}  // namespace weir::report::test
