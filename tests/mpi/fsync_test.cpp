// When data has to be on disk: at the end of a file, after every write, or whenever the system likes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "support.hpp"
#include "weir/weir.hpp"

namespace {

// Shared by the processes of a job, I/O servers included: they have the same parent.
const std::string& counter_name() {
  static const std::string name = "/weir-fsync-test-" + std::to_string(::getppid());
  return name;
}

std::atomic<int>& syncs() {
  static auto* const shared = [] {
    const int file = ::shm_open(counter_name().c_str(), O_RDWR | O_CREAT, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(std::atomic<int>)) != 0) std::abort();
    void* place = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (place == MAP_FAILED) std::abort();
    return static_cast<std::atomic<int>*>(place);  // all zeros is 0
  }();
  return *shared;
}

}  // namespace

// Counts how often the library asks for the disk, in all processes.
extern "C" int fsync(int descriptor) {
  ++syncs();
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace weir {
namespace {

class Fsync : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv("WEIR_FSYNC"); }
  static void TearDownTestSuite() { ::shm_unlink(counter_name().c_str()); }

  // Of all processes since the last call. COLLECTIVE.
  static int take_syncs() {
    MPI_Barrier(test::world());
    int count = syncs();
    MPI_Barrier(test::world());
    if (test::world_rank() == 0) syncs() = 0;
    MPI_Barrier(test::world());
    return count;
  }

  struct Counts {
    int writing = 0;
    int closing = 0;
  };
  // Of a file with three steps, which is read back.
  Counts count(const std::string& backend, bool asked) {
    Session& session = test::session();
    const std::string path = folder_ / ("steps-" + backend);
    const auto rank = static_cast<std::uint64_t>(test::world_rank());
    std::vector<double> data(1000);
    Counts counts;
    take_syncs();
    File out = session.create(path, {.backend = backend, .fsync = asked});
    for (int step = 0; step < 3; ++step) {
      std::fill(data.begin(), data.end(), step);
      out.write("T", data,
                {.shape = {static_cast<std::uint64_t>(test::world_size()), 1000},
                 .offset = {rank, 0},
                 .count = {1, 1000},
                 .step = step})
          .wait_stored();
    }
    counts.writing = take_syncs();
    out.close();
    counts.closing = take_syncs();
    Reader in = session.open(path, {.backend = backend});
    std::vector<double> again(1000);
    for (int step = 0; step < 3; ++step) {
      in.read("T", again, {.offset = {rank, 0}, .count = {1, 1000}, .step = step});
      EXPECT_EQ(again, std::vector<double>(1000, step));
    }
    in.close();
    return counts;
  }

  test::SharedFolder folder_;
};

TEST_F(Fsync, IsLeftToTheSystemUnlessAskedFor) {
  const Counts counts = count("posix", false);
  EXPECT_EQ(counts.writing, 0);
  EXPECT_EQ(counts.closing, 0);
}

TEST_F(Fsync, ComesWithCloseIfTheProgramOrTheEnvironmentAsks) {
  Counts counts = count("posix", true);
  EXPECT_EQ(counts.writing, 0);
  EXPECT_GE(counts.closing, 1);
  ::setenv("WEIR_FSYNC", "close", 1);
  counts = count("posix", false);
  EXPECT_EQ(counts.writing, 0);
  EXPECT_GE(counts.closing, 1);
}

TEST_F(Fsync, ComesAfterEveryWriteIfTheEnvironmentAsks) {
  ::setenv("WEIR_FSYNC", "write", 1);
  for (const std::string backend : {"posix", "mpiio"}) {
    const Counts counts = count(backend, false);
    EXPECT_GE(counts.writing, 3) << backend;
    EXPECT_GE(counts.closing, 1) << backend;
  }
}

TEST_F(Fsync, AnythingElseInTheEnvironmentIsRefused) {
  ::setenv("WEIR_FSYNC", "sometimes", 1);
  try {
    test::session().create(folder_ / "refused.dat", {.backend = "posix"});
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("WEIR_FSYNC is 'sometimes'; make it 'close' or 'write'"));
  }
}

}  // namespace
}  // namespace weir
