// Jobs and nodes from text: what is right is kept, what is wrong is told with its place.
#include <sstream>

#include "store/imports.hpp"
#include "store/spool.hpp"
#include "store/table_reader.hpp"
#include "store_support.hpp"
#include "telemetry/fluentd_file.hpp"

namespace weir::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Imported {
  std::vector<Job> jobs;
  std::vector<Node> nodes;
  std::vector<std::string> problems;
  ImportTally tally;
};

using ImportJobs = Result<ImportTally> (*)(std::istream&, const ImportSource&, const TakeJobs&);

Imported jobs_from(ImportJobs import, const std::string& text, const std::string& zone = "Z") {
  Imported imported;
  std::istringstream stream(text);
  const ImportSource source{.file = "jobs.txt", .zone = zone, .problem = [&](const std::string& problem) {
                              imported.problems.push_back(problem);
                            }};
  const auto tally = import(stream, source, [&](std::span<const Job> jobs) -> Status {
    imported.jobs.insert(imported.jobs.end(), jobs.begin(), jobs.end());
    return {};
  });
  if (!tally) throw std::runtime_error(tally.error().message());
  imported.tally = *tally;
  return imported;
}

std::int64_t at(const char* time) {
  return *telemetry::parse_log_time(time);
}

constexpr const char* sacct_titles =
    "JobIDRaw|User|JobName|State|Submit|Start|End|ElapsedRaw|NNodes|NodeList\n";

TEST(StoreImport, Sacct) {
  const Imported imported = jobs_from(
      import_sacct,
      std::string(sacct_titles) +
          "4711|ada|wave|COMPLETED|2019-08-01T11:59:00|2019-08-01T12:00:00|2019-08-01T12:10:00|600|4|n[001-"
          "003],login\n"
          "4711.batch||batch|COMPLETED|2019-08-01T11:59:00|2019-08-01T12:00:00|2019-08-01T12:10:00|600|1|"
          "n001\n"
          "4712|bob|a|b|c|RUNNING|2019-08-01T12:00:00|2019-08-01T12:01:00|Unknown|0|2|n[1-2]\n"
          "4713|bob|p|PENDING|2019-08-01T12:00:00|Unknown|Unknown|0|8|None assigned\n"
          "4714|eve|k|CANCELLED by 1000|2019-08-01T12:00:00|None|2019-08-01T12:01:00|0|1|None assigned\n",
      "+09:00");
  EXPECT_THAT(imported.problems, IsEmpty());
  EXPECT_EQ(imported.tally, (ImportTally{4, 0, 1}));
  ASSERT_EQ(imported.jobs.size(), 4U);
  const Job& job = imported.jobs[0];
  EXPECT_EQ(job.id, "4711");
  EXPECT_EQ(job.start_ns, at("2019-08-01T03:00:00Z"));
  EXPECT_EQ(job.end_ns - job.start_ns, 600'000'000'000);
  EXPECT_THAT(job.nodes, ElementsAre("n001", "n002", "n003", "login"));
  EXPECT_EQ(imported.jobs[1].name, "a|b|c");
  EXPECT_EQ(imported.jobs[1].state, JobState::running);
  EXPECT_EQ(imported.jobs[1].end_ns, 0);
  EXPECT_EQ(imported.jobs[2].node_count, 8U);
  EXPECT_THAT(imported.jobs[2].nodes, IsEmpty());
  EXPECT_EQ(imported.jobs[3].state, JobState::cancelled);
}

TEST(StoreImport, WrongLinesAreToldAndTheRestIsKept) {
  const Imported imported = jobs_from(import_sacct, std::string(sacct_titles) +
                                                        "1|u|n|COMPLETED|||||1|a\n"
                                                        "2|u\n"
                                                        "3|u|n|COMPLETED|yesterday||||1|a\n"
                                                        "4|u|n|COMPLETED|||||1|n[1-4000000000]\n"
                                                        "5|u|n|COMPLETED|||||1|n[1-3\n"
                                                        "\n"
                                                        "6|u|n|COMPLETED|||||1|" +
                                                        std::string(longest_line, 'x') +
                                                        "\n"
                                                        "7|u|n|COMPLETED|||||-1|\n"
                                                        "8|u|n|COMPLETED|||||1|b");  // no end of line
  EXPECT_EQ(imported.tally.taken, 2U);
  EXPECT_EQ(imported.tally.rejected, 6U);
  EXPECT_THAT(imported.problems[0], HasSubstr("jobs.txt:3: 2 fields instead of 10"));
  EXPECT_THAT(imported.problems[1], HasSubstr("jobs.txt:4: Submit 'yesterday' is no time"));
  EXPECT_THAT(imported.problems[2], HasSubstr("jobs.txt:5: "));
  EXPECT_THAT(imported.problems[3], HasSubstr("jobs.txt:6: "));
  EXPECT_THAT(imported.problems[4], HasSubstr("jobs.txt:8: the line is too long"));
  EXPECT_EQ(imported.jobs.back().id, "8");
  EXPECT_THROW(jobs_from(import_sacct, "User|State\nu|COMPLETED\n"), std::runtime_error);
  EXPECT_THROW(jobs_from(import_sacct, ""), std::runtime_error);
}

TEST(StoreImport, JobsAsCsv) {
  const Imported imported =
      jobs_from(import_jobs_csv,
                "\xef\xbb\xbfid,name,state,start,end,nodes,shape,bytes_written,configuration\r\n"
                "a,\"say \"\"hi\"\", "
                "twice\",completed,1564617600,1564618200.5,\"c[1-2],d\",8x12x32,1.5e12,\"T:agg=1,rr=1\"\r\n"
                "b,n,failed,2019-08-01T00:00:00Z,,,,,\n"
                "c,n,failed,2019-08-01T00:00:00Z,,,8xx,,\n"
                "d,\"open,failed\n");
  EXPECT_EQ(imported.tally, (ImportTally{2, 2, 0}));
  const Job& job = imported.jobs[0];
  EXPECT_EQ(job.name, "say \"hi\", twice");
  EXPECT_EQ(job.start_ns, 1'564'617'600'000'000'000);
  EXPECT_EQ(job.end_ns, 1'564'618'200'500'000'000);
  EXPECT_EQ(job.shape, (std::vector<std::uint64_t>{8, 12, 32}));
  EXPECT_THAT(job.nodes, ElementsAre("c1", "c2", "d"));
  EXPECT_EQ(job.figures.at("bytes_written"), 1.5e12);
  EXPECT_EQ(job.labels.at("configuration"), "T:agg=1,rr=1");
  EXPECT_THAT(imported.problems[0], HasSubstr("jobs.txt:4: the shape"));
  EXPECT_THAT(imported.problems[1], HasSubstr("jobs.txt:5: a quote is not closed"));
}

TEST(StoreImport, NodesAsCsv) {
  std::vector<Node> nodes;
  std::vector<std::string> problems;
  const auto import = [&](const std::string& text) {
    std::istringstream stream(text);
    nodes.clear();
    problems.clear();
    return import_nodes_csv(stream,
                            {.file = "nodes.csv",
                             .zone = "Z",
                             .problem = [&](const std::string& problem) { problems.push_back(problem); }},
                            [&](std::span<const Node> some) -> Status {
                              nodes.insert(nodes.end(), some.begin(), some.end());
                              return {};
                            });
  };
  auto tally = import(
      "name,role,rack,X,Y,Z,osts\nio1,local-io,r1,3,4,0,OST1;OST2\nc1,compute,r1,3,4,1,\nx,server,,1,1,1,\n");
  ASSERT_TRUE(tally);
  EXPECT_EQ(*tally, (ImportTally{2, 1, 0}));
  EXPECT_EQ(nodes[0], (Node{"io1", NodeRole::local_io, {3, 4, 0}, "r1", {"OST1", "OST2"}, {}}));
  EXPECT_THAT(problems[0], HasSubstr("nodes.csv:4: 'server' is no role"));
  tally = import("name,coordinates,servers\nc1,1 -2 3,s1 s2\nc2,1 a,\n");
  ASSERT_TRUE(tally);
  EXPECT_EQ(nodes[0], (Node{"c1", NodeRole::compute, {1, -2, 3}, "", {}, {"s1", "s2"}}));
  EXPECT_THAT(problems[0], HasSubstr("coordinate 'a'"));
  EXPECT_FALSE(import("role\ncompute\n"));
}

TEST(StoreImport, TopologyAsJson) {
  const auto topology = topology_from_json(*parse_json(
      R"({"name":"t","dimensions":[{"name":"X","extent":3,"wraps":true}],"links":["X+"],"serving_rule":"table"})"));
  ASSERT_TRUE(topology) << topology.error().message();
  EXPECT_EQ(*topology_from_json(to_json(*topology)), *topology);
  EXPECT_FALSE(topology_from_json(*parse_json(R"({"name":"t","dimension":[]})")));
  EXPECT_FALSE(
      topology_from_json(*parse_json(R"({"name":"t","dimensions":[{"name":"X","extent":9999999999}]})")));
}

telemetry::Batch one_sample(std::int64_t time) {
  telemetry::Batch batch;
  batch.add(written("oss", "A"), time, static_cast<std::uint64_t>(time));
  return batch;
}

TEST_F(StoreTest, WhatIsSpooledArrivesLater) {
  if (!on_sqlite()) GTEST_SKIP() << "the same code";
  // A folder that is not there yet: the store is away.
  const std::string location = (folder_ / "mount" / "site.db").string(),
                    spool = (folder_ / "spool.db").string();
  std::vector<std::string> told;
  const SpoolOptions options{.path = spool,
                             .retry = std::chrono::hours(1),
                             .tell = [&](const std::string& text) { told.push_back(text); }};
  EXPECT_FALSE(SpooledStore::open(location, {}));
  {
    auto store = SpooledStore::open(location, options);
    ASSERT_TRUE(store) << store.error().message();
    EXPECT_TRUE(store->away());
    for (std::int64_t t = 1; t <= 5; ++t) EXPECT_WELL(store->write(one_sample(t)));
    EXPECT_EQ(store->spooled(), 5U);
    EXPECT_FALSE(store->deliver());
  }
  EXPECT_THAT(told, ElementsAre(HasSubstr("store is away")));
  // Another process, later: what the first one left behind is delivered at once.
  std::filesystem::create_directory(folder_ / "mount");
  {
    auto store = SpooledStore::open(location, options);
    ASSERT_TRUE(store) << store.error().message();
    EXPECT_FALSE(store->away());
    EXPECT_EQ(store->delivered(), 5U);
    EXPECT_WELL(store->write(one_sample(6)));
    EXPECT_EQ(store->spooled(), 0U);
  }
  EXPECT_FALSE(std::filesystem::exists(spool));
  Store site = *Store::open(location, Access::read);
  EXPECT_EQ(all_samples(site).begin()->second.size(), 6U);
}

TEST_F(StoreTest, AFullSpoolRefuses) {
  if (!on_sqlite()) GTEST_SKIP() << "the same code";
  auto store = SpooledStore::open((folder_ / "mount" / "site.db").string(),
                                  {.path = (folder_ / "spool.db").string(), .most_bytes = 1});
  ASSERT_TRUE(store);
  const Status refused = store->write(one_sample(1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("is full"));
}

TEST_F(StoreTest, AStoreThatGoesAwayIsSpooledFor) {
  if (!on_sqlite()) GTEST_SKIP() << "about files";
  // The file becomes damaged while it is open: no write succeeds until it is gone, and made anew.
  const std::string location = (folder_ / "site.db").string();
  auto store =
      SpooledStore::open(location, {.path = (folder_ / "spool.db").string(), .retry = std::chrono::hours(1)});
  ASSERT_TRUE(store);
  EXPECT_WELL(store->write(one_sample(1)));
  {
    // Another connection that never ends its transaction would do too, but a minute of patience is long for a
    // test.
    auto database = open_sqlite(location, Access::write);
    EXPECT_WELL((*database)->script("DROP TABLE weir_blocks"));
  }
  EXPECT_WELL(store->write(one_sample(2)));
  EXPECT_EQ(store->spooled(), 1U);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(location + suffix);
  EXPECT_WELL(store->deliver());
  EXPECT_EQ(store->delivered(), 1U);
  Store site = *Store::open(location, Access::read);
  EXPECT_EQ(all_samples(site).begin()->second.begin()->first, 2);
}

}  // namespace
}  // namespace weir::store
