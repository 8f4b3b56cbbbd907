// How much memory I/O servers really take, as the system sees it, while programs write far more than the
// budget: with every file format, and whatever is slow.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "backends/backend.hpp"
#include "core/options.hpp"
#include "support.hpp"

namespace weir::test {
namespace {

constexpr std::uint64_t MiB = 1U << 20U;
constexpr std::uint64_t budget = 16 * MiB;
constexpr std::uint64_t allowed = budget + budget / 10;
// What libraries for files keep for themselves, however little is written, and the process for everything
// else.
constexpr std::uint64_t libraries = 8 * MiB;
constexpr std::uint64_t process = 2 * MiB;
// What ROMIO takes to write together, which ADIOS2 gives no hint about.
#if defined(MPICH_VERSION)
constexpr std::uint64_t collective_buffer = 16 * MiB;
#else
constexpr std::uint64_t collective_buffer = 0;
#endif

// The memory of a process in bytes, but for what is mapped from files, such as programs.
class ProcessMemory {
 public:
  explicit ProcessMemory(std::int64_t id) : folder_("/proc/" + std::to_string(id) + "/") {}
  std::uint64_t now() const { return field("RssAnon") + field("RssShmem"); }
  std::uint64_t peak() const { return field("VmHWM") - field("RssFile"); }
  void forget_peak() const { std::ofstream(folder_ + "clear_refs") << 5; }

 private:
  std::uint64_t field(const std::string& name) const {
    std::ifstream status(folder_ + "status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind(name + ":", 0) == 0) return 1024 * std::stoull(line.substr(name.size() + 1));
    }
    ADD_FAILURE() << "no " << name << " in " << folder_ << "status";
    return 0;
  }
  std::string folder_;
};

struct WatchedServer {
  ProcessMemory memory;
  std::uint64_t at_start = 0;
};
std::vector<WatchedServer> servers;  // of all compute ranks
std::unique_ptr<Session> the_session;

std::vector<std::int64_t> processes_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<std::int64_t> processes(static_cast<std::size_t>(size));
  const std::int64_t me = ::getpid();
  MPI_Allgather(&me, 1, MPI_INT64_T, processes.data(), 1, MPI_INT64_T, comm);
  return processes;
}

class ServerMemory : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take memory of their own";
#endif
    MPI_Barrier(world());
    if (rank_ == 0) {
      for (const WatchedServer& server : servers) server.memory.forget_peak();
    }
    MPI_Barrier(world());
  }
  // Since the test began. All ranks see the same.
  void expect_at_most(std::uint64_t bytes) const {
    if (rank_ != 0) return;
    for (const WatchedServer& server : servers) {
      EXPECT_LE((server.memory.peak() - server.at_start) / 1024, bytes / 1024) << "KiB";
    }
  }
  Box mine(const Extent& shape) const {
    return part_of(shape, 0, rank_, size_);
  }
  Ticket write(File& out, const std::string& name, const std::vector<double>& data, const Extent& shape,
               int step, const Reduction& reduction = {}) const {
    const Box box = mine(shape);
    return out.write(
        name, data,
        {.shape = shape, .offset = box.offset, .count = box.count, .step = step, .reduce = reduction});
  }
  void expect_mine(Reader& in, const std::string& name, const std::vector<double>& data, const Extent& shape,
                   int step) const {
    const Box box = mine(shape);
    std::vector<double> found(data.size());
    in.read(name, found, {.offset = box.offset, .count = box.count, .step = step});
    EXPECT_TRUE(found == data) << name << ", step " << step;
  }

  int rank_ = world_rank();
  int size_ = world_size();
  SharedFolder folder_;
};

class ServerMemoryOf : public ServerMemory, public testing::WithParamInterface<std::string> {};

TEST_P(ServerMemoryOf, BlocksFarLargerThanTheBudget) {
  const Extent shape = {96 * MiB / sizeof(double) * servers.size() / 1024 + 1, 1024};
  const auto data = values_of<double>(shape, mine(shape), 1);
  File out = session().create(folder_ / "f", {.backend = GetParam()});
  for (int step = 0; step < 2; ++step) write(out, "T", data, shape, step);
  out.close();
  expect_at_most(allowed + libraries);
  Reader in = session().open(folder_ / "f");
  for (int step = 0; step < 2; ++step) expect_mine(in, "T", data, shape, step);
  in.close();
}

TEST_P(ServerMemoryOf, ManySmallVariablesInAStep) {
  constexpr int variables = 64;
  const Extent shape = {servers.size() * 250'000 / sizeof(double)};
  const auto data = values_of<double>(shape, mine(shape), 2);
  const auto name = [](int i) { return "v" + std::to_string(i); };
  File out = session().create(folder_ / "f", {.backend = GetParam()});
  for (int i = 0; i < variables; ++i) write(out, name(i), data, shape, 0);
  out.close();
  expect_at_most(allowed + libraries);
  Reader in = session().open(folder_ / "f");
  for (int i = 0; i < variables; i += 7) expect_mine(in, name(i), data, shape, 0);
  in.close();
}

// Sums are inherent in reductions: they come on top of the budget. Last, since the summary's figure is that
// of the whole session.
TEST_P(ServerMemoryOf, ReductionsAreCounted) {
  const Extent shape = {servers.size() * 48 * MiB / sizeof(double)};
  const auto data = values_of<double>(shape, mine(shape), 6);
  constexpr std::uint64_t sums = 48 * MiB;
  File out = session().create(folder_ / "f", {.backend = GetParam()});
  for (int step = 0; step < 4; ++step) write(out, "T", data, shape, step, {.operation = "mean", .steps = 2});
  out.close();
  expect_at_most(sums + allowed + libraries + (GetParam() == "adios2-hdf5" ? collective_buffer : 0));
  EXPECT_GE(session().summary().peak_memory, sums);
  EXPECT_LE(session().summary().peak_memory, sums + allowed);
  Reader in = session().open(folder_ / "f");
  for (const int step : {1, 3}) expect_mine(in, "T", data, shape, step);
  in.close();
}

TEST_F(ServerMemory, SmallBlocksOfManyClients) {
  File out = session().create(folder_ / "f.dat");
  const auto clients = static_cast<std::uint64_t>(size_);
  const Extent tiny = {clients * 7'000};
  const auto merged = values_of<double>(tiny, mine(tiny), 3);
  write(out, "tiny", merged, tiny, 0).wait_stored();
  // These were small enough to be merged: every byte of them is there twice for a moment.
  if (clients > servers.size()) {
    EXPECT_GE(session().summary().peak_memory, 2 * volume(tiny) * sizeof(double) / servers.size());
  }
  const Extent small = {clients * 129'000};  // almost 1 MiB each
  const auto data = values_of<double>(small, mine(small), 4);
  for (int step = 0; step < 20; ++step) write(out, "small", data, small, step);
  out.close();
  expect_at_most(allowed + process);
}

TEST_F(ServerMemory, SlowStorage) {
  const Extent shape = {servers.size() * 2 * MiB / sizeof(double)};
  const auto data = values_of<double>(shape, mine(shape), 5);
  for (const char* inner : {"posix", "mpiio", "hdf5"}) {
    if (!backends::find(inner)) continue;
    File out = session().create(folder_ / inner,
                                {.backend = "faulty", .options = {{"inner", inner}, {"delay", "0.02"}}});
    for (int step = 0; step < 32; ++step) write(out, "T", data, shape, step);
    out.close();
    expect_at_most(allowed + libraries);
  }
}

std::vector<std::string> file_backends() {
  std::vector<std::string> names;
  for (const backends::Entry& entry : backends::table()) {
    if (entry.stores_files && entry.missing.empty() && entry.name != "faulty") names.emplace_back(entry.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, ServerMemoryOf, testing::ValuesIn(file_backends()), [](const auto& instance) {
  std::string name = instance.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace

Session& session() {
  return *the_session;
}

MPI_Comm world() {
  return the_session->compute();
}

}  // namespace weir::test

// An even number of ranks has two servers, an odd one a single server for all others.
extern "C" void weir_test_begin() {
  using namespace weir::test;
  const std::vector<std::int64_t> all = processes_of(MPI_COMM_WORLD);
  const std::size_t count = all.size() > 2 && all.size() % 2 == 0 ? 2 : 1;
  the_session = std::make_unique<weir::Session>(
      MPI_COMM_WORLD,
      weir::SessionOptions{.mode = "servers",
                           .compute_per_server = static_cast<std::uint32_t>((all.size() - count) / count),
                           .budget = budget});
  const std::vector<std::int64_t> compute = processes_of(world());
  for (const std::int64_t id : all) {
    if (std::find(compute.begin(), compute.end(), id) != compute.end()) continue;
    const ProcessMemory memory(id);
    servers.push_back({memory, memory.now()});
  }
}

extern "C" MPI_Comm weir_test_world() {
  return weir::test::world();
}

extern "C" void weir_test_end() {
  weir::test::the_session->end();
  weir::test::the_session.reset();
}
