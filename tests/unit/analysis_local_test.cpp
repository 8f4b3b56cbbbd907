// Jobs of this machine: no servers are known, the counters are those of block devices, interfaces and
// processors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/analyse.hpp"
#include "analysis/comparison.hpp"
#include "analysis_site.hpp"

namespace weir::analysis {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Laptop {
 public:
  Laptop() {
    auto opened = store::Store::open((site_.folder() / "own.db").string());
    EXPECT_TRUE(opened) << opened.error().message();
    store_ = std::make_unique<store::Store>(std::move(*opened));
  }

  // A job of `seconds` that grows counters at these rates per second, sampled every second from one second
  // before.
  void run(const std::string& id, std::int64_t at, std::int64_t seconds,
           const std::map<std::pair<std::string, std::string>, double>& rates,
           const std::string& configuration = {}, const std::map<std::string, double>& figures = {}) {
    store::Job job;
    job.id = id;
    job.name = "app";
    job.state = store::JobState::completed;
    job.nodes = {"laptop"};
    job.node_count = 1;
    job.start_ns = site_start + at * site_second;
    job.end_ns = job.start_ns + seconds * site_second;
    job.figures = figures;
    if (!configuration.empty()) job.labels["configuration"] = configuration;
    EXPECT_TRUE(store_->put(job));
    std::vector<telemetry::Series> series;
    for (const auto& [what, rate] : rates) {
      telemetry::Series one{.key = {*telemetry::find_counter(what.first), "laptop", what.second, {}},
                            .times = {},
                            .values = {}};
      for (std::int64_t second = -1; second <= seconds + 1; ++second) {
        one.times.push_back(job.start_ns + second * site_second);
        one.values.push_back(static_cast<std::uint64_t>(1e6 + static_cast<double>(second + 1) * rate));
      }
      series.push_back(std::move(one));
    }
    const Status written = store_->write(series);
    EXPECT_TRUE(written) << written.error().message();
  }

  store::Store& store() { return *store_; }

 private:
  Site site_;
  std::unique_ptr<store::Store> store_;
};

double value(const JobAnalysis& job, std::string_view id) {
  const Metric* metric = job.find(id);
  return metric == nullptr ? unknown : metric->value;
}

TEST(LocalJob, BlockNetworkAndProcessorCounters) {
  Laptop laptop;
  laptop.run("run-1", 0, 30,
             {{{"block.write_bytes", "sda"}, 80e6},
              {{"block.write_bytes", "dm-0"}, 80e6},
              {{"block.read_bytes", "sda"}, 10e6},
              {{"block.write_ops", "sda"}, 100},
              {{"block.read_ops", "sda"}, 20},
              {{"block.queue_ms", "sda"}, 3000},
              {{"block.busy_ms", "sda"}, 970},
              {{"net.rx_bytes", "eth0"}, 2e6},
              {{"net.tx_bytes", "eth0"}, 3e6},
              {{"net.tx_bytes", "lo"}, 1e9},
              {{"host.cpu_busy_ms", ""}, 1500}});
  const auto job = analyse(laptop.store(), "run-1");
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_EQ(job->job.rule, "own nodes");
  EXPECT_EQ(job->job.servers, 1U);
  EXPECT_NEAR(value(*job, "write_throughput"), 80e6, 1) << "a device made of another is not counted again";
  EXPECT_NEAR(value(*job, "read_throughput"), 10e6, 1);
  EXPECT_NEAR(value(*job, "throughput"), 90e6, 1);
  EXPECT_NEAR(job->job.write_bytes, 80e6 * 30, 1);
  EXPECT_NEAR(value(*job, "device_qdepth"), 3.0, 1e-6);
  EXPECT_NEAR(value(*job, "device_busy"), 0.97, 1e-6);
  EXPECT_NEAR(value(*job, "device_waittime"), 3.0 / 120, 1e-6);
  EXPECT_NEAR(value(*job, "net_throughput"), 5e6, 1);
  EXPECT_NEAR(value(*job, "cpu_busy"), 1.5, 1e-6);
  EXPECT_FALSE(is_known(job->job.coverage_factor));
  std::vector<std::string> codes;
  for (const Insight& insight : job->insights) codes.push_back(insight.code);
  EXPECT_THAT(codes, testing::ElementsAre("saturated-device"));
  std::vector<std::string> lines;
  for (const Timeline& line : job->timelines) {
    lines.push_back(line.id);
    EXPECT_EQ(line.step_ns, site_second) << line.id;
  }
  EXPECT_THAT(lines, testing::IsSupersetOf(
                         {"write_throughput", "read_throughput", "device_qdepth", "net_rx", "cpu_busy"}));
  ASSERT_FALSE(job->matrices.empty());
  EXPECT_EQ(job->matrices[0].id, "device_write_time");
}

TEST(LocalJob, SmallRequestsAndNoIo) {
  Laptop laptop;
  laptop.run("small", 0, 30,
             {{{"block.write_bytes", "sda"}, 4e6},
              {{"block.write_ops", "sda"}, 1000},
              {{"block.busy_ms", "sda"}, 100}});
  laptop.run("idle", 100, 30, {{{"block.write_bytes", "sda"}, 10}});
  const auto small = analyse(laptop.store(), "small");
  ASSERT_TRUE(small);
  ASSERT_EQ(small->insights.size(), 1U);
  EXPECT_EQ(small->insights[0].code, "small-requests");
  EXPECT_THAT(small->insights[0].sentence, HasSubstr("4000 bytes each"));
  const auto idle = analyse(laptop.store(), "idle");
  ASSERT_TRUE(idle);
  for (const Insight& insight : idle->insights) EXPECT_EQ(insight.code, "no-io") << insight.sentence;
  ASSERT_EQ(idle->insights.size(), 1U);
  EXPECT_EQ(idle->insights[0].code, "no-io");
}

TEST(LocalJob, ShorterThanItsSamplesIsSaid) {
  Laptop laptop;
  laptop.run("short", 0, 3, {{{"block.write_bytes", "sda"}, 80e6}});
  const auto job = analyse(laptop.store(), "short");
  ASSERT_TRUE(job);
  ASSERT_EQ(job->insights.size(), 1U);
  EXPECT_EQ(job->insights[0].code, "coarse-sampling");
  EXPECT_EQ(job->insights[0].severity, Severity::info);
}

TEST(Comparison, RepetitionsOfConfigurations) {
  Laptop laptop;
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) {
    const bool tuned = i % 2 == 1;
    const double wobble = 1 + 0.01 * i;
    const double rate = (tuned ? 100e6 : 50e6) * wobble;
    ids.push_back("run-" + std::to_string(i));
    laptop.run(ids.back(), 100 * i, 20,
               {{{"block.write_bytes", "sda"}, rate},
                {{"block.write_ops", "sda"}, 200},
                {{"block.queue_ms", "sda"}, (tuned ? 1000 : 4000) * wobble},
                {{"block.busy_ms", "sda"}, 500}},
               tuned ? "tuned" : "plain");
  }
  const auto result = compare(laptop.store(), ids, {}, {.baseline = "plain"});
  ASSERT_TRUE(result) << result.error().message();
  ASSERT_TRUE(result->evaluation);
  ASSERT_EQ(result->evaluation->candidates.size(), 2U);
  EXPECT_NEAR(result->evaluation->candidates[1].throughput_ratio.value, 2.0, 0.1);
  EXPECT_GT(result->evaluation->candidates[1].chance_of_fastest, 0.99);
  EXPECT_EQ(result->evaluation->candidates[result->evaluation->best()].name, "tuned");
  ASSERT_TRUE(result->scores);
  EXPECT_EQ(result->scores->ranks.configurations[result->scores->best()], "tuned");
  EXPECT_THAT(result->metrics, Contains("device_qdepth"));
  std::set<double> scales;
  for (const JobAnalysis& job : result->jobs) scales.insert(job.matrices.at(0).scale_high);
  EXPECT_EQ(scales.size(), 1U) << "pictures of several jobs share a scale";
  EXPECT_TRUE(parse_json(to_json(*result).dump()));
  // By a job's id the baseline is found too.
  const auto by_id = compare(laptop.store(), ids, {}, {.baseline = "run-1"});
  ASSERT_TRUE(by_id);
  EXPECT_EQ(by_id->evaluation->baseline, "tuned");
  EXPECT_FALSE(compare(laptop.store(), ids, {}, {.baseline = "nobody"}));
  EXPECT_FALSE(compare(laptop.store(), {"nobody"}));
}

TEST(LocalJob, ColumnsOfAShortRunHaveNamesOfTheirOwn) {
  Laptop laptop;
  store::Job job{.id = "short", .state = store::JobState::completed};
  job.nodes = {"laptop"};
  job.node_count = 1;
  job.start_ns = site_start;
  job.end_ns = site_start + 3 * site_second;
  ASSERT_TRUE(laptop.store().put(job));
  std::vector<telemetry::Series> series(1);
  series[0].key = {*telemetry::find_counter("block.write_bytes"), "laptop", "sda", {}};
  for (int i = 0; i <= 12; ++i) {
    series[0].times.push_back(site_start + i * site_second / 4);
    series[0].values.push_back(static_cast<std::uint64_t>(i) * 1'000'000);
  }
  ASSERT_TRUE(laptop.store().write(series));
  const auto analysed = analyse(laptop.store(), "short");
  ASSERT_TRUE(analysed) << analysed.error().message();
  ASSERT_FALSE(analysed->matrices.empty());
  const std::vector<std::string>& columns = analysed->matrices[0].columns;
  EXPECT_GE(columns.size(), 10U);
  EXPECT_EQ(std::set<std::string>(columns.begin(), columns.end()).size(), columns.size());
}

TEST(Comparison, TheThroughputAUserSawComesFirst) {
  JobAnalysis job;
  EXPECT_FALSE(is_known(seen_throughput(job)));
  job.metrics.push_back({.kind = *find_metric("throughput"), .value = 5});
  EXPECT_DOUBLE_EQ(seen_throughput(job), 5);
  job.job.figures = {{"bytes_written", 100}, {"io_seconds", 4}};
  EXPECT_DOUBLE_EQ(seen_throughput(job), 25);
  job.job.figures["write_throughput"] = 50;
  EXPECT_DOUBLE_EQ(seen_throughput(job), 50);
  job.job.figures["read_throughput"] = 100;
  job.job.figures["bytes_read"] = 100;
  EXPECT_NEAR(seen_throughput(job), 200.0 / 3, 1e-9);
}

// What sessions hid behind the program's work, or waited for in its end, is no measure: the run's time is.
TEST(Comparison, OfSessionsTheWholeRunCounts) {
  JobAnalysis job;
  job.metrics.push_back({.kind = *find_metric("throughput"), .value = 5});
  job.job.elapsed_seconds = 20;
  job.job.figures = {{"bytes_written", 100}, {"io_seconds", 0.1}, {"storing_seconds", 4}};
  EXPECT_TRUE(counts_whole_run(job));
  EXPECT_DOUBLE_EQ(seen_throughput(job), 5);
  job.job.figures["io_seconds"] = 9;
  job.job.figures["write_throughput"] = 1000;  // as earlier versions recorded it
  EXPECT_DOUBLE_EQ(seen_throughput(job), 5);
  job.job.figures["storing_seconds"] = 0;
  EXPECT_FALSE(counts_whole_run(job));
  EXPECT_DOUBLE_EQ(seen_throughput(job), 1000);
}

TEST(Thresholds, AreReadAndChecked) {
  const auto read = [](std::string_view text) { return thresholds_from_json(*parse_json(text)); };
  const auto good = read(R"({"deep_queue": 10})");
  ASSERT_TRUE(good);
  EXPECT_DOUBLE_EQ(good->deep_queue, 10);
  EXPECT_DOUBLE_EQ(good->coverage, Thresholds{}.coverage);
  EXPECT_THAT(read(R"({"deep_qeue": 10})").error().message(), HasSubstr("deep_queue"));
  EXPECT_FALSE(read(R"({"deep_queue": 0})"));
  EXPECT_FALSE(read(R"({"deep_queue": "x"})"));
  EXPECT_FALSE(read("[]"));
  EXPECT_EQ(to_json(*read(to_json(Thresholds{}).dump())).dump(), to_json(Thresholds{}).dump());
}

// A threshold that is changed changes what is found.
TEST(Thresholds, DecideWhatIsFound) {
  Laptop laptop;
  laptop.run("run-1", 0, 30, {{{"block.write_bytes", "sda"}, 80e6}, {{"block.busy_ms", "sda"}, 600}});
  EXPECT_TRUE(analyse(laptop.store(), "run-1")->insights.empty());
  AnalyseOptions strict;
  strict.thresholds.device_busy = 0.5;
  ASSERT_EQ(analyse(laptop.store(), "run-1", strict)->insights.size(), 1U);
}

}  // namespace
}  // namespace weir::analysis
