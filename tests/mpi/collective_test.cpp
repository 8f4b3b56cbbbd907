// Collective I/O against what must be in the file, byte for byte, over random accesses and all
// configurations.
#include "collective/collective.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "collective/peers.hpp"
#include "collective/team.hpp"
#include "collective/write_lock.hpp"
#include "collective_support.hpp"

namespace weir::collective {
namespace {

using aggregation::Algorithm;
using aggregation::DomainKind;
using aggregation::RowBuilder;
using aggregation::Rows;
using aggregation::Settings;
using testing::HasSubstr;

mpi::Comm world() {
  return mpi::Comm::duplicate(MPI_COMM_WORLD);
}

Settings random_settings(test::Random& random) {
  Settings settings;
  settings.algorithm = static_cast<Algorithm>(random(0, 3));
  settings.domains = static_cast<DomainKind>(random(0, 3));
  settings.striping_aware = random.chance(2);
  settings.round_robin = random.chance(2);
  settings.requests = random.chance(2) ? 0 : static_cast<std::uint32_t>(random(1, 3));
  settings.aggregators =
      random.chance(3) ? 0 : static_cast<std::uint32_t>(random(1, static_cast<std::uint64_t>(test::ranks())));
  settings.buffer = random.chance(3) ? 1U << 20U : 4096;
  if (random.chance(2))
    settings.striping = {.unit = random(1, 5000), .factor = static_cast<std::uint32_t>(random(1, 4))};
  settings.team = static_cast<std::uint32_t>(random(0, 4));
  if (random.chance(6)) settings.ranks = {static_cast<std::uint32_t>(test::ranks() - 1)};
  return settings;
}

Request request_of(const std::vector<test::Stretch>& stretches, std::uint64_t shift) {
  RowBuilder builder;
  for (const auto& stretch : stretches)
    if (stretch.owner == test::rank()) builder.add(stretch.offset + shift, stretch.length);
  return {.file = builder.take(), .memory = {}};
}

std::vector<std::uint64_t> offsets_of(const Rows& rows) {
  std::vector<std::uint64_t> offsets;
  for (const auto& row : rows)
    for (std::uint64_t i = 0; i < row.count; ++i)
      for (std::uint64_t b = 0; b < row.length; ++b) offsets.push_back(row.begin_of(i) + b);
  return offsets;
}

// Writes every rank's stretches with bytes of this generation; the file and `expected` then agree, if all is
// well.
void write_and_foretell(Collective& io, test::Random& private_random,
                        const std::vector<test::Stretch>& stretches, std::uint64_t shift,
                        std::uint64_t generation, std::vector<std::byte>& expected) {
  Request request = request_of(stretches, shift);
  test::Memory memory(private_random, aggregation::total_bytes(request.file), private_random.chance(2));
  const auto stream = memory.stream();
  const auto offsets = offsets_of(request.file);
  for (std::size_t i = 0; i < stream.size(); ++i) *stream[i] = test::byte_at(offsets[i], generation);
  request.memory = memory.rows();
  const Outcome outcome = io.write(request);
  ASSERT_TRUE(outcome.status) << outcome.status.error().message();
  ASSERT_EQ(outcome.bytes, stream.size());
  for (const auto& stretch : stretches) {
    if (stretch.owner < 0) continue;
    const std::uint64_t begin = stretch.offset + shift;
    if (expected.size() < begin + stretch.length) expected.resize(begin + stretch.length);
    for (std::uint64_t b = 0; b < stretch.length; ++b)
      expected[begin + b] = test::byte_at(begin + b, generation);
  }
}

void expect_file(const test::SharedFile& file, const std::vector<std::byte>& expected) {
  std::vector<std::byte> found(expected.size() + 100);
  const ssize_t size = ::pread(file.descriptor(), found.data(), found.size(), 0);
  ASSERT_EQ(static_cast<std::size_t>(size), expected.size());
  const auto wrong = std::mismatch(expected.begin(), expected.end(), found.begin());
  ASSERT_EQ(wrong.first - expected.begin(), static_cast<std::ptrdiff_t>(expected.size()))
      << "the first wrong byte of the file";
}

// Reads random ranges, which may overlap between ranks and go beyond the end of the file.
void read_and_compare(Collective& io, test::Random& private_random, const std::vector<std::byte>& expected) {
  RowBuilder builder;
  std::uint64_t at = private_random(0, expected.size());
  for (std::uint64_t n = private_random(0, 40); n > 0; --n) {
    const std::uint64_t length = private_random(1, 300);
    builder.add(at, length);
    at += length + private_random(0, 50);
  }
  Request request{.file = builder.take(), .memory = {}};
  test::Memory memory(private_random, aggregation::total_bytes(request.file), private_random.chance(2));
  request.memory = memory.rows();
  const Outcome outcome = io.read(request);
  ASSERT_TRUE(outcome.status) << outcome.status.error().message();
  const auto offsets = offsets_of(request.file);
  const auto stream = memory.stream();
  std::uint64_t there = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const bool inside = offsets[i] < expected.size();
    there += inside ? 1 : 0;
    ASSERT_EQ(*stream[i], inside ? expected[offsets[i]] : test::Memory::guard)
        << "byte " << offsets[i] << " of the file";
  }
  ASSERT_EQ(outcome.bytes, there);
  ASSERT_TRUE(memory.guards_stand());
}

TEST(Collective, RandomAccessesInAllConfigurations) {
  constexpr std::uint64_t least = 8;  // a slow machine makes do with these
  const double start = MPI_Wtime();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    int enough = seed >= least && MPI_Wtime() - start > 8 ? 1 : 0;
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (enough != 0) break;
    test::Random random(seed);
    test::Random private_random(seed * 1000 + static_cast<std::uint64_t>(test::rank()) + 1);
    const Settings settings = random_settings(random);
    SCOPED_TRACE(fmt::format("seed {}: {}, domains {}, striping {}, buffer {}, teams of {}", seed,
                             configuration_of(settings), to_string(settings.domains),
                             to_string(settings.striping), settings.buffer, settings.team));
    const test::SharedFile file;
    auto io = Collective::create(world(), file.open(), settings);
    ASSERT_TRUE(io) << io.error().message();
    std::vector<std::byte> expected;
    const auto stretches = random_stretches(random, random(0, 3000), random.chance(2) ? 40 : 3000);
    for (std::uint64_t generation = 0; generation < 3; ++generation) {
      write_and_foretell(**io, private_random, stretches, generation * random(0, 2) * 1000, generation,
                         expected);
      if (testing::Test::HasFatalFailure()) return;
      expect_file(file, expected);
      read_and_compare(**io, private_random, expected);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Collective, SameShapeIsNegotiatedOnce) {
  for (const char* configuration : {"T:cb_nodes=2", "S:", "N:"}) {
    const test::SharedFile file;
    Settings settings = aggregation::parse_configuration(configuration).value();
    settings.team = 2;
    auto io = Collective::create(world(), file.open(), settings).value();
    std::vector<std::byte> expected;
    test::Random random(5);
    std::vector<test::Stretch> stretches;
    for (std::uint64_t i = 0; i < 64; ++i)
      stretches.push_back({i * 100, 100, static_cast<int>(i) % test::ranks()});
    for (std::uint64_t step = 0; step < 5; ++step) {
      write_and_foretell(*io, random, stretches, step * 6400, step, expected);
      if (testing::Test::HasFatalFailure()) return;
    }
    expect_file(file, expected);
    EXPECT_EQ(io->accounting().schedules, 1U) << configuration;
    EXPECT_EQ(io->accounting().calls, 5U);
    MPI_Barrier(MPI_COMM_WORLD);  // the next call may write before all have come to it
    stretches.back().length = 50;
    write_and_foretell(*io, random, stretches, 0, 9, expected);
    expect_file(file, expected);
    EXPECT_EQ(io->accounting().schedules, 2U) << configuration;
  }
}

// Pieces of `piece` bytes dealt to ranks in turn, and holes of `hole` bytes between them, as HPIO has them.
std::vector<test::Stretch> with_holes(std::uint64_t count, std::uint64_t piece, std::uint64_t hole) {
  std::vector<test::Stretch> stretches;
  for (std::uint64_t i = 0; i < count; ++i)
    stretches.push_back({i * (piece + hole), piece, static_cast<int>(i) % test::ranks()});
  return stretches;
}

void fill_file(const test::SharedFile& file, std::vector<std::byte>& content, std::uint64_t bytes) {
  content.resize(bytes);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = test::byte_at(i, 77);
  if (test::rank() == 0) {
    ASSERT_EQ(::pwrite(file.descriptor(), content.data(), bytes, 0), static_cast<ssize_t>(bytes));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(CollectiveHoles, StayAsTheyWereInFewRequests) {
  for (const char* configuration : {"T:", "T:domains=cyclic", "S:", "auto"}) {
    for (const bool fill : {true, false}) {
      for (const bool old_bytes : {true, false}) {
        SCOPED_TRACE(fmt::format("{}, fill {}, old bytes {}", configuration, fill, old_bytes));
        const test::SharedFile file;
        std::vector<std::byte> expected;
        if (old_bytes) fill_file(file, expected, 300'000);
        Settings settings = aggregation::parse_configuration(configuration).value();
        settings.striping = {.unit = 7000, .factor = 2};
        settings.team = 4;
        settings.fill = fill;
        auto io = Collective::create(world(), file.open(), settings).value();
        test::Random random(8);
        write_and_foretell(*io, random, with_holes(112, 5992, 256), 0, 1, expected);
        if (testing::Test::HasFatalFailure()) return;
        expect_file(file, expected);
        // A hole that nobody reads or writes costs a request of its own behind it.
        const std::int64_t requests = world().sum(static_cast<std::int64_t>(io->accounting().requests));
        const auto way = io->last_decision()->algorithm;
        if (!fill) {
          EXPECT_GE(requests, 112);
        } else if (!old_bytes && way == Algorithm::two_phase && test::ranks() > 1) {
          EXPECT_LT(requests, 112);
        }
      }
    }
  }
}

TEST(CollectiveHoles, AreLeftAloneWhileSomebodyElseWrites) {
  const test::SharedFile file;
  Settings settings = aggregation::parse_configuration("T:").value();
  auto io = Collective::create(world(), file.open(), settings).value();
  std::vector<std::byte> expected;
  test::Random random(9);
  // Another open file of the same program: its locks are not those of the calls.
  const Descriptor other = open_file(file.path(), O_RDWR).value();
  {
    const WriteLock writing(other.get(), WriteLock::Kind::shared);
    ASSERT_TRUE(writing.held());
    MPI_Barrier(MPI_COMM_WORLD);  // now everybody writes by other means
    write_and_foretell(*io, random, with_holes(64, 3000, 100), 0, 1, expected);
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_GE(world().sum(static_cast<std::int64_t>(io->accounting().requests)), 64);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  expect_file(file, expected);
  MPI_Barrier(MPI_COMM_WORLD);
  write_and_foretell(*io, random, with_holes(64, 3000, 100), 0, 2, expected);
  expect_file(file, expected);
  // The call let go of the file.
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank() == 0) {
    EXPECT_TRUE(WriteLock(other.get(), WriteLock::Kind::exclusive).held());
  }
}

// Rank 0 does by hand what a call that fills holes does, slowly; meanwhile rank 1 writes into the hole by a
// call of its own. Whoever writes without waiting for the lock is overwritten.
TEST(CollectiveHoles, BytesThatSomebodyElseWritesIntoThemAreNotLost) {
  if (test::ranks() < 2) GTEST_SKIP() << "somebody else is another rank";
  for (const char* configuration : {"N:", "T:"}) {
    SCOPED_TRACE(configuration);
    const test::SharedFile file;
    std::vector<std::byte> content;
    fill_file(file, content, 4096);
    constexpr std::uint64_t begin = 1000, length = 100;
    std::vector<std::byte> data(length, std::byte{1});
    const Settings settings = aggregation::parse_configuration(configuration).value();
    auto io = Collective::create(mpi::Comm::duplicate(MPI_COMM_SELF), file.open(), settings).value();
    if (test::rank() == 0) {
      const Descriptor own = open_file(file.path(), O_RDWR).value();
      std::vector<std::byte> hole(length);
      const WriteLock alone(own.get(), WriteLock::Kind::exclusive);
      ASSERT_TRUE(alone.held());
      ASSERT_EQ(::pread(own.get(), hole.data(), length, begin), static_cast<ssize_t>(length));
      MPI_Barrier(MPI_COMM_WORLD);
      ::usleep(200'000);  // time enough to see who does not wait
      ASSERT_EQ(::pwrite(own.get(), hole.data(), length, begin), static_cast<ssize_t>(length));
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (test::rank() == 1) {
      const Outcome outcome = io->write(
          {.file = {{.offset = begin, .length = length}},
           .memory = {{.offset = reinterpret_cast<std::uintptr_t>(data.data()), .length = length}}});
      ASSERT_TRUE(outcome.status) << outcome.status.error().message();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    std::copy(data.begin(), data.end(), content.begin() + begin);
    expect_file(file, content);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Collective, BytesBetweenNodesAreThoseOfTheModel) {
  const test::SharedFile file;
  Settings settings = aggregation::parse_configuration("T:cb_nodes=2,buffer=4KiB").value();
  settings.team = 1;
  settings.round_robin = true;
  auto io = Collective::create(world(), file.open(), settings).value();
  std::vector<std::byte> expected;
  test::Random random(6);
  std::vector<test::Stretch> stretches;
  for (std::uint64_t i = 0; i < 700; ++i)
    stretches.push_back({i * 100, 100, static_cast<int>(i) % test::ranks()});
  write_and_foretell(*io, random, stretches, 0, 1, expected);
  const auto comm = world();
  const auto sent = comm.sum(static_cast<std::int64_t>(io->accounting().sent_between_nodes));
  // An aggregator has its own share without a message.
  const std::int64_t ranks = test::ranks();
  EXPECT_EQ(sent, comm.sum(static_cast<std::int64_t>(io->accounting().model_between_nodes)));
  EXPECT_NEAR(static_cast<double>(sent),
              70000.0 * static_cast<double>(ranks - 1) / static_cast<double>(ranks), 300);
}

TEST(Collective, FarBeyondTwoGigabytes) {
  const test::SharedFile file;
  for (const char* configuration : {"T:buffer=4KiB", "T:domains=cyclic", "S:", "N:", "auto"}) {
    Settings settings = aggregation::parse_configuration(configuration).value();
    settings.team = 2;
    auto io = Collective::create(world(), file.open(), settings).value();
    const std::uint64_t far = 5ULL << 30U;
    RowBuilder builder;
    std::vector<std::byte> data;
    for (std::uint64_t i = 0; i < 50; ++i)
      builder.add(i * far / 25 + static_cast<std::uint64_t>(test::rank()) * 333, 333);
    for (const std::uint64_t offset : offsets_of(builder.rows())) data.push_back(test::byte_at(offset, 3));
    Request request{
        .file = builder.rows(),
        .memory = {{.offset = reinterpret_cast<std::uintptr_t>(data.data()), .length = data.size()}}};
    ASSERT_TRUE(io->write(request).status);
    std::vector<std::byte> back(data.size());
    request.memory = {{.offset = reinterpret_cast<std::uintptr_t>(back.data()), .length = back.size()}};
    const Outcome outcome = io->read(request);
    ASSERT_TRUE(outcome.status);
    EXPECT_EQ(outcome.bytes, data.size());
    EXPECT_EQ(back, data) << configuration;
  }
}

TEST(Collective, NobodyHasAnything) {
  const test::SharedFile file;
  auto io = Collective::create(world(), file.open(), {}).value();
  EXPECT_TRUE(io->write({}).status);
  const Outcome outcome = io->read({});
  EXPECT_TRUE(outcome.status);
  EXPECT_EQ(outcome.bytes, 0U);
}

TEST(Collective, OverlappingPiecesOfOneRankCanBeRead) {
  const test::SharedFile file;
  std::vector<std::byte> content(1000);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = test::byte_at(i, 1);
  if (test::rank() == 0) {
    ASSERT_EQ(::pwrite(file.descriptor(), content.data(), content.size(), 0), 1000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  auto io = Collective::create(world(), file.open(), aggregation::parse_configuration("T:").value()).value();
  std::vector<std::byte> data(300, std::byte{1});
  Request request{.file = {{.offset = 10, .length = 100, .count = 3, .stride = 5}},
                  .memory = {{.offset = reinterpret_cast<std::uintptr_t>(data.data()), .length = 300}}};
  if (test::rank() % 2 == 1) request.file = {{.offset = 50, .length = 300}};
  ASSERT_TRUE(io->read(request).status);
  const auto offsets = offsets_of(request.file);
  for (std::size_t i = 0; i < offsets.size(); ++i) ASSERT_EQ(data[i], content[offsets[i]]);
  EXPECT_FALSE(
      io->write({.file = {{.offset = 10, .length = 100, .count = 3, .stride = 5}}, .memory = request.memory})
          .status);
}

// Every rank must have been told the same.
void expect_same(const Status& status, const std::string& part) {
  ASSERT_FALSE(status);
  const std::string mine = status.error().message();
  EXPECT_THAT(mine, HasSubstr(part));
  EXPECT_TRUE(mpi::same_everywhere(world(), mine, "the message")) << mine;
}

Request whole_request(std::vector<std::byte>& data, std::uint64_t bytes_per_rank, bool interleaved) {
  data.assign(bytes_per_rank, std::byte{7});
  const auto rank = static_cast<std::uint64_t>(test::rank());
  const auto ranks = static_cast<std::uint64_t>(test::ranks());
  Request request{
      .file = {{.offset = rank * bytes_per_rank, .length = bytes_per_rank}},
      .memory = {{.offset = reinterpret_cast<std::uintptr_t>(data.data()), .length = bytes_per_rank}}};
  if (interleaved)
    request.file = {{.offset = rank * 16, .length = 16, .count = bytes_per_rank / 16, .stride = 16 * ranks}};
  return request;
}

// As a plan's placement chose them: these ranks and no others touch the file, each for its own domain.
TEST(Collective, OnlyTheAggregatorsOfAPlanTouchTheFile) {
  const test::SharedFile file;
  Settings settings = aggregation::parse_configuration("T:").value();
  settings.team = 2;
  settings.domains = DomainKind::even;
  const auto last = static_cast<std::uint32_t>(test::ranks() - 1);
  settings.ranks = last == 0 ? std::vector<std::uint32_t>{0} : std::vector<std::uint32_t>{last, 0};
  auto io = Collective::create(world(), file.open(), settings).value();
  std::vector<std::byte> data;
  const Outcome outcome = io->write(whole_request(data, 48'000, true));
  ASSERT_TRUE(outcome.status) << outcome.status.error().message();
  const auto rank = static_cast<std::uint32_t>(test::rank());
  const std::uint64_t all = data.size() * (last + 1);
  const std::uint64_t share = rank == 0 || rank == last ? all / settings.ranks.size() : 0;
  EXPECT_NEAR(static_cast<double>(io->accounting().file_bytes), static_cast<double>(share), 16);
}

TEST(CollectiveFaults, FileThatIsTooLargeFailsOnAllRanksAlike) {
  // RLIMIT_FSIZE stands in for a full disk: one aggregator can write, another cannot.
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  for (const char* configuration : {"T:buffer=4KiB", "T:cb_nodes=2,req=1", "S:", "N:", "N:req=1"}) {
    const test::SharedFile file;
    Settings settings = aggregation::parse_configuration(configuration).value();
    settings.team = 2;
    auto io = Collective::create(world(), file.open(), settings).value();
    std::vector<std::byte> data;
    const Request request = whole_request(data, 64 << 10, true);
    ASSERT_TRUE(io->write(request).status);  // shared memory counts as a file: have it before the limit
    struct rlimit limit = before;
    limit.rlim_cur = 30000;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Outcome outcome = io->write(request);
    ::setrlimit(RLIMIT_FSIZE, &before);
    expect_same(outcome.status, file.path());
    EXPECT_THAT(outcome.status.error().message(), HasSubstr("offset")) << configuration;
    EXPECT_GE(outcome.status.error().rank, 0);
    EXPECT_TRUE(io->write(request).status) << "it works again when there is room";
  }
  std::signal(SIGXFSZ, old_action);
}

// Shared memory counts as a file. No signal ends the program, which may never need it.
TEST(CollectiveFaults, LimitOfFileSizesLeavesNoSharedMemory) {
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  struct rlimit limit = before;
  limit.rlim_cur = 1 << 20;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  for (const char* configuration : {"N:", "T:"}) {
    const test::SharedFile file;
    auto io =
        Collective::create(world(), file.open(), aggregation::parse_configuration(configuration).value());
    ASSERT_TRUE(io) << io.error().message();
    std::vector<std::byte> data;
    const Outcome outcome = (*io)->write(whole_request(data, 4096, true));
    if (configuration[0] == 'N') {
      EXPECT_TRUE(outcome.status) << outcome.status.error().message();
    } else {
      expect_same(outcome.status, "ulimit -f");
    }
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
}

TEST(CollectiveFaults, DescriptorOfOneAggregatorIsReadOnly) {
  const test::SharedFile file;
  const auto read_only = open_file(file.path(), O_RDONLY);
  ASSERT_TRUE(read_only);
  const int last = test::ranks() - 1;
  for (const char* configuration : {"T:", "N:"}) {
    Settings settings = aggregation::parse_configuration(configuration).value();
    settings.team = 1;
    settings.aggregators = static_cast<std::uint32_t>(test::ranks());
    const int descriptor = test::rank() == last ? read_only->get() : file.descriptor();
    auto io = Collective::create(world(), {.descriptor = descriptor, .path = file.path()}, settings).value();
    std::vector<std::byte> data;
    const Outcome outcome = io->write(whole_request(data, 4096, false));
    expect_same(outcome.status, "Bad file descriptor");
    EXPECT_EQ(outcome.status.error().rank, last);
  }
}

TEST(CollectiveFaults, AFailureOfTheCallerReachesAll) {
  const test::SharedFile file;
  auto io = Collective::create(world(), file.open(), {}).value();
  Status mine;
  if (test::rank() == test::ranks() - 1) mine = fail(ErrorCode::invalid_argument, "the view is odd");
  expect_same(io->write({}, mine).status, "the view is odd");
  std::vector<std::byte> data(10);
  Request wrong{.file = {{.offset = 0, .length = 10}},
                .memory = {{.offset = reinterpret_cast<std::uintptr_t>(data.data()), .length = 5}}};
  expect_same(io->write(test::rank() == 0 ? wrong : Request{}).status, "5 bytes of memory for 10 bytes");
  struct stat status {};
  ASSERT_EQ(::fstat(file.descriptor(), &status), 0);
  EXPECT_EQ(status.st_size, 0);
}

TEST(Team, GathersWordsByRank) {
  const auto rank = static_cast<std::uint64_t>(test::rank());
  const auto ranks = static_cast<std::uint64_t>(test::ranks());
  for (const std::uint32_t size : {0U, 1U, 2U, 3U}) {
    const auto team = Team::create(world(), size).value();
    for (const std::uint64_t words : {1UL, 3UL, Team::most_gathered / ranks}) {
      team->reduce({});
      std::vector<std::uint64_t> mine(words);
      for (std::uint64_t i = 0; i < words; ++i) mine[i] = rank * words + i;
      const std::vector<std::uint64_t> all = team->gather(mine);
      ASSERT_EQ(all.size(), words * ranks);
      for (std::uint64_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i) << "teams of " << size;
    }
  }
}

TEST(CollectiveFaults, ARingThatCannotGrowStaysAsItWas) {
  const auto team = Team::create(world(), 0).value();
  ASSERT_TRUE(team->make_ring(4096));
  std::byte* const before = team->ring();
  struct rlimit usual {};
  ::getrlimit(RLIMIT_NOFILE, &usual);
  struct rlimit none = usual;
  none.rlim_cur = 0;
  if (test::rank() == test::ranks() - 1) ::setrlimit(RLIMIT_NOFILE, &none);
  const Status grown = team->make_ring(1 << 20);
  ::setrlimit(RLIMIT_NOFILE, &usual);
  EXPECT_FALSE(grown) << "one of the ranks has no descriptor for it";
  ASSERT_EQ(team->ring(), before);
  team->ring()[test::rank()] = std::byte{1};
  EXPECT_TRUE(team->make_ring(1 << 20));
}

// Looks until there is something to say; nothing after half a minute.
std::optional<std::string> look_for_long(Peers& peers) {
  for (int i = 0; i < 300; ++i) {
    if (auto lost = peers.look()) return lost;
    ::usleep(100'000);
  }
  return std::nullopt;
}

TEST(CollectiveFaults, ProcessThatIsGoneIsNoticedAndOneThatIsSlowIsNot) {
  if (test::rank() != 0) return;
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  ASSERT_GT(child, 0);
  Peers peers({Peers::find(::getpid(), 0), Peers::find(child, 5)}, 0);
  for (int i = 0; i < 15; ++i) {
    EXPECT_FALSE(peers.look());
    ::usleep(100'000);
  }
  ::kill(child, SIGKILL);
  const auto lost = look_for_long(peers);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(lost);
  EXPECT_EQ(*lost, fmt::format("rank 5 (process {}) is gone", child));
}

TEST(CollectiveFaults, SettingsThatDoNotHold) {
  const test::SharedFile file;
  Settings settings;
  settings.ranks = {static_cast<std::uint32_t>(test::ranks())};
  const auto unknown = Collective::create(world(), file.open(), settings);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message(), HasSubstr("to be an aggregator"));
  if (test::ranks() == 1) return;
  settings = {};
  settings.requests = static_cast<std::uint32_t>(test::rank());
  const auto different = Collective::create(world(), file.open(), settings);
  ASSERT_FALSE(different);
  EXPECT_EQ(different.error().code, ErrorCode::disagreement);
}

}  // namespace
}  // namespace weir::collective
