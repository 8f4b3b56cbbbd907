// What was acknowledged stays: killed writers, several writers, full disks.
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "store_support.hpp"

namespace weir::store {
namespace {

using telemetry::Batch;
using testing::HasSubstr;
using testing::IsEmpty;

Batch batch_number(int writer, int number) {
  Batch batch;
  for (int s = 0; s < 20; ++s)
    batch.add(written("oss" + std::to_string(writer), "OST" + std::to_string(s)), number,
              static_cast<std::uint64_t>(number));
  return batch;
}

// Writes batches until it is killed or has done `count`; a byte through the pipe for each that was
// acknowledged.
[[noreturn]] void write_batches(const std::string& location, int writer, int count, int pipe) {
  auto store = Store::open(location);
  if (!store) ::_exit(10);
  for (int i = 0; i < count; ++i) {
    if (!store->write(batch_number(writer, i))) ::_exit(11);
    if (i % 16 == 15 && !store->compact()) ::_exit(12);
    if (::write(pipe, "a", 1) != 1) ::_exit(13);
  }
  ::_exit(0);
}

TEST_F(StoreTest, AKilledWriterLosesNothingAcknowledged) {
  { open(); }
  std::mt19937 random(3);
  int writer = 0;
  for (int round = 0; round < 4; ++round, ++writer) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_batches(location_, writer, 1'000'000, pipe[1]);
    ::close(pipe[1]);
    // Until so many batches are acknowledged, then in the middle of whatever it does.
    const int enough = 10 + static_cast<int>(random() % 40);
    int acknowledged = 0;
    char byte = 0;
    while (acknowledged < enough && ::read(pipe[0], &byte, 1) == 1) ++acknowledged;
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    while (::read(pipe[0], &byte, 1) == 1) ++acknowledged;
    ::close(pipe[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit code " << WEXITSTATUS(status);
    ASSERT_GE(acknowledged, enough);

    Store store = open();
    const Samples samples = all_samples(store, {.nodes = {"oss" + std::to_string(writer)}});
    ASSERT_EQ(samples.size(), 20U);
    for (const auto& [key, values] : samples) {
      ASSERT_GE(values.size(), static_cast<std::size_t>(acknowledged));
      for (const auto& [time, value] : values) EXPECT_EQ(static_cast<std::uint64_t>(time), value);
    }
    EXPECT_THAT(*store.check(), IsEmpty());
  }
}

TEST_F(StoreTest, SeveralWritersAndAReader) {
  { open(); }
  constexpr int writers = 2, batches = 60;
  std::vector<pid_t> children;
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  for (int w = 0; w < writers; ++w) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_batches(location_, w, batches, pipe[1]);
    children.push_back(child);
  }
  ::close(pipe[1]);
  Store reader = open(Access::read);
  char byte = 0;
  for (int seen = 0; ::read(pipe[0], &byte, 1) == 1; ++seen) {
    if (seen % 10 != 0) continue;
    // Whole batches only: every series of a writer has as many samples as its neighbours.
    std::map<std::string, std::size_t> counts;
    for (const auto& [key, values] : all_samples(reader)) {
      const auto [at, first] = counts.emplace(key.node, values.size());
      EXPECT_EQ(at->second, values.size());
    }
  }
  ::close(pipe[0]);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  const Samples samples = all_samples(reader);
  EXPECT_EQ(samples.size(), static_cast<std::size_t>(writers * 20));
  for (const auto& [key, values] : samples) EXPECT_EQ(values.size(), static_cast<std::size_t>(batches));
}

TEST_F(StoreTest, AFullDiskIsAnErrorAndLosesNothingAcknowledged) {
  if (!on_sqlite()) GTEST_SKIP() << "about files";
  { open(); }
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // No file may grow beyond this: to SQLite as good as a full disk.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{512 * 1024, 512 * 1024};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(20);
    auto store = Store::open(location_);
    if (!store) ::_exit(21);
    std::mt19937_64 random(1);
    for (int i = 0; i < 100'000; ++i) {
      Batch batch;
      for (int s = 0; s < 500; ++s) batch.add(written("oss", "OST" + std::to_string(s)), i, random());
      if (const Status status = store->write(batch); !status) {
        // It says so, and it can still be read.
        const bool said = !status.error().message().empty();
        const auto back = store->read_all({.from = 0, .to = 1});
        ::_exit(said && back && back->size() == 500 ? 0 : 22);
      }
      if (::write(pipe[1], "a", 1) != 1) ::_exit(23);
    }
    ::_exit(24);
  }
  ::close(pipe[1]);
  int acknowledged = 0;
  for (char byte = 0; ::read(pipe[0], &byte, 1) == 1;) ++acknowledged;
  ::close(pipe[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ASSERT_GT(acknowledged, 0);
  Store store = open();
  for (const auto& [key, values] : all_samples(store))
    EXPECT_EQ(values.size(), static_cast<std::size_t>(acknowledged));
  EXPECT_THAT(*store.check(), IsEmpty());
  Batch batch;
  batch.add(written("oss", "OST0"), 1'000'000, 1);
  EXPECT_WELL(store.write(batch));  // space is back
}

TEST_F(StoreTest, AFolderThatCannotBeWrittenStillReads) {
  if (!on_sqlite()) GTEST_SKIP() << "about files";
  {
    Store store = open();
    EXPECT_WELL(store.write(batch_number(0, 1)));
  }
  // As root every folder can be written; what matters is that the log beside the file is gone by now.
  EXPECT_FALSE(std::filesystem::exists(location_ + "-wal"));
  ASSERT_EQ(::chmod(location_.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  {
    Store store = open(Access::read);
    EXPECT_EQ(all_samples(store).size(), 20U);
  }
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
}

}  // namespace
}  // namespace weir::store
