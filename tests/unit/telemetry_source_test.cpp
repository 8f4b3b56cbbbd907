// Sources on recorded folders, and on this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "telemetry/collector.hpp"
#include "telemetry/source.hpp"

namespace weir::telemetry {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr Nanoseconds moment = 1'564'617'700'000'000'000;
const fs::path data = fs::path(WEIR_TEST_DATA) / "telemetry";

// "ost.write_bytes/lfs-OST0000" and its value; with a job "/JOB" behind it.
using Values = std::map<std::string, std::uint64_t>;

Values values(const Batch& batch) {
  Values result;
  for (std::size_t i = 0; i < batch.points.size(); ++i) {
    const Sample sample = batch.sample(i);
    EXPECT_EQ(sample.key.node, "oss1");
    std::string name(counter(sample.key.counter).name);
    if (!sample.key.component.empty()) name += "/" + sample.key.component;
    if (!sample.key.job.empty()) name += "/" + sample.key.job;
    EXPECT_TRUE(result.emplace(name, sample.value).second) << name << " twice";
  }
  return result;
}

Values sampled(const std::string& folder, std::vector<std::string> names = {}) {
  const auto sources = open_sources(names, {.root = data / folder, .node = "oss1"});
  EXPECT_TRUE(sources) << sources.error().message();
  Batch batch;
  Round round{.time = moment, .batch = batch};
  for (const auto& source : *sources) source->sample(round);
  EXPECT_THAT(round.problems, IsEmpty());
  return values(batch);
}

TEST(Sources, Lustre18) {
  EXPECT_EQ(sampled("lustre-1.8"),
            (Values{
                {"ost_io.req_waittime.count", 9120},    {"ost_io.req_waittime.sum", 135895},
                {"ost_io.req_waittime.sumsq", 6955042}, {"ost_io.req_qdepth.count", 9120},
                {"ost_io.req_qdepth.sum", 17510},       {"ost_io.req_qdepth.sumsq", 205500},
                {"ost_io.req_active.count", 9120},      {"ost_io.req_active.sum", 81378},
                {"ost_io.req_active.sumsq", 2019222},   {"ost_io.req_timeout.count", 9120},
                {"ost_io.req_timeout.sum", 95129},      {"ost_io.reqbuf_avail.count", 18240},
                {"ost_io.reqbuf_avail.sum", 1120000},   {"ost_io.write.count", 9000},
                {"ost_io.write.sum", 13836421},         {"ost.read_bytes/lfs-OST0000", 67108864},
                {"ost.read_ops/lfs-OST0000", 64},       {"ost.write_bytes/lfs-OST0000", 9437184000},
                {"ost.write_ops/lfs-OST0000", 9000},    {"ost.read_bytes/lfs-OST0001", 0},
                {"ost.read_ops/lfs-OST0001", 0},        {"ost.write_bytes/lfs-OST0001", 0},
                {"ost.write_ops/lfs-OST0001", 0},
            }));
}

TEST(Sources, Lustre212HasItsServerInDebugfs) {
  const Values found = sampled("lustre-2.12");
  EXPECT_THAT(found, Contains(Pair("ost_io.req_qdepth.sum", 17510)));
  EXPECT_THAT(found, Contains(Pair("ost_io.read.sum", 421)));
  EXPECT_THAT(found, Contains(Pair("ost.write_bytes/lfs-OST0000", 12582912)));
  EXPECT_THAT(found, Contains(Pair("job.write_bytes/lfs-OST0000/4711:cn01", 12582912)));
  EXPECT_THAT(found, Contains(Pair("job.read_bytes/lfs-OST0000/dd.0", 5)));
  EXPECT_EQ(found.count("ost_io.start_time"), 0);
}

TEST(Sources, Lustre215SaysWhenItBegan) {
  const Values found = sampled("lustre-2.15");
  EXPECT_THAT(found, Contains(Pair("ost_io.start_time", 1564610000000000001)));
  EXPECT_THAT(found, Contains(Pair("ost.start_time/lfs-OST0000", 1564610000000000001)));
  EXPECT_THAT(found, Contains(Pair("ost_io.req_qdepth.count", 9120)));  // stands there twice
  EXPECT_THAT(found, Contains(Pair("ost.read_bytes/lfs-OST0000", 12288)));
  EXPECT_THAT(found, Contains(Pair("job.write_bytes/lfs-OST0000/a job: x", 7340032)));
  EXPECT_THAT(found, Contains(Pair("job.start_time/lfs-OST0000/a job: x", 1564617000000000000)));
  EXPECT_THAT(found, Contains(Pair("job.write_bytes/lfs-OST0000/4712", 12288)));  // twice too
}

TEST(Sources, TofuHasTenLinks) {
  const Values found = sampled("tofu");
  EXPECT_EQ(found.size(), 30);
  EXPECT_THAT(found, Contains(Pair("link.wait_cycles/C", 9000)));
  EXPECT_THAT(found, Contains(Pair("link.bytes/X-", 1'000'000'001)));
}

TEST(Sources, InfinibandAndSlingshot) {
  const Values found = sampled("fabric");
  EXPECT_THAT(found, Contains(Pair("ib.rx_bytes/mlx5_0/1", 4000)));
  EXPECT_THAT(found, Contains(Pair("ib.tx_bytes/mlx5_0/1", UINT64_MAX - 3)));  // 4 times, and wrapped
  EXPECT_THAT(found, Contains(Pair("ib.wait_ticks/mlx5_0/1", 99)));
  EXPECT_EQ(found.count("ib.wait_ticks/hfi1_0/1"), 0);  // N/A (no PMA)
  EXPECT_THAT(found, Contains(Pair("cxi.rx_bytes/cxi0", (std::uint64_t{1} << 56U) - 1)));
  EXPECT_THAT(found, Contains(Pair("cxi.tx_paused/cxi0", 28)));
  EXPECT_THAT(found, Contains(Pair("cxi.rx_paused/cxi0", (std::uint64_t{1} << 56U) - 8)));
}

TEST(Sources, SlingshotKeepsTheTimeOfItsRegisters) {
  const auto sources = open_sources({"slingshot"}, {.root = data / "fabric", .node = "oss1"});
  Batch batch;
  Round round{.time = moment, .batch = batch};
  sources->at(0)->sample(round);
  EXPECT_EQ(batch.points.at(0).time, 1564617600004512000);
  EXPECT_EQ(batch.points.at(1).time, 1564617600500000000);
}

TEST(Sources, Linux) {
  const Values found = sampled("linux");
  EXPECT_THAT(found, Contains(Pair("net.rx_bytes/eth0", 1234567890123)));
  EXPECT_THAT(found, Contains(Pair("net.tx_dropped/eth0", 5)));
  EXPECT_THAT(found, Contains(Pair("net.tx_bytes/ib0:1", 8)));
  EXPECT_EQ(found.count("net.rx_bytes/lo"), 0);
  EXPECT_THAT(found, Contains(Pair("block.read_bytes/sda", 88000 * 512)));
  EXPECT_THAT(found, Contains(Pair("block.write_bytes/sda", 176000 * 512)));
  EXPECT_THAT(found, Contains(Pair("block.in_flight/sda", 3)));
  EXPECT_THAT(found, Contains(Pair("block.busy_ms/sda", 7000)));
  EXPECT_THAT(found, Contains(Pair("block.queue_ms/sda", 10500)));
  EXPECT_THAT(found, Contains(Pair("block.queue_ms/nvme0n1", 11)));
  EXPECT_EQ(found.count("block.read_bytes/loop0"), 0);
  EXPECT_EQ(found.count("block.read_bytes/ram0"), 0);
  EXPECT_THAT(found, Contains(Pair("host.paged_in_bytes", 2008769 * 1024)));
  EXPECT_THAT(found, Contains(Pair("host.dirty_bytes", 128 * 1024)));
  EXPECT_THAT(found, Contains(Pair("host.writeback_bytes", 4 * 1024)));
  EXPECT_THAT(found, Contains(Pair("host.io_some_us", 123456)));
  EXPECT_THAT(found, Contains(Pair("host.io_full_us", 6543)));
  EXPECT_EQ(found.at("host.cpu_busy_ms") % 171, 0);  // in ticks, which are not the same everywhere
}

TEST(Sources, ChosenByName) {
  for (const auto& [name, value] : sampled("linux", {"block"})) EXPECT_THAT(name, HasSubstr("block."));
  const auto unknown = open_sources({"blocks"}, {.root = data / "linux", .node = "n"});
  EXPECT_THAT(unknown.error().message(), HasSubstr("did you mean 'block'"));
  const auto nothing = open_sources({"tofu"}, {.root = data / "linux", .node = "n"});
  EXPECT_THAT(nothing.error().message(), HasSubstr("source 'tofu' finds nothing"));
  EXPECT_FALSE(open_sources({}, {.root = data / "no-such-folder", .node = "n"}));
}

// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "weir-telemetry-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
  fs::path path;
};

TEST(Sources, NoticeWhatAppearsAndPassOverWhatIsBroken) {
  const Folder folder;
  folder.write("sys/block/sda/stat", "1 2 3 4 5 6 7 8 9 10 11\n");
  folder.write("sys/block/sda/size", "5\n");
  folder.write("sys/block/sdb/stat", "broken\n");
  folder.write("sys/block/sdb/size", "5\n");
  const auto sources = open_sources({"block"}, {.root = folder.path, .node = "oss1"});
  Batch batch;
  Round round{.time = moment, .batch = batch};
  sources->at(0)->sample(round);
  EXPECT_EQ(batch.points.size(), 9);
  ASSERT_EQ(round.problems.size(), 1);
  EXPECT_THAT(round.problems[0], HasSubstr("sdb/stat: line 1"));

  folder.write("sys/block/sdc/stat", "1 2 3 4 5 6 7 8 9 10 11\n");
  folder.write("sys/block/sdc/size", "5\n");
  sources->at(0)->rescan();
  batch.clear();
  sources->at(0)->sample(round);
  EXPECT_EQ(batch.points.size(), 18);
}

TEST(Sources, ReadAFileAgainWithoutOpeningIt) {
  const Folder folder;
  folder.write("sys/block/sda/stat", "1 2 3 4 5 6 7 8 9 10 11\n");
  folder.write("sys/block/sda/size", "5\n");
  auto collector = Collector::open({.sources = {"block"}, .setting = {.root = folder.path, .node = "oss1"}});
  ASSERT_TRUE(collector);
  Batch batch;
  collector->sample(batch);
  EXPECT_EQ(values(batch).at("block.read_ops/sda"), 1);
  folder.write("sys/block/sda/stat", "7 2 3 4 5 6 7 8 9 10 11\n");
  batch.clear();
  collector->sample(batch);
  EXPECT_EQ(values(batch).at("block.read_ops/sda"), 7);
}

TEST(Sources, LongFilesComeWhole) {
  const Folder folder;
  std::string jobs = "job_stats:\n";
  for (int job = 0; job < 5000; ++job)
    jobs += "- job_id: j" + std::to_string(job) + "\n  write_bytes: { samples: 1, unit: bytes, sum: 7 }\n";
  folder.write("proc/fs/lustre/obdfilter/OST0/job_stats", jobs);
  const auto sources = open_sources({"lustre-jobs"}, {.root = folder.path, .node = "oss1"});
  Batch batch;
  Round round{.time = moment, .batch = batch};
  sources->at(0)->sample(round);
  EXPECT_EQ(batch.points.size(), 4 * 5000);
}

TEST(Collector, SamplesThisMachine) {
  auto collector = Collector::open({.interval = 0.01, .duration = 0.05});
  ASSERT_TRUE(collector) << collector.error().message();
  std::vector<Sample> all;
  const CollectorTally tally = collector->run(
      [&](const Batch& batch) {
        for (std::size_t i = 0; i < batch.points.size(); ++i) all.push_back(batch.sample(i));
        return Status();
      },
      [](const std::string& problem) { ADD_FAILURE() << problem; }, -1);
  EXPECT_GE(tally.rounds, 2);
  EXPECT_EQ(tally.samples, all.size());
  EXPECT_EQ(tally.failures, 0);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].key.node, host_name());
  EXPECT_GT(all[0].time, moment);
}

TEST(Collector, GoesOnWhenDeliveryFails) {
  auto collector =
      Collector::open({.setting = {.root = data / "linux", .node = "n"}, .interval = 0.01, .duration = 0.03});
  std::vector<std::string> problems;
  const CollectorTally tally =
      collector->run([](const Batch&) { return Status(fail(ErrorCode::io, "the disk is full")); },
                     [&](const std::string& problem) { problems.push_back(problem); }, -1);
  EXPECT_GE(tally.rounds, 2);
  EXPECT_EQ(tally.failures, tally.rounds);
  EXPECT_EQ(problems, std::vector<std::string>{"the disk is full"});  // once
}

TEST(Collector, RefusesWhatMakesNoSense) {
  EXPECT_FALSE(Collector::open({.interval = 0}));
  EXPECT_FALSE(Collector::open({.interval = 1e9}));
  EXPECT_FALSE(Collector::open({.duration = -1}));
}

TEST(Collector, MeasuresWhatItCosts) {
  auto collector = Collector::open({.setting = {.root = data / "linux", .node = "n"}});
  const Overhead overhead = collector->measure(0.01);
  EXPECT_EQ(overhead.counters, 12 + 18 + 8);
  EXPECT_GE(overhead.rounds, 1);
  EXPECT_GT(overhead.round_seconds, 0);
}

}  // namespace
}  // namespace weir::telemetry
