// fluentd's files and Prometheus' text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "telemetry/compression.hpp"
#include "telemetry/fluentd_file.hpp"
#include "telemetry/prometheus.hpp"

namespace weir::telemetry {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Nanoseconds second = 1'000'000'000;

TEST(LogTime, AllForms) {
  const Nanoseconds noon = 1564628400 * second;
  EXPECT_EQ(parse_log_time("2019-08-01T12:00:00+09:00"), noon);
  EXPECT_EQ(parse_log_time("2019-08-01T12:00:00+0900"), noon);
  EXPECT_EQ(parse_log_time("2019-08-01 12:00:00 +0900"), noon);
  EXPECT_EQ(parse_log_time("2019-08-01T03:00:00Z"), noon);
  EXPECT_EQ(parse_log_time("2019-07-31T22:00:00.25-05:00"), noon + second / 4);
  EXPECT_EQ(parse_log_time("2019-08-01T03:00:00.123456789Z"), noon + 123456789);
  EXPECT_EQ(parse_log_time("1564628400"), noon);
  EXPECT_EQ(parse_log_time("1564628400.5"), noon + second / 2);
  EXPECT_EQ(parse_log_time("1970-01-01T00:00:00Z"), 0);
  for (const char* bad :
       {"", "yesterday", "2019-08-01", "2019-08-01T12:00:00", "2019-13-01T12:00:00Z", "2019-02-30T12:00:00Z",
        "2019-08-01T24:00:00Z", "2019-08-01T12:60:00Z", "2019-08-01T12:00:00.Z", "2019-08-01T12:00:00+99:00",
        "2019-08-01T12:00:00Zx", "1.2.3", "-5", "99999999999999", "2019-08-01T12:00:00.1x2Z"})
    EXPECT_FALSE(parse_log_time(bad)) << bad;
  EXPECT_EQ(format_log_time(noon + 5), "2019-08-01T03:00:00.000000005Z");
  EXPECT_EQ(parse_log_time(format_log_time(noon + 5)), noon + 5);
}

TEST(FluentdLine, OfTheKComputer) {
  Batch batch;
  Tally tally;
  EXPECT_TRUE(
      add_fluentd_line("2019-08-01T12:00:00+09:00\ttofu.stats\t{\"node\":\"io0001\",\"link\":\"X+\",\"wait_"
                       "cycles\":8112,\"bytes\":912380}",
                       batch, tally));
  EXPECT_EQ(batch.sample(0),
            (Sample{{counter_id("link.wait_cycles"), "io0001", "X+", ""}, 1564628400 * second, 8112}));
  EXPECT_EQ(tally, (Tally{.records = 1, .samples = 2}));
}

TEST(FluentdLine, WhatIsWrong) {
  Batch batch;
  Tally tally;
  const auto rejection = [&](std::string_view line) {
    return add_fluentd_line(line, batch, tally).error().message();
  };
  EXPECT_THAT(rejection("hello"), HasSubstr("not time TAB tag TAB record"));
  EXPECT_THAT(rejection("now\ttag\t{}"), HasSubstr("'now' is not a time"));
  EXPECT_THAT(rejection("1564628400\ttag\t{\"node\":"), HasSubstr("not valid JSON"));
  EXPECT_THAT(rejection("1564628400\ttag\t{\"node\":\"\xff\"}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(rejection("1564628400\ttag\t" + std::string(5000, '[')), HasSubstr("JSON"));
  EXPECT_THAT(rejection("1564628400\ttag\t[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(rejection("1564628400\ttag\t{}"), HasSubstr("no 'node'"));
  EXPECT_EQ(tally.rejected, 7);
  EXPECT_TRUE(batch.points.empty());
}

TEST(FluentdLine, SurvivesItself) {
  Batch batch;
  batch.add({counter_id("ost.read_bytes"), "oss1", "OST1", ""}, 1564628400 * second + 7, UINT64_MAX);
  batch.add({counter_id("ost.write_bytes"), "oss1", "OST1", ""}, 1564628400 * second + 7, 0);
  std::string line = fluentd_line(batch, 0, 2, "weir");
  ASSERT_TRUE(line.ends_with('\n'));
  line.pop_back();
  Batch again;
  Tally tally;
  EXPECT_TRUE(add_fluentd_line(line, again, tally));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(again.sample(i), batch.sample(i));
}

class FluentdFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weir-fluentd-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string line(int i) const {
    return "1564628400\tt\t{\"node\":\"n" + std::to_string(i) + "\",\"link.bytes\":" + std::to_string(i) +
           "}";
  }
  Result<Tally> read(const std::string& text) {
    path_ = folder_ / "log";
    std::ofstream(path_, std::ios::binary) << text;
    return read_fluentd_file(
        path_,
        [&](const Batch& batch) {
          ++batches_;
          samples_ += batch.points.size();
          return Status();
        },
        [&](const std::string& problem) { problems_.push_back(problem); });
  }

  fs::path folder_, path_;
  std::size_t batches_ = 0, samples_ = 0;
  std::vector<std::string> problems_;
};

TEST_F(FluentdFile, WrongLinesAreToldByNumberAndTheRestKept) {
  const auto tally =
      read(line(1) + "\nbroken\n\n" + line(2) + "\r\n" + std::string(2 << 20U, 'x') + "\n" + line(3));
  ASSERT_TRUE(tally);
  EXPECT_EQ(*tally, (Tally{.records = 3, .samples = 3, .rejected = 2}));
  EXPECT_THAT(problems_, ElementsAre(HasSubstr(path_.string() + ":2: not time TAB"),
                                     HasSubstr(path_.string() + ":5: longer than")));
  EXPECT_EQ(samples_, 3);
}

TEST_F(FluentdFile, GzipIsReadAsWell) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += line(i) + "\n";
  const auto tally = read(compress(text, Compression::gzip));
  ASSERT_TRUE(tally);
  EXPECT_EQ(tally->samples, 20'000);
  EXPECT_EQ(samples_, 20'000);
}

TEST_F(FluentdFile, ManyLinesComeInSeveralBatches) {
  std::string text;
  for (int i = 0; i < 70'000; ++i) text += line(1) + "\n";
  EXPECT_EQ(read(text)->samples, 70'000);
  EXPECT_EQ(batches_, 2);
}

TEST_F(FluentdFile, TornGzipKeepsWhatCameBefore) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += line(i) + "\n";
  std::string packed = compress(text, Compression::gzip);
  const auto tally = read(packed.substr(0, packed.size() / 2));
  ASSERT_TRUE(tally);
  EXPECT_GT(tally->samples, 1000);
  EXPECT_FALSE(problems_.empty());
}

TEST_F(FluentdFile, AStoreThatFailsEndsIt) {
  path_ = folder_ / "log";
  std::ofstream(path_) << line(1) << "\n";
  const auto tally = read_fluentd_file(
      path_, [](const Batch&) { return Status(fail(ErrorCode::io, "full")); }, [](const std::string&) {});
  EXPECT_THAT(tally.error().message(), HasSubstr("full"));
  EXPECT_THAT(read_fluentd_file(folder_ / "nosuch", {}, {}).error().message(), HasSubstr("nosuch"));
}

TEST(Prometheus, LinesOfExporters) {
  Batch batch;
  std::vector<std::string> problems;
  const Tally tally = add_prometheus(
      "# HELP lustre_write_bytes_total The total number of bytes that have been written.\n"
      "# TYPE lustre_write_bytes_total counter\n"
      "lustre_write_bytes_total{component=\"ost\",target=\"lfs-OST0001\"} 1.2582912e+07 1564628400004\n"
      "lustre_job_read_bytes_total{ component = \"ost\" , jobid=\"a \\\"b\\\"\", target=\"lfs-OST0001\", } "
      "5\n"
      "node_disk_io_time_seconds_total{device=\"sda\",instance=\"oss2:9100\"} 7.0005\n"
      "node_network_receive_bytes_total{device=\"eth0\",node=\"n3\"} 9007199254740993\n"
      "node_infiniband_port_data_received_bytes_total{device=\"mlx5_0\",port=\"1\"} 8\n"
      "go_goroutines 8\n"
      "node_memory_Dirty_bytes 4096 # {trace_id=\"x\"} 1\n",
      {.file = "scrape", .node = "oss1", .time = 5}, batch,
      [&](const std::string& p) { problems.push_back(p); });
  EXPECT_THAT(problems, ElementsAre());
  EXPECT_EQ(tally, (Tally{.records = 6, .samples = 6, .ignored = 1}));
  EXPECT_EQ(
      batch.sample(0),
      (Sample{{counter_id("ost.write_bytes"), "oss1", "lfs-OST0001", ""}, 1564628400004000000, 12582912}));
  EXPECT_EQ(batch.sample(1),
            (Sample{{counter_id("job.read_bytes"), "oss1", "lfs-OST0001", "a \"b\""}, 5, 5}));
  EXPECT_EQ(batch.sample(2), (Sample{{counter_id("block.busy_ms"), "oss2", "sda", ""}, 5, 7000}));
  EXPECT_EQ(batch.sample(3).key.node, "n3");
  EXPECT_EQ(batch.sample(4).key.component, "mlx5_0/1");
}

TEST(Prometheus, WrongLinesAreToldByNumberAndTheRestKept) {
  Batch batch;
  std::vector<std::string> problems;
  const Tally tally = add_prometheus(
      "lustre_write_bytes_total{target=\"a\"} 1\n"
      "lustre_write_bytes_total{target=\"a} 1\n"
      "lustre_write_bytes_total{target=a} 1\n"
      "lustre_write_bytes_total{target=\"a\" 1\n"
      "lustre_write_bytes_total{target=\"a\"} one\n"
      "lustre_write_bytes_total{target=\"a\"} 1 now\n"
      "lustre_write_bytes_total{target=\"a\"} -1\n"
      "lustre_write_bytes_total{target=\"a\"} NaN\n"
      "lustre_write_bytes_total{target=\"a\"} +Inf\n"
      "lustre_write_bytes_total{target=\"a\"} 1.5\n"
      "lustre_write_bytes_total{target=\"a\\n\"} 1\n"
      "7\n"
      "lustre_write_bytes_total{target=\"b\"} 2\n",
      {.file = "scrape", .node = "oss1", .time = 5}, batch,
      [&](const std::string& p) { problems.push_back(p); });
  EXPECT_EQ(tally, (Tally{.records = 2, .samples = 2, .rejected = 11}));
  ASSERT_EQ(problems.size(), 11);
  for (std::size_t i = 0; i < problems.size(); ++i)
    EXPECT_THAT(problems[i], HasSubstr("scrape:" + std::to_string(i + 2) + ":"));
}

}  // namespace
}  // namespace weir::telemetry
