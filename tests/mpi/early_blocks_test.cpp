// Blocks that are asked for before the data comes: the files are the same as without, and as large.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "backends/backend.hpp"
#include "backends/early_blocks.hpp"
#include "support.hpp"

namespace {
std::atomic<int> asked = 0;
}

// Counts how often this process asks for blocks.
extern "C" int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  ++asked;
  return static_cast<int>(::syscall(SYS_fallocate, descriptor, mode, offset, length));
}

namespace weir {
namespace {

constexpr std::uint64_t columns = 1024;
constexpr std::uint64_t rows_each = 128;  // 1 MiB of doubles
constexpr std::uint64_t slack = 1U << 20U;

class EarlyBlocks : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!backends::find(GetParam())) GTEST_SKIP() << "built without " << GetParam();
  }

  bool on_ext4() const {
    struct statfs system {};
    return ::statfs(folder_.path().c_str(), &system) == 0 && (system.f_type & 0xFFFFFFFF) == 0xEF53;
  }

  // Bytes that the file takes on the disk, or will when it gets there.
  static std::uint64_t taken_by(const std::string& path) {
    MPI_Barrier(test::world());
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    MPI_Barrier(test::world());
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  static std::uint64_t size_of_file(const std::string& path) { return std::filesystem::file_size(path); }

  Extent shape() const { return {rows_each * static_cast<std::uint64_t>(test::world_size()), columns}; }
  // The blocks of the ranks repeat for some steps, then their order changes, then it repeats again.
  Box mine_in(int step) const {
    const int ranks = test::world_size();
    const int place = step < 3 ? test::world_rank() : ranks - 1 - test::world_rank();
    return test::part_of(shape(), 0, place, ranks);
  }

  std::string write(const std::string& name, const std::string& allocate) {
    const std::string path = folder_ / name;
    File out = test::session().create(path, {.backend = GetParam(), .options = {{"allocate", allocate}}});
    for (int step = 0; step < steps; ++step) {
      const Box box = mine_in(step);
      const auto values = test::values_of<double>(shape(), box, step);
      out.write("T", values, {.shape = shape(), .offset = box.offset, .count = box.count, .step = step})
          .wait();
    }
    out.close();
    return path;
  }

  void expect_right(const std::string& path) {
    Reader in = test::session().open(path, {.backend = GetParam()});
    const Box box = test::part_of(shape(), 1, test::world_rank(), test::world_size());
    std::vector<double> values(volume(box.count));
    for (int step = 0; step < steps; ++step) {
      in.read("T", values, {.offset = box.offset, .count = box.count, .step = step});
      EXPECT_EQ(values, test::values_of<double>(shape(), box, step)) << "step " << step;
    }
    in.close();
  }

  static constexpr int steps = 6;
  test::SharedFolder folder_;
};

TEST_P(EarlyBlocks, FilesAreTheSameWithThemAndWithout) {
  asked = 0;
  const std::string without = write("without", "no");
  EXPECT_EQ(asked, 0);
  const std::string with = write("with", "yes");
  if (on_ext4() && test::world_rank() == 0) {
    EXPECT_GT(asked, 0);
  }
  expect_right(without);
  expect_right(with);
  EXPECT_EQ(size_of_file(with), size_of_file(without));
  if (on_ext4()) {
    EXPECT_LE(taken_by(with), size_of_file(with) + slack);
  }
}

TEST_P(EarlyBlocks, NoneAreAskedForWhereNobodyWrites) {
  const auto taken = [&](const std::string& allocate) {
    const std::string path = folder_ / ("part-" + allocate);
    File out = test::session().create(path, {.backend = GetParam(), .options = {{"allocate", allocate}}});
    const Extent large = {16 * rows_each, columns};
    const bool writes = test::world_rank() == 0;
    const std::vector<double> data(writes ? rows_each * columns : 0, 1.5);
    for (int step = 0; step < 2; ++step) {
      out.write("T", data,
                {.shape = large, .offset = {0, 0}, .count = {writes ? rows_each : 0, columns}, .step = step})
          .wait();
    }
    out.close();
    return taken_by(path);
  };
  const std::uint64_t without = taken("no");
  const std::uint64_t with = taken("yes");
  if (!on_ext4()) GTEST_SKIP() << "blocks are counted on ext4 only";
  EXPECT_LE(with, without + slack);
}

TEST_P(EarlyBlocks, SurviveAWriteThatIsRefused) {
  const std::string path = folder_ / "refused";
  {
    File out = test::session().create(path, {.backend = GetParam()});
    const Box box = mine_in(0);
    const auto values = test::values_of<double>(shape(), box, 0);
    out.write("T", values, {.shape = shape(), .offset = box.offset, .count = box.count, .step = 0}).wait();
    const std::vector<double> short_of(1, 0.0);
    EXPECT_THROW(
        out.write("T", short_of, {.shape = {1, 1}, .offset = {0, 0}, .count = {1, 1}, .step = 1}).wait(),
        Error);
    out.close();  // a wrong argument leaves the file as it was
  }
  EXPECT_GE(size_of_file(path), volume(shape()) * sizeof(double));
  if (on_ext4()) {
    EXPECT_LE(taken_by(path), size_of_file(path) + slack);
  }
}

// More than is written after all: what lies behind the end is given back, and nothing else.
TEST(EarlyBlocksOfAFile, AreGivenBackAtTheEnd) {
  const test::SharedFolder folder;
  const std::string path = folder / ("early-" + std::to_string(test::world_rank()));
  auto file = open_file(path, O_RDWR | O_CREAT);
  ASSERT_TRUE(file) << file.error().message();
  backends::EarlyBlocks blocks = backends::EarlyBlocks::of(file->get());
  constexpr std::uint64_t asked_for = 8U << 20U;
  constexpr std::uint64_t written = 100'000;
  blocks.ask_for_growth(asked_for);
  const auto taken = [&] {
    struct stat info {};
    EXPECT_EQ(::fstat(file->get(), &info), 0);
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
  };
  if (taken() < asked_for) GTEST_SKIP() << "this file system is not asked for blocks";
  const std::vector<char> data(written, 'w');
  ASSERT_EQ(::pwrite(file->get(), data.data(), data.size(), 0), static_cast<ssize_t>(data.size()));
  blocks.finish();
  EXPECT_EQ(std::filesystem::file_size(path), written);
  EXPECT_GE(taken(), written);
  EXPECT_LE(taken(), written + 65'536);
}

INSTANTIATE_TEST_SUITE_P(Backends, EarlyBlocks, testing::Values("posix", "mpiio", "hdf5", "adios2-hdf5"),
                         [](const auto& backend) {
                           std::string name = backend.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace weir
