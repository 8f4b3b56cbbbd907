// req as it is carried out: how many requests storage targets really have at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective_support.hpp"
#include "watched_writes.hpp"

namespace weir::collective {
namespace {

using aggregation::DomainKind;
using aggregation::Settings;
using testing::SizeIs;

constexpr std::uint64_t unit = 16U << 10U;
constexpr std::uint32_t targets = 2;

// Ranks have small pieces of so many bytes in turn.
void write_in_turns(Collective& io, std::uint64_t bytes, std::uint64_t begin) {
  constexpr std::uint64_t piece = 512;
  const auto ranks = static_cast<std::uint64_t>(test::ranks());
  aggregation::RowBuilder rows;
  for (auto at = static_cast<std::uint64_t>(test::rank()); at < bytes / piece; at += ranks)
    rows.add(begin + at * piece, piece);
  Request request{.file = rows.take(), .memory = {}};
  std::vector<std::byte> data(aggregation::total_bytes(request.file));
  request.memory = {{.offset = reinterpret_cast<std::uintptr_t>(data.data()), .length = data.size()}};
  const Outcome outcome = io.write(request);
  EXPECT_TRUE(outcome.status) << outcome.status.error().message();
}

// What two calls did to a file, on all ranks.
std::vector<test::WatchedWrite> writes_of(const char* configuration, DomainKind domains, std::uint32_t team) {
  Settings settings = aggregation::parse_configuration(configuration).value();
  settings.buffer = unit;
  settings.striping = {.unit = unit, .factor = targets};
  settings.domains = domains;
  settings.team = team;
  settings.allocate = false;
  const test::SharedFile file("watched");
  const auto io = Collective::create(mpi::Comm::duplicate(MPI_COMM_WORLD), file.open(), settings).value();
  for (const std::uint64_t begin : {0 * unit, 16 * unit}) write_in_turns(*io, 16 * unit, begin);
  MPI_Barrier(MPI_COMM_WORLD);
  return test::watched_writes(file.folder());
}

TEST(Throttling, WithoutItRequestsMeet) {
  const auto writes = writes_of("T:cb_nodes=4", DomainKind::automatic, 0);
  EXPECT_THAT(test::processes_of(writes), SizeIs(4));
  EXPECT_GT(test::most_at_a_target(writes, unit, targets), 1U);
}

TEST(Throttling, NoTargetHasMoreThanReqRequests) {
  for (const std::uint32_t team : {0U, 1U, 2U}) {
    SCOPED_TRACE(team);
    auto writes = writes_of("T:req=1,cb_nodes=4", DomainKind::automatic, team);
    EXPECT_THAT(test::processes_of(writes), SizeIs(4));
    EXPECT_EQ(test::most_at_a_target(writes, unit, targets), 1U);
    EXPECT_EQ(test::most_at_a_time(writes), targets) << "targets have nothing to do with each other";
    writes = writes_of("T:agg=1,rr=1,req=1,cb_nodes=4", DomainKind::automatic, team);
    EXPECT_EQ(test::most_at_a_target(writes, unit, targets), 1U);
  }
}

// Figure 5.2b: node 0, of the first group, sends to aggregators of groups 1, 2 and 3 in as many steps.
TEST(Throttling, DataIsSentStepByStep) {
  const auto waits = [](const char* configuration) {
    Settings settings = aggregation::parse_configuration(configuration).value();
    settings.buffer = unit;
    settings.team = 1;
    const test::SharedFile file;
    const auto io = Collective::create(mpi::Comm::duplicate(MPI_COMM_WORLD), file.open(), settings).value();
    write_in_turns(*io, 16 * unit, 0);
    std::uint64_t sum = io->accounting().later_steps;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  };
  EXPECT_GT(waits("T:req=1,cb_nodes=4"), 0U);
  EXPECT_EQ(waits("T:req=4,cb_nodes=4"), 0U) << "all are one group";
  EXPECT_EQ(waits("T:cb_nodes=4"), 0U);
}

TEST(Throttling, OverAllWhereDomainsKeepToNoTarget) {
  for (const DomainKind domains : {DomainKind::even, DomainKind::aligned}) {
    const auto writes = writes_of("T:req=1,cb_nodes=4", domains, 0);
    EXPECT_THAT(test::processes_of(writes), SizeIs(4));
    EXPECT_LE(test::most_at_a_time(writes), targets);
  }
}

TEST(Throttling, WithoutTwoPhaseIo) {
  const auto writes = writes_of("N:req=1", DomainKind::automatic, 0);
  EXPECT_THAT(test::processes_of(writes), SizeIs(static_cast<std::size_t>(test::ranks())));
  EXPECT_EQ(test::most_at_a_time(writes), targets);
  EXPECT_LE(test::most_at_a_time(writes_of("S:req=1,cb_nodes=4", DomainKind::automatic, 0)), targets);
}

}  // namespace
}  // namespace weir::collective
