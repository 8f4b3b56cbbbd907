// Jobs, nodes and topology in a store; what kind of file a store is.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include "store/schema.hpp"
#include "store_support.hpp"

namespace weir::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Job example(const std::string& id, std::int64_t start, std::int64_t end) {
  Job job{.id = id,
          .user = "ada",
          .name = "wave",
          .state = JobState::running,
          .submit_ns = start - 5,
          .start_ns = start,
          .end_ns = end};
  job.nodes = {"n001", "n002", "n010", "login"};
  job.node_count = 4;
  job.shape = {2, 2, 1};
  job.figures = {{"bytes_written", 1.5e12}};
  job.labels = {{"command", "mpirun ./wave"}};
  return job;
}

std::vector<std::string> ids(const std::vector<Job>& jobs) {
  std::vector<std::string> all;
  for (const Job& job : jobs) all.push_back(job.id);
  return all;
}

TEST_F(StoreTest, JobsComeBack) {
  Store store = open();
  const Job job = example("4711", 100, 200);
  EXPECT_WELL(store.put(job));
  EXPECT_EQ(*store.job("4711"), job);
  Job changed = job;
  changed.name = "'; DROP TABLE weir_jobs; --";
  changed.labels["note"] = "line\nbreak \"quoted\" \xc3\xa4";
  EXPECT_WELL(store.put(changed));
  EXPECT_EQ(*store.job("4711"), changed);
  EXPECT_EQ(store.jobs({.with_nodes = false})->at(0).node_count, 4U);
  EXPECT_THAT(store.jobs({.with_nodes = false})->at(0).nodes, IsEmpty());
}

TEST_F(StoreTest, JobsOfAWindow) {
  Store store = open();
  const std::vector<Job> jobs = {example("a", 100, 200), example("b", 150, 250), example("c", 300, 0)};
  EXPECT_WELL(store.put(jobs));
  EXPECT_THAT(ids(*store.jobs()), ElementsAre("c", "b", "a"));
  EXPECT_THAT(ids(*store.jobs({.window = {200, 300}})), ElementsAre("b"));
  EXPECT_THAT(ids(*store.jobs({.window = {1000, 2000}})), ElementsAre("c"));  // it runs
  EXPECT_THAT(ids(*store.jobs({.at_most = 2})), ElementsAre("c", "b"));
  EXPECT_THAT(ids(*store.jobs({.ids = {"a", "c", "x"}})), ElementsAre("c", "a"));
  EXPECT_THAT(ids(*store.jobs({.user = "bob"})), IsEmpty());
}

TEST_F(StoreTest, JobsFinish) {
  Store store = open();
  EXPECT_WELL(store.put(example("a", 100, 0)));
  EXPECT_WELL(store.finish("a", JobState::failed, 300, {{"exit_code", 3}}));
  const Job job = *store.job("a");
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.end_ns, 300);
  EXPECT_EQ(job.figures.at("exit_code"), 3);
  EXPECT_EQ(job.figures.at("bytes_written"), 1.5e12);
  EXPECT_EQ(store.finish("b", JobState::failed, 300).error().code, ErrorCode::not_found);
}

TEST_F(StoreTest, AnUnknownJobNamesCloseOnes) {
  Store store = open();
  EXPECT_THAT(store.job("47").error().message(), HasSubstr("there are no jobs"));
  EXPECT_WELL(store.put(example("4711", 100, 200)));
  EXPECT_WELL(store.put(example("4712", 100, 200)));
  EXPECT_WELL(store.put(example("99", 100, 200)));
  const auto missing = store.job("471");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_THAT(missing.error().message(), HasSubstr("close to it are 4712, 4711"));
}

TEST_F(StoreTest, WrongJobsAreRefusedAndNothingIsKept) {
  Store store = open();
  Job twice = example("b", 100, 200);
  twice.nodes[1] = "n001";
  Job backwards = example("c", 200, 100), spaced = example("a b", 100, 200),
      unnumbered = example("d", 100, 200);
  unnumbered.figures["x"] = std::numeric_limits<double>::quiet_NaN();
  for (const Job& wrong : {twice, backwards, spaced, unnumbered}) {
    const std::vector<Job> jobs = {example("good", 1, 2), wrong};
    const Status status = store.put(jobs);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_THAT(*store.jobs(), IsEmpty());
}

TEST_F(StoreTest, BytesThatAreNoTextDoNoHarm) {
  Store store = open();
  Job job = example("a", 100, 200);
  job.name = std::string("nul \0 and \xff\xfe", 12);
  EXPECT_WELL(store.put(job));
  EXPECT_THAT(store.job("a")->name, HasSubstr("nul"));
}

TEST_F(StoreTest, NodesAndTopology) {
  Store store = open();
  EXPECT_FALSE(store.topology()->has_value());
  const std::vector<Node> nodes = {
      {"c1", NodeRole::compute, {0, 1, 2}, "r1", {}, {"s1"}},
      {"s1", NodeRole::local_io, {0, 1, 0}, "r1", {"OST0", "OST1"}, {}},
      {"g1", NodeRole::global_io, {}, "", {}, {}},
  };
  EXPECT_WELL(store.put(nodes));
  EXPECT_EQ(*store.nodes(), nodes);
  EXPECT_EQ(store.nodes({.roles = {NodeRole::global_io, NodeRole::local_io}})->size(), 2U);
  EXPECT_EQ(store.nodes({.names = {"s1", "absent"}})->at(0), nodes[1]);
  const std::vector<Node> wrong = {{"x", NodeRole::compute, {}, "", {}, {}},
                                   {"a b", NodeRole::compute, {}, "", {}, {}}};
  EXPECT_FALSE(store.put(wrong));
  EXPECT_EQ(store.nodes()->size(), 3U);
  Topology topology{.name = "t",
                    .dimensions = {{"X", 24, true}, {"Y", 18, false}},
                    .links = {"X+", "X-"},
                    .link_bytes_per_second = 5e9,
                    .clock_hz = 312.5e6,
                    .serving_rule = "z-link"};
  EXPECT_WELL(store.put(topology));
  EXPECT_EQ(**store.topology(), topology);
  topology.serving_rule = "z-lnk";
  const Status refused = store.put(topology);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("did you mean 'z-link'"));
}

TEST_F(StoreTest, ReadingNeedsAStoreAndChangesNothing) {
  EXPECT_FALSE(Store::open(location_, Access::read));
  EXPECT_FALSE(Store::open(location_, Access::write));
  { open(); }
  Store store = open(Access::read);
  EXPECT_FALSE(store.put(example("a", 1, 2)));
  telemetry::Batch batch;
  batch.add(written("oss", "A"), 1, 1);
  EXPECT_FALSE(store.write(batch));
  EXPECT_THAT(all_samples(store), IsEmpty());
}

TEST_F(StoreTest, AStoreOfANewerWeirIsRefused) {
  { open(); }
  {
    auto database =
        on_sqlite() ? open_sqlite(location_, Access::write) : open_postgresql(location_, Access::write);
    EXPECT_WELL((*database)->script("UPDATE weir_meta SET value = '99' WHERE name = 'version'"));
  }
  for (const Access access : {Access::read, Access::write, Access::create}) {
    const auto store = Store::open(location_, access);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::unsupported);
    EXPECT_THAT(store.error().message(), HasSubstr("version 99"));
    EXPECT_THAT(store.error().message(), HasSubstr("use a newer Weir"));
  }
}

TEST_F(StoreTest, ForeignFilesAreRefused) {
  if (!on_sqlite()) GTEST_SKIP() << "about files";
  std::ofstream(location_) << std::string(5000, 'x');
  for (const Access access : {Access::read, Access::create}) {
    const auto store = Store::open(location_, access);
    ASSERT_FALSE(store);
    EXPECT_THAT(store.error().message(), HasSubstr("no store"));
  }
  EXPECT_FALSE(Store::open((folder_ / "no/such/folder/x.db").string()));
  EXPECT_FALSE(Store::open(folder_.string()));
  EXPECT_FALSE(Store::open(""));
}

TEST_F(StoreTest, AServerThatIsAwayIsSaid) {
  const auto store = Store::open("postgresql:///weir?host=" + folder_.string());
  ASSERT_FALSE(store);
  if (store.error().code == ErrorCode::unsupported) GTEST_SKIP() << "built without PostgreSQL";
  EXPECT_THAT(store.error().message(), HasSubstr("check that the server runs"));
}

TEST_F(StoreTest, DamageIsReported) {
  if (!on_sqlite()) GTEST_SKIP() << "the same code";
  {
    Store store = open();
    telemetry::Batch batch;
    batch.add(written("oss", "A"), 1, 1);
    EXPECT_WELL(store.write(batch));
    EXPECT_THAT(*store.check(), IsEmpty());
  }
  {
    auto database = open_sqlite(location_, Access::write);
    EXPECT_WELL((*database)->script("UPDATE weir_blocks SET data = x'574231aabb'"));
  }
  Store store = open();
  EXPECT_THAT(*store.check(), ElementsAre(HasSubstr("block 1: a block of samples is damaged")));
  const auto read = store.read_all({});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
}

TEST(StoreJob, StatesOfSchedulers) {
  EXPECT_EQ(job_state_of_scheduler("COMPLETED"), JobState::completed);
  EXPECT_EQ(job_state_of_scheduler("CANCELLED by 1000"), JobState::cancelled);
  EXPECT_EQ(job_state_of_scheduler("OUT_OF_MEMORY"), JobState::failed);
  EXPECT_EQ(job_state_of_scheduler("RUNNING"), JobState::running);
  EXPECT_EQ(job_state_of_scheduler("whatever"), JobState::unknown);
}

}  // namespace
}  // namespace weir::store
