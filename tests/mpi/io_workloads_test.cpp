// The I/O workloads with real files: collective MPI-IO and the shuffle by plan write the bytes that system
// calls read, and read those that system calls wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "mpi/comm.hpp"
#include "workloads/collective_io.hpp"
#include "workloads/planned_shuffle.hpp"
#include "workloads/share.hpp"

namespace weir::workloads {
namespace {

class IoWorkloads : public testing::Test {
 protected:
  void SetUp() override {
    std::string name;
    if (rank_ == 0) {
      name = (std::filesystem::temp_directory_path() / "weir-io.XXXXXX").string();
      ASSERT_NE(::mkdtemp(name.data()), nullptr);
    }
    folder_ = comm_.broadcast(name, 0);
  }
  void TearDown() override {
    comm_.barrier();
    if (rank_ == 0) std::filesystem::remove_all(folder_);
  }

  std::vector<IoWorkload> workloads() const {
    const auto ranks = static_cast<std::uint64_t>(comm_.size());
    std::vector<IoWorkload> all{
        {"tile", pattern::Cartesian{.processes = {1, ranks}, .block = {7, 5}, .element = 33}},
        {"tile-modified",
         pattern::Cartesian{.processes = {ranks, 1}, .block = {7, 5}, .element = 8, .seed = 5}},
        {"ior", pattern::Ior{.ranks = ranks, .transfer = 100, .block = 300, .segments = 2}},
        {"ior", pattern::Ior{.ranks = ranks, .transfer = 100, .block = 300, .segments = 2, .strided = true}},
        {"hpio", pattern::Hpio{.ranks = ranks, .regions = 9, .region = 111, .spacing = 25}}};
    if (ranks == 1 || ranks == 4)
      all.push_back(
          {"btio", pattern::BlockTridiagonal{.ranks = ranks, .points = 9, .element = 40, .steps = 2}});
    return all;
  }

  struct Memory {
    IoProgram program;
    std::vector<std::byte> good, read;
  };
  Memory memory_of(const IoWorkload& workload) const {
    Memory memory{program_of(workload, static_cast<std::uint64_t>(rank_)), {}, {}};
    memory.good.resize(memory.program.bytes());
    memory.read.resize(memory.program.bytes());
    fill(memory.program.all_accesses(), memory.good.data());
    return memory;
  }

  mpi::Comm comm_ = mpi::Comm::duplicate(MPI_COMM_WORLD);
  int rank_ = comm_.rank();
  std::string folder_;
};

TEST_F(IoWorkloads, CollectiveCalls) {
  for (const IoWorkload& workload : workloads()) {
    Memory memory = memory_of(workload);
    const std::string path = folder_ + "/" + workload.name;
    const auto written = write_collectively(comm_.get(), path, memory.program, memory.good.data());
    ASSERT_TRUE(written) << written.error().message();
    EXPECT_GT(written->transfer, 0);
    ASSERT_TRUE(read_directly(path, memory.program, memory.read.data()));
    EXPECT_EQ(memory.read, memory.good) << workload.name;
    std::fill(memory.read.begin(), memory.read.end(), std::byte{});
    ASSERT_TRUE(read_collectively(comm_.get(), path, memory.program, memory.read.data()));
    EXPECT_EQ(find_wrong(memory.program.all_accesses(), memory.read.data()), std::nullopt) << workload.name;
  }
}

TEST_F(IoWorkloads, ShuffleByPlan) {
  const int ranks = comm_.size();
  for (const IoWorkload& workload : workloads()) {
    for (const std::vector<int>& aggregators :
         {std::vector<int>{0}, std::vector<int>{ranks - 1, 0, ranks / 2}, std::vector<int>(7, ranks / 2)}) {
      for (const auto kind : {PlannedShuffle::Kind::two_phase, PlannedShuffle::Kind::segmented}) {
        Memory memory = memory_of(workload);
        const std::string path = folder_ + "/planned";
        PlannedShuffle shuffle(comm_.get(), workload, aggregators, kind);
        const auto written = shuffle.write(path, memory.good.data());
        ASSERT_TRUE(written) << written.error().message();
        ASSERT_TRUE(read_directly(path, memory.program, memory.read.data()));
        EXPECT_EQ(memory.read, memory.good) << workload.name;
        std::fill(memory.read.begin(), memory.read.end(), std::byte{});
        ASSERT_TRUE(shuffle.read(path, memory.read.data()));
        EXPECT_EQ(memory.read, memory.good) << workload.name;
        comm_.barrier();
        if (rank_ == 0) std::filesystem::remove(path);
        comm_.barrier();
      }
    }
  }
}

TEST_F(IoWorkloads, FailuresReachEverybody) {
  const Memory memory = memory_of(workloads().front());
  EXPECT_FALSE(write_collectively(comm_.get(), folder_ + "/no/such", memory.program, memory.good.data()));
  EXPECT_FALSE(
      PlannedShuffle(comm_.get(), workloads().front(), {0}).write(folder_ + "/no/such", memory.good.data()));
}

}  // namespace
}  // namespace weir::workloads
