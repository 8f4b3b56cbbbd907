#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/analyse.hpp"
#include "analysis/bins.hpp"
#include "analysis/serving.hpp"
#include "analysis_site.hpp"

namespace weir::analysis {
namespace {

using testing::HasSubstr;

JobAnalysis analysed(store::Store& store, const AnalyseOptions& options = {}) {
  auto result = analyse(store, "4711", options);
  EXPECT_TRUE(result) << result.error().message();
  return result ? std::move(*result) : JobAnalysis{};
}

double value(const JobAnalysis& job, std::string_view id) {
  const Metric* metric = job.find(id);
  return metric == nullptr ? unknown : metric->value;
}

const Matrix* matrix(const JobAnalysis& job, std::string_view id) {
  for (const Matrix& one : job.matrices) {
    if (one.id == id) return &one;
  }
  return nullptr;
}

const Timeline* timeline(const JobAnalysis& job, std::string_view id) {
  for (const Timeline& one : job.timelines) {
    if (one.id == id) return &one;
  }
  return nullptr;
}

TEST(Serving, ThePapersJobHas192Osts) {
  const ServerFinder finder(Site::nodes(), Site::topology());
  const Serving serving = finder.serving(Site::job());
  EXPECT_EQ(Site::job().nodes.size(), 3072U);
  EXPECT_EQ(serving.servers.size(), 192U) << "I/O nodes of all roles on the same Z links";
  EXPECT_EQ(serving.targets.size(), 192U);
  EXPECT_TRUE(serving.notes.empty());
  const TargetGrid grid = target_grid(serving);
  EXPECT_EQ(grid.columns.size(), 16U);
  EXPECT_EQ(grid.rows.size(), 12U);
  std::set<std::string> all(grid.targets.begin(), grid.targets.end());
  EXPECT_EQ(all.size(), 192U);
}

TEST(Serving, OneNodeHasTheOneIoNodeOnItsZLink) {
  const ServerFinder finder(Site::nodes(), Site::topology());
  store::Job job;
  job.nodes = {Site::node_name(1, 2, 9, 1, 2, 0)};
  const Serving serving = finder.serving(job);
  ASSERT_EQ(serving.servers.size(), 1U);
  EXPECT_EQ(serving.servers[0].name, Site::node_name(1, 2, 0, 1, 2, 0));
  EXPECT_EQ(serving.targets.size(), 2U);
  job.nodes.push_back("elsewhere");
  EXPECT_THAT(finder.serving(job).notes.at(0), HasSubstr("elsewhere"));
}

TEST(Serving, OtherRules) {
  store::Topology topology = Site::topology();
  topology.serving_rule = "all";
  EXPECT_EQ(ServerFinder(Site::nodes(), topology).serving(Site::job()).targets.size(), 288U);
  topology.serving_rule = "table";
  std::vector<store::Node> nodes = Site::nodes();
  for (store::Node& node : nodes) {
    if (node.role == store::NodeRole::compute) node.servers = {Site::node_name(0, 0, 0, 0, 0, 0), "gone"};
  }
  const Serving serving = ServerFinder(nodes, topology).serving(Site::job());
  ASSERT_EQ(serving.servers.size(), 1U);
  EXPECT_EQ(serving.targets.size(), 2U);
  const Serving own = ServerFinder({}, std::nullopt).serving(Site::job());
  EXPECT_TRUE(own.own_nodes);
  EXPECT_EQ(own.servers.size(), 3072U);
}

TEST(Bins, SpreadsFoldsAndLeavesGapsOpen) {
  constexpr std::int64_t s = site_second;
  Bins bins({.from = 0, .to = 100 * s}, 10);
  EXPECT_EQ(bins.step(), 10 * s);
  bins.add({.begin = 0, .end = 20 * s, .difference = 200});
  bins.add({.begin = 20 * s, .end = 60 * s, .difference = 999, .mark = telemetry::IntervalMark::gap});
  bins.add({.begin = 60 * s, .end = 160 * s, .difference = 1000});  // 40% of it inside
  const auto rates = bins.rates(1);
  ASSERT_EQ(rates.size(), 10U);
  EXPECT_DOUBLE_EQ(rates[0], 10);
  EXPECT_DOUBLE_EQ(rates[1], 10);
  EXPECT_FALSE(is_known(rates[3]));
  EXPECT_DOUBLE_EQ(rates[9], 10);
  const Bins folded = bins.folded(25 * s);
  EXPECT_EQ(folded.step(), 30 * s);
  EXPECT_EQ(folded.size(), 4U);
  EXPECT_DOUBLE_EQ(folded.rates(1)[0], 10) << "what is known of it";
  EXPECT_FALSE(is_known(folded.rates(2)[1]));
  EXPECT_EQ(Bins({.from = 0, .to = 86400 * s}, 1440).step(), 60 * s);
  EXPECT_EQ(Bins({.from = 5, .to = 6}, 1440).size(), 1U);
}

// Without noise every metric of the paper can be said in advance.
TEST(Job, MetricsAsThePaperDefinesThem) {
  Site site;
  SiteOptions options{.noise = 0};
  options.change = [](Minute& now, int server, int, int link, int minute) {
    if (minute == 7 && server == 3 && link == 4) now.link_wait = 0.5;  // 30 s of one minute
  };
  const JobAnalysis job = analysed(site.fill(options));
  EXPECT_EQ(job.job.servers, 192U);
  EXPECT_EQ(job.job.targets, 192U);
  EXPECT_EQ(job.job.links, 1920U);
  EXPECT_EQ(job.job.shape, "8x12x32");
  EXPECT_DOUBLE_EQ(job.job.elapsed_seconds, 1200);
  EXPECT_NEAR(value(job, "req_qdepth"), 8, 1e-6);
  EXPECT_NEAR(value(job, "req_waittime"), 0.002, 1e-9);
  EXPECT_NEAR(value(job, "req_active"), 16, 1e-6);
  EXPECT_NEAR(value(job, "R_BW"), 0.2, 1e-9);
  EXPECT_NEAR(value(job, "OST_mean"), 120e6, 1);
  EXPECT_NEAR(value(job, "OST_write"), 100e6, 1);
  EXPECT_NEAR(value(job, "OST_read"), 20e6, 1);
  EXPECT_NEAR(value(job, "throughput"), 192 * 120e6, 1e3);
  // 1,919 links wait 0.06 s in their worst minute, one 30 s.
  EXPECT_NEAR(value(job, "T_wait_max"), (1919 * 0.06 + 30) / 1920, 1e-6);
  EXPECT_NEAR(job.find("T_wait_max")->over_parts.most, 30, 1e-6);
  EXPECT_NEAR(job.job.write_bytes, 192 * 100e6 * 1200, 1e6);
  EXPECT_NEAR(job.job.file_system_bytes, job.job.write_bytes + job.job.read_bytes, 1e6);
  EXPECT_NEAR(job.completeness.covered, 1.0, 1e-9);
  EXPECT_EQ(job.completeness.gaps, 0U);
  EXPECT_DOUBLE_EQ(job.completeness.interval_seconds, 60);
  EXPECT_NEAR(job.find("OST_mean")->over_parts.gini, 0, 1e-6);
}

TEST(Job, TimelinesAndHeatMaps) {
  Site site;
  SiteOptions options{.noise = 0};
  options.change = [](Minute& now, int, int target, int, int minute) {
    if (target == 5 && minute >= 10) now.write = 50e6;
  };
  const JobAnalysis job = analysed(site.fill(options));
  const Timeline* write = timeline(job, "write_throughput");
  ASSERT_NE(write, nullptr);
  EXPECT_EQ(write->step_ns, 60 * site_second) << "no finer than the samples";
  ASSERT_EQ(write->values.size(), 20U);
  EXPECT_NEAR(write->values[0], 192 * 100e6, 1e3);
  EXPECT_NEAR(write->values[15], 192 * 100e6 - 50e6, 1e3);
  const Matrix* place = matrix(job, "ost_write_position");
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->rows.size(), 12U);
  EXPECT_EQ(place->columns.size(), 16U);
  EXPECT_DOUBLE_EQ(place->scale_high, 160.0 * 1024 * 1024);
  EXPECT_EQ(std::count_if(place->values.begin(), place->values.end(), [](double v) { return v < 80e6; }), 1);
  const Matrix* time = matrix(job, "ost_write_time");
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(time->rows.size(), 192U);
  EXPECT_EQ(time->columns.size(), 20U);
  EXPECT_EQ(std::count_if(time->values.begin(), time->values.end(), [](double v) { return v < 80e6; }), 10);
  const Matrix* links = matrix(job, "link_use");
  ASSERT_NE(links, nullptr);
  EXPECT_EQ(links->rows, Site::topology().links);
  EXPECT_EQ(links->columns.size(), 192U);
  EXPECT_NEAR(links->values[17], 0.2, 1e-9);
  EXPECT_DOUBLE_EQ(links->scale_high, 1);
  // Writing slowed down when depth did not change: throughput correlates with nothing constant.
  EXPECT_FALSE(is_known(job.find("req_qdepth")->correlation));
}

TEST(Job, CorrelatesMetricsWithThroughputOverTime) {
  Site site;
  SiteOptions options{.noise = 0.01};
  options.change = [](Minute& now, int, int, int, int minute) {
    const double slower = 1 + std::max(0, minute);
    now.write /= slower;
    now.read /= slower;
    now.depth *= slower;
    now.link_bytes /= slower;
  };
  const JobAnalysis job = analysed(site.fill(options));
  EXPECT_LT(job.find("req_qdepth")->correlation, -0.95);
  EXPECT_GT(job.find("R_BW")->correlation, 0.95);
}

TEST(Job, ResetsAndGapsBecomeNoRates) {
  Site site;
  SiteOptions options{.noise = 0};
  const std::string broken = Site::node_name(0, 0, 0, 0, 0, 0);
  options.damage = [&](telemetry::Series& series) {
    const std::size_t middle = 20;
    if (series.key.node != broken) return;
    if (series.key.component == broken + "-ost0") {  // begins anew
      const std::uint64_t lost = series.values[middle] - 5;
      for (std::size_t i = middle; i < series.values.size(); ++i) series.values[i] -= lost;
    } else if (series.key.component == broken + "-ost1") {  // five minutes missing
      series.times.erase(series.times.begin() + middle, series.times.begin() + middle + 5);
      series.values.erase(series.values.begin() + middle, series.values.begin() + middle + 5);
    }
  };
  const JobAnalysis job = analysed(site.fill(options));
  EXPECT_EQ(job.completeness.resets, 2U);
  EXPECT_EQ(job.completeness.gaps, 2U);
  EXPECT_DOUBLE_EQ(job.completeness.longest_gap_seconds, 360);
  EXPECT_LT(job.completeness.covered, 1.0);
  EXPECT_NEAR(value(job, "OST_write"), 100e6, 1) << "a reset is not a rate, and a gap loses no bytes";
  EXPECT_NEAR(job.find("OST_write")->over_parts.most, 100e6, 1);
  const Matrix* time = matrix(job, "ost_write_time");
  EXPECT_EQ(std::count_if(time->values.begin(), time->values.end(), [](double v) { return !is_known(v); }),
            7);
}

TEST(Job, NeighboursAndShares) {
  Site site;
  SiteOptions options{.noise = 0};
  const double all = 192 * 120e6 * 1200;
  options.figures = {{"bytes_written", 0.4 * all}};
  store::Job other = Site::job("5000");
  other.nodes.resize(other.nodes.size() / 2);
  other.node_count = other.nodes.size();
  other.start_ns = job_start + 600 * site_second;
  other.end_ns = job_start + 3000 * site_second;
  store::Job before = Site::job("4000");
  before.start_ns = site_start;
  before.end_ns = job_start;
  store::Job far = Site::job("6000");
  far.nodes = {Site::node_name(0, 5, 3, 0, 0, 0)};
  far.node_count = 1;
  far.start_ns = job_start;
  far.end_ns = job_start + 1200 * site_second;
  options.others = {other, before, far};
  const JobAnalysis job = analysed(site.fill(options));
  EXPECT_NEAR(job.job.own_share, 0.4, 1e-6);
  EXPECT_NEAR(job.job.coverage_factor, 0.4, 1e-6);
  EXPECT_EQ(job.job.own_bytes_known_by, "job record");
  ASSERT_EQ(job.neighbours.size(), 1U);
  EXPECT_EQ(job.neighbours[0].job_id, "5000");
  EXPECT_NEAR(job.neighbours[0].share, 0.6, 1e-6);
  EXPECT_DOUBLE_EQ(job.neighbours[0].overlap_seconds, 600);
  EXPECT_EQ(job.neighbours[0].shared_servers, 96U);
}

TEST(Job, CountersKeptPerJobTellWhoMovedWhat) {
  Site site;
  SiteOptions options{.noise = 0};
  store::Job other = Site::job("5000");
  other.start_ns = job_start;
  other.end_ns = job_start + 1200 * site_second;
  options.others = {other};
  store::Store& store = site.fill(options);
  std::vector<telemetry::Series> series;
  const std::string node = Site::node_name(0, 0, 0, 0, 0, 0);
  const auto per_job = [&](const std::string& id, double bytes) {
    series.push_back({.key = {telemetry::counter_id("job.write_bytes"), node, node + "-ost0", id},
                      .times = {job_start - 60 * site_second, job_start + 1260 * site_second},
                      .values = {0, static_cast<std::uint64_t>(bytes * 1320 / 1200)}});
  };
  const double all = 192 * 120e6 * 1200;
  per_job("4711", 0.7 * all);
  per_job("5000:n00", 0.2 * all);
  per_job("50001", 0.1 * all);
  ASSERT_TRUE(store.write(series));
  const JobAnalysis job = analysed(store);
  EXPECT_EQ(job.job.own_bytes_known_by, "job counters");
  EXPECT_NEAR(job.job.own_share, 0.7, 1e-3);
  ASSERT_EQ(job.neighbours.size(), 1U);
  EXPECT_NEAR(job.neighbours[0].share, 0.2, 1e-3);
  EXPECT_EQ(job.neighbours[0].known_by, "job counters");
}

TEST(Job, WhatIsNotThereIsSaid) {
  Site site;
  store::Store& store = site.fill({});
  const auto missing = analyse(store, "4712");
  ASSERT_FALSE(missing);
  store::Job job = Site::job("later");
  job.start_ns = job_start + 1'000'000 * site_second;
  job.end_ns = job.start_ns + 60 * site_second;
  ASSERT_TRUE(store.put(job));
  const auto later = analyse(store, "later");
  ASSERT_TRUE(later) << later.error().message();
  ASSERT_FALSE(later->insights.empty());
  EXPECT_EQ(later->insights[0].code, "no-data");
  job.id = "timeless";
  job.start_ns = job.end_ns = 0;
  ASSERT_TRUE(store.put(job));
  const auto timeless = analyse(store, "timeless");
  ASSERT_FALSE(timeless);
  EXPECT_THAT(timeless.error().message(), HasSubstr("start time"));
  job.id = "running";
  job.start_ns = job_start;
  ASSERT_TRUE(store.put(job));
  const auto running = analyse(store, "running");
  ASSERT_TRUE(running) << running.error().message();
  EXPECT_NEAR(running->job.elapsed_seconds, 1800, 61) << "until the last sample";
}

TEST(Job, JsonHasEverythingAndNoNumberThatIsNone) {
  Site site;
  const JobAnalysis job = analysed(site.fill({}));
  const Json json = to_json(job);
  const std::string text = json.dump();
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf\""), std::string::npos);
  EXPECT_EQ(json["job"]["targets"], 192);
  EXPECT_EQ(json["metrics"].size(), job.metrics.size());
  EXPECT_TRUE(json["job"]["own_bytes"].is_null());
  EXPECT_TRUE(parse_json(text));
}

}  // namespace
}  // namespace weir::analysis
