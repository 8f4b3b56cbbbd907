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

// Two calls in which ranks have small pieces of all of the file in turn; what they did to it, on all ranks.
std::vector<test::WatchedWrite> writes_of(const char* configuration, DomainKind domains, std::uint32_t team) {
  Settings settings = aggregation::parse_configuration(configuration).value();
  settings.buffer = unit;
  settings.striping = {.unit = unit, .factor = targets};
  settings.domains = domains;
  settings.team = team;
  settings.allocate = false;
  const test::SharedFile file("watched");
  const auto io = Collective::create(mpi::Comm::duplicate(MPI_COMM_WORLD), file.open(), settings).value();
  constexpr std::uint64_t piece = 512;
  constexpr std::uint64_t stripes = 16;
  const auto ranks = static_cast<std::uint64_t>(test::ranks());
  for (std::uint64_t call = 0; call < 2; ++call) {
    aggregation::RowBuilder rows;
    const std::uint64_t begin = call * stripes * unit;
    for (std::uint64_t at = static_cast<std::uint64_t>(test::rank()); at < stripes * unit / piece;
         at += ranks)
      rows.add(begin + at * piece, piece);
    Request request{.file = rows.take(), .memory = {}};
    std::vector<std::byte> data(aggregation::total_bytes(request.file));
    request.memory = {{.offset = reinterpret_cast<std::uintptr_t>(data.data()), .length = data.size()}};
    const Outcome outcome = io->write(request);
    EXPECT_TRUE(outcome.status) << outcome.status.error().message();
  }
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
