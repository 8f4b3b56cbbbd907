// The I/O workloads without MPI-IO: what is touched, what stands there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "workloads/collective_io.hpp"
#include "workloads/io_workload.hpp"
#include "workloads/planned_shuffle.hpp"

namespace weir::workloads {
namespace {

using pattern::Access;

std::vector<IoWorkload> small_workloads() {
  return {
      {"tile", pattern::Cartesian{.processes = {2, 3}, .block = {4, 5}, .element = 7}},
      {"tile-modified", pattern::Cartesian{.processes = {3, 3}, .block = {4, 5}, .element = 8, .seed = 5}},
      {"btio", pattern::BlockTridiagonal{.ranks = 9, .points = 10, .element = 5, .steps = 3}},
      {"ior", pattern::Ior{.ranks = 3, .transfer = 8, .block = 24, .segments = 2}},
      {"ior", pattern::Ior{.ranks = 3, .transfer = 8, .block = 24, .segments = 2, .strided = true}},
      {"hpio", pattern::Hpio{.ranks = 4, .regions = 6, .region = 11, .spacing = 5}}};
}

std::set<std::int64_t> bytes_of(const std::vector<Access>& accesses) {
  std::set<std::int64_t> bytes;
  for (const Access& access : accesses) {
    for (const pattern::Piece& piece : pattern::list_pieces(access, UINT64_MAX)) {
      for (std::int64_t at = piece.offset; at < piece.end(); ++at) bytes.insert(at);
    }
  }
  return bytes;
}

// The calls of a rank, put together, are what the stated pattern says.
TEST(IoWorkload, ProgramsTouchTheirPattern) {
  for (const IoWorkload& workload : small_workloads()) {
    const auto pattern = pattern_of(workload);
    ASSERT_TRUE(pattern);
    ASSERT_EQ(pattern->ranks, ranks_of(workload));
    for (std::uint64_t rank = 0; rank < pattern->ranks; ++rank) {
      const IoProgram program = program_of(workload, rank);
      std::vector<Access> stated;
      for (const pattern::Use& use : pattern->files[0].writes.of(rank))
        stated.push_back(pattern->access(use));
      const auto found = bytes_of(program.all_accesses());
      ASSERT_EQ(found, bytes_of(stated)) << workload.name << " rank " << rank;
      ASSERT_EQ(found.size(), program.bytes()) << workload.name;
    }
  }
}

TEST(IoWorkload, GoesThroughJson) {
  for (const IoWorkload& workload : small_workloads()) {
    const auto again = io_workload_from_json(io_workload_to_json(workload));
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(io_workload_to_json(*again), io_workload_to_json(workload));
    EXPECT_EQ(again->name, workload.name);
    EXPECT_EQ(program_of(*again, 1).all_accesses(), program_of(workload, 1).all_accesses());
  }
  EXPECT_FALSE(io_workload_from_json(Json{{"name", "x"}, {"kind", "y"}, {"seed", 0}}));
  EXPECT_FALSE(io_workload_from_json(Json{{"name", "btio"},
                                          {"kind", "bt"},
                                          {"ranks", 3},
                                          {"points", 4},
                                          {"element", 8},
                                          {"steps", 1},
                                          {"seed", 0}}));
}

TEST(IoWorkload, DataIsAFunctionOfThePlace) {
  const std::vector<Access> scattered{{3, {5, {{4, 13}}}, 1}}, whole{Access::contiguous(0, 64)};
  std::vector<std::byte> some(20), all(64);
  fill(scattered, some.data());
  fill(whole, all.data());
  for (std::size_t at = 0; at < 20; ++at) EXPECT_EQ(some[at], all[3 + at / 5 * 13 + at % 5]);
  EXPECT_FALSE(find_wrong(scattered, some.data()));
  // A single wrong byte is found, wherever it stands.
  for (std::size_t at = 0; at < 20; ++at) {
    some[at] ^= std::byte{1};
    EXPECT_EQ(find_wrong(scattered, some.data()), static_cast<std::int64_t>(3 + at / 5 * 13 + at % 5));
    some[at] ^= std::byte{1};
  }
}

TEST(IoWorkload, StretchesOfADomain) {
  const std::vector<Access> accesses{{10, {4, {{3, 10}}}, 1}, Access::contiguous(100, 50)};
  const auto stretches = stretches_in(accesses, 12, 110);
  ASSERT_EQ(stretches.size(), 4U);
  EXPECT_EQ(stretches[0].offset, 12);
  EXPECT_EQ(stretches[0].length, 2U);
  EXPECT_EQ(stretches[0].in_memory, 2U);
  EXPECT_EQ(stretches[2].in_memory, 8U);
  EXPECT_EQ(stretches[3].offset, 100);
  EXPECT_EQ(stretches[3].length, 10U);
  EXPECT_EQ(stretches[3].in_memory, 12U);
  EXPECT_TRUE(stretches_in(accesses, 40, 90).empty());
}

TEST(IoWorkload, SegmentsFollowTheCommunicator) {
  const IoWorkload tile{"tile", pattern::Cartesian{.processes = {2, 3}, .block = {1, 1}}};
  EXPECT_EQ(segments_of(tile, 2), (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1}));
  const IoWorkload modified{"tile-modified",
                            pattern::Cartesian{.processes = {2, 4}, .block = {1, 1}, .seed = 7}};
  const auto position = pattern::permutation(8, 7);
  const auto group_of = segments_of(modified, 2);
  for (std::size_t rank = 0; rank < 8; ++rank) EXPECT_EQ(group_of[rank], position[rank] / 4);
}

TEST(NodeTraffic, CountersOfTheKernel) {
  EXPECT_EQ(bytes_sent("Inter-|   Receive                    |  Transmit\n"
                       " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
                       "    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n"
                       "  eth0: 2000 20 0 0 0 0 0 0 345 20 0 0 0 0 0 0\n"
                       "  eth1:2000 20 0 0 0 0 0 0 5 20 0 0 0 0 0 0\n"),
            350U);
  EXPECT_EQ(bytes_sent(""), 0U);
  EXPECT_EQ(bytes_sent("eth0: broken"), 0U);
}

}  // namespace
}  // namespace weir::workloads
