// Storage that fails, and what the program gets to see of it: the same error on every rank, no file under the
// name, no hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "backends/backend.hpp"
#include "core/file.hpp"
#include "files/input_file.hpp"
#include "support.hpp"
#include "weir/weir.h"

namespace weir::test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Faults : public testing::Test {
 protected:
  void write_steps(const std::map<std::string, std::string>& options, int steps = 3) {
    File out = session_.create(path_, {.backend = "faulty", .options = options, .checksums = true});
    for (int step = 0; step < steps; ++step) {
      const Box mine = part_of(shape_, 0, rank_, size_);
      out.write("T", values_of<double>(shape_, mine, step),
                {.shape = shape_, .offset = mine.offset, .count = mine.count, .step = step})
          .wait_stored();
    }
    out.set_attribute("title", "x");
    out.close();
  }
  int rank_ = world_rank();
  int size_ = world_size();
  Extent shape_ = {20, 3};
  SharedFolder folder_;
  std::string path_ = folder_ / "f.dat";
  Session& session_ = session();
};

TEST_F(Faults, EveryOperationCanFailOnOneRank) {
  const std::string rank = std::to_string(size_ - 1);
  for (const char* operation : {"create", "define", "reserve", "write", "attribute", "close"}) {
    const std::string message = common_failure([&] {
      write_steps({{"fail", operation}, {"rank", rank}, {"error", "ENOSPC"}});
    });
    EXPECT_THAT(message, HasSubstr("f.dat")) << operation;
    EXPECT_THAT(message, HasSubstr("No space left on device; free some space")) << operation;
    EXPECT_THAT(message, HasSubstr("rank " + rank)) << operation;
    EXPECT_THAT(message, testing::Not(HasSubstr("partial"))) << "the temporary name is nobody's business";
    EXPECT_THAT(folder_.names(), ElementsAre()) << operation;
  }
}

// HDF5 lets the ranks agree once about the room for a step and the write that fills it.
TEST_F(Faults, NoRoomOnOneRankIsHeardOfByTheWrite) {
  if (!backends::find("hdf5")) GTEST_SKIP() << "built without HDF5";
  path_ = folder_ / "f.h5";
  for (const char* steps_before : {"0", "2"}) {
    const std::string message = common_failure([&] {
      write_steps({{"inner", "hdf5"},
                   {"fail", "reserve"},
                   {"rank", "0"},
                   {"after", steps_before},
                   {"error", "ENOSPC"}});
    });
    EXPECT_THAT(message, HasSubstr(std::string("write variable 'T', step ") + steps_before));
    EXPECT_THAT(message, HasSubstr("(rank 0): No space left on device"));
    EXPECT_THAT(folder_.names(), ElementsAre());
  }
}

TEST_F(Faults, ALateFailureKeepsTheOldFile) {
  write_steps({});
  const std::string message = common_failure([&] { write_steps({{"fail", "write"}, {"after", "2"}}); });
  EXPECT_THAT(message, HasSubstr("write variable 'T', step 2"));
  Reader in = session_.open(path_);
  std::vector<double> all(60);
  in.read("T", all, {.step = 2});
  EXPECT_EQ(all, values_of<double>(shape_, Box::whole(shape_), 2));
  in.close();
  EXPECT_THAT(folder_.names(), ElementsAre("f.dat", "f.dat.json"));
}

TEST_F(Faults, AfterAFailureEveryCallSaysSo) {
  File out = session_.create(path_, {.backend = "faulty", .options = {{"fail", "write"}, {"rank", "0"}}});
  const Box mine = part_of(shape_, 0, rank_, size_);
  const auto write = [&] {
    out.write("T", values_of<double>(shape_, mine, 0),
              {.shape = shape_, .offset = mine.offset, .count = mine.count, .step = 0})
        .wait_stored();
  };
  const auto cause = HasSubstr("write variable 'T', step 0: write (rank 0): Input/output error");
  EXPECT_THAT(common_failure(write), cause);
  EXPECT_THAT(common_failure(write), cause);
  EXPECT_THAT(common_failure([&] { out.set_attribute("a", "b"); }), cause);
  EXPECT_THAT(common_failure([&] { out.close(); }), cause);
  EXPECT_THAT(folder_.names(), ElementsAre());
}

TEST_F(Faults, AReadErrorReachesAllRanks) {
  write_steps({});
  Reader in = session_.open(
      path_, {.backend = "faulty", .options = {{"fail", "read"}, {"rank", "0"}, {"after", "0"}}});
  std::vector<double> all(60);
  EXPECT_THAT(common_failure([&] { in.read("T", all, {.step = 0}); }),
              HasSubstr("rank 0): Input/output error"));
  in.close();
}

TEST_F(Faults, SilentlyLostDataIsFoundByVerification) {
  write_steps({{"lose", "yes"}});
  auto in = files::InputFile::open(mpi::Comm::duplicate(world()), path_, "", {});
  ASSERT_TRUE(in);
  const auto verdict = (*in)->verify("T", 1 << 20, [](std::uint64_t) {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->damaged.size(), static_cast<std::size_t>(3 * std::min(size_, 20)));
  ASSERT_TRUE((*in)->close());
}

TEST_F(Faults, BadPaths) {
  const auto creating = [&](const std::string& path) {
    return common_failure([&] { session_.create(path, {.backend = "mpiio"}); });
  };
  EXPECT_THAT(creating(folder_ / "no/f"), HasSubstr("No such file or directory"));
  EXPECT_THAT(creating(folder_.path().string()), HasSubstr("Is a directory"));
  if (size_ > 1) {
    EXPECT_THAT(
        common_failure([&] { session_.create(folder_ / (rank_ == 0 ? "a" : "b"), {.backend = "posix"}); }),
        HasSubstr("differs between ranks"));
  }
  EXPECT_THAT(common_failure([&] { session_.open(folder_ / "none"); }), HasSubstr("No such file"));
}

// Some ranks need nobody for their part and have read it when they hear that others do, or are wrong.
TEST_F(Faults, ReadingAloneAndTogetherInOneCall) {
  const Extent shape = {1, 384 * 1024};  // 3 MiB
  const Box mine = part_of(shape, 1, rank_, size_);
  for (const char* backend : {"mpiio", "posix"}) {
    File out = session_.create(path_, {.backend = backend});
    out.write("T", values_of<double>(shape, mine, 1),
              {.shape = shape, .offset = mine.offset, .count = mine.count})
        .wait_stored();
    out.close();
    Reader in = session_.open(path_, {.backend = backend});
    const Box part = rank_ % 3 == 0   ? Box::whole(shape)
                     : rank_ % 3 == 1 ? Box{{0, 7}, {1, 5}}
                                      : Box{{0, 0}, {0, 0}};
    std::vector<double> data(volume(part.count));
    in.read("T", data, {.offset = part.offset, .count = part.count});
    EXPECT_EQ(data, values_of<double>(shape, part, 1)) << backend;
    EXPECT_THAT(common_failure([&] {
                  in.read(rank_ == size_ - 1 ? "U" : "T", data, {.offset = part.offset, .count = part.count});
                }),
                HasSubstr("no variable 'U'"))
        << backend;
    in.read("T", data, {.offset = part.offset, .count = part.count});
    EXPECT_EQ(data, values_of<double>(shape, part, 1)) << backend;
    in.close();
  }
}

TEST_F(Faults, ReadingAndClosingAtOnceIsADisagreement) {
  write_steps({});
  if (size_ == 1) return;
  Reader in = session_.open(path_);
  std::vector<double> all(60);
  const std::string message = common_failure([&] {
    if (rank_ == 0) {
      in.read("T", all, {.step = 0});
    } else {
      in.close();
    }
  });
  EXPECT_THAT(message, HasSubstr("differs between ranks"));
}

TEST_F(Faults, AWriteThatIsRefusedLeavesNoTrace) {
  File out = session_.create(path_, {.backend = "posix"});
  const Box mine = part_of(shape_, 0, rank_, size_);
  out.write("T", values_of<double>(shape_, mine, 0),
            {.shape = shape_, .offset = mine.offset, .count = mine.count, .step = 0})
      .wait_stored();
  if (size_ > 1) {
    EXPECT_THAT(common_failure([&] { out.write("T", std::vector<double>(60), {.step = 5}).wait_stored(); }),
                HasSubstr("overlap"));
    EXPECT_THAT(
        common_failure([&] { out.write("U", std::vector<double>(60), {.shape = shape_}).wait_stored(); }),
        HasSubstr("overlap"));
  }
  out.close();
  Reader in = session_.open(path_);
  EXPECT_EQ(in.variables().size(), 1U);
  EXPECT_EQ(in.variable("T").steps, std::vector<std::int64_t>{0});
  in.close();
}

TEST_F(Faults, TheWorkingFolderMayChange) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  File out = session_.create("moved.dat");
  std::filesystem::current_path("/");
  const Box mine = part_of(shape_, 0, rank_, size_);
  out.write("T", values_of<double>(shape_, mine, 0),
            {.shape = shape_, .offset = mine.offset, .count = mine.count})
      .wait_stored();
  out.close();
  std::filesystem::current_path(before);
  EXPECT_THAT(folder_.names(), ElementsAre("moved.dat", "moved.dat.json"));
}

TEST_F(Faults, LinksAreFollowedAndOtherPeoplesFilesAreNotTouched) {
  namespace fs = std::filesystem;
  if (rank_ == 0) {
    fs::create_directory(folder_ / "scratch");
    fs::create_symlink("scratch/real.dat", folder_ / "link.dat");
    std::ofstream(folder_ / "mine.dat.json") << "{\"mine\": 1}";
  }
  MPI_Barrier(world());
  session_.create(folder_ / "link.dat").close();
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.dat"));
  EXPECT_TRUE(fs::exists(folder_ / "scratch/real.dat.json"));
  EXPECT_THAT(common_failure([&] { session_.create(folder_ / "mine.dat"); }),
              HasSubstr("mine.dat.json is in the way"));
  EXPECT_EQ(*read_text(folder_ / "mine.dat.json"), "{\"mine\": 1}");
}

TEST_F(Faults, WhatDescribesAnotherFileIsNotReplaced) {
  const auto write = [&](const std::string& name) {
    File out = session_.create(folder_ / name);
    out.write("T", std::vector<double>(1, 7.0),
              {.shape = {static_cast<std::uint64_t>(size_)},
               .offset = {static_cast<std::uint64_t>(rank_)},
               .count = {1}})
        .wait_stored();
    out.close();
  };
  write("data.dat");
  EXPECT_THAT(common_failure([&] { write("data.dat.json"); }),
              HasSubstr("data.dat, which cannot be read without it"));
  write("data.dat");
  Reader in = session_.open(folder_ / "data.dat");
  EXPECT_EQ(in.variables().size(), 1U);
  in.close();
}

TEST_F(Faults, BuffersThatLoseDataAreRefused) {
  const auto create = [&](const char* backend, const char* option, const char* value) {
    return common_failure([&] {
      session_.create(folder_ / "f", {.backend = backend, .options = {{option, value}}}).close();
    });
  };
  for (const char* value : {"1", "4095"}) {
    EXPECT_THAT(create("mpiio", "buffer", value), HasSubstr("at least 4096"));
    EXPECT_THAT(create("posix", "cb_buffer_size", value), HasSubstr("at least 4096"));
  }
  EXPECT_EQ(create("mpiio", "buffer", "4096"), "no failure");
  EXPECT_EQ(create("mpiio", "buffer", "0"), "no failure");
}

TEST_F(Faults, WrongArgumentsInCFailOnEveryRank) {
  weir_session* io = nullptr;
  weir_file* out = nullptr;
  weir_ticket* ticket = reinterpret_cast<weir_ticket*>(0x1234);
  ASSERT_EQ(weir_init(world(), &io), WEIR_OK);
  ASSERT_EQ(weir_create(io, path_.c_str(), nullptr, &out), WEIR_OK);
  const std::uint64_t shape[1] = {4};
  const std::uint64_t zero[1] = {0};
  const double data[4] = {1, 2, 3, 4};
  const bool wrong = rank_ == size_ - 1;
  EXPECT_EQ(weir_write(out, "v", wrong ? static_cast<weir_type>(15) : WEIR_FLOAT64, data, 1, shape, zero,
                       zero, 0, nullptr),
            WEIR_INVALID_ARGUMENT);
  EXPECT_THAT(weir_message(), HasSubstr("unknown element type"));
  EXPECT_EQ(weir_write(out, wrong ? nullptr : "v", WEIR_FLOAT64, data, 1, shape, zero, zero, 0, nullptr),
            WEIR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_write(out, "v", WEIR_FLOAT64, data, wrong ? 1000 : 1, shape, zero, zero, 0, nullptr),
            WEIR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_write(nullptr, "v", WEIR_FLOAT64, data, 1, shape, zero, zero, 0, &ticket),
            WEIR_INVALID_ARGUMENT);
  EXPECT_EQ(ticket, nullptr);
  EXPECT_EQ(weir_set_numbers(out, nullptr, "x", wrong ? static_cast<weir_type>(99) : WEIR_FLOAT64, data, 4),
            WEIR_INVALID_ARGUMENT);
  EXPECT_THAT(weir_message(), HasSubstr("unknown element type"));
  EXPECT_EQ(weir_set_numbers(out, nullptr, "x", WEIR_FLOAT64, wrong ? nullptr : data, 4),
            WEIR_INVALID_ARGUMENT);
  EXPECT_THAT(weir_message(), HasSubstr("null pointer"));
  EXPECT_EQ(weir_set_numbers(out, nullptr, "x", WEIR_FLOAT64, data, wrong ? UINT64_MAX : 4),
            WEIR_INVALID_ARGUMENT);
  EXPECT_EQ(weir_set_numbers(out, nullptr, "x", WEIR_FLOAT64, data, 4), WEIR_OK) << weir_message();
  const std::uint64_t all_or_nothing[1] = {rank_ == 0 ? 4U : 0U};
  EXPECT_EQ(weir_write(out, "v", WEIR_FLOAT64, data, 1, shape, zero, all_or_nothing, 0, nullptr), WEIR_OK)
      << weir_message();
  EXPECT_EQ(weir_close(&out), WEIR_OK) << weir_message();
  weir_file_options options = WEIR_FILE_OPTIONS_INIT;
  options.options = "nonsense";
  EXPECT_EQ(weir_create(io, path_.c_str(), &options, &out), WEIR_INVALID_ARGUMENT);
  weir_reader* in = nullptr;
  ASSERT_EQ(weir_open(io, path_.c_str(), nullptr, &in), WEIR_OK);
  double back[4] = {};
  EXPECT_EQ(weir_read(in, wrong ? "w" : "v", WEIR_FLOAT64, back, 1, nullptr, nullptr, 0), WEIR_NOT_FOUND);
  EXPECT_EQ(weir_read(in, "v", WEIR_FLOAT64, back, 1, nullptr, nullptr, 0), WEIR_OK) << weir_message();
  EXPECT_EQ(back[3], 4);
  EXPECT_EQ(weir_close_reader(&in), WEIR_OK);
  EXPECT_EQ(weir_finalize(&io), WEIR_OK);
}

// A real disk that is too small, for every backend that stores files.
class FullDisk : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    int mounted = 0;
    if (world_rank() == 0)
      mounted = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=4m") == 0 ? 1 : 0;
    MPI_Bcast(&mounted, 1, MPI_INT, 0, world());
    mounted_ = mounted != 0;
    if (!mounted_) GTEST_SKIP() << "needs the right to mount a small file system";
  }
  void TearDown() override {
    MPI_Barrier(world());
    if (mounted_ && world_rank() == 0) ::umount2(folder_.path().c_str(), MNT_DETACH);
    MPI_Barrier(world());
  }
  SharedFolder folder_;
  bool mounted_ = false;
};

TEST_P(FullDisk, IsAnErrorOnEveryRankAndNothingIsLeft) {
  Session& session = test::session();
  const std::string extension = GetParam().find("hdf5") != std::string::npos ? "f.h5"
                                : GetParam().starts_with("adios2")           ? "f.bp"
                                                                             : "f.dat";
  const Extent shape = {2 << 20};  // 16 MiB
  const Box mine = part_of(shape, 0, world_rank(), world_size());
  const std::string message = common_failure([&] {
    File out = session.create(folder_ / extension, {.backend = GetParam()});
    out.write("T", values_of<double>(shape, mine, 0),
              {.shape = shape, .offset = mine.offset, .count = mine.count})
        .wait_stored();
    out.close();
  });
  EXPECT_THAT(message, HasSubstr(extension));
  EXPECT_THAT(message,
              AnyOf(HasSubstr("No space left"), HasSubstr("only"), HasSubstr("space"), HasSubstr("ENOSPC")))
      << GetParam();
  EXPECT_THAT(folder_.names(), ElementsAre()) << GetParam();
}

// Compressed, 16 MiB may fit on a disk of 4 MiB. Where they do not, that is an error as any other.
class FullDiskCompressed : public FullDisk {};

TEST_P(FullDiskCompressed, TakesWhatFits) {
  Session& session = test::session();
  const Extent shape = {2 << 20};
  const Box mine = part_of(shape, 0, world_rank(), world_size());
  const auto write = [&](const std::vector<double>& data) {
    File out = session.create(folder_ / "f.h5",
                              {.backend = GetParam(), .options = {{"deflate", "1"}, {"chunk", "64KiB"}}});
    out.write("T", data, {.shape = shape, .offset = mine.offset, .count = mine.count}).wait_stored();
    out.close();
  };
  std::vector<double> noise(volume(mine.count));
  std::uint64_t state = 88172645463325252U + static_cast<std::uint64_t>(world_rank());
  for (double& number : noise) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    number = static_cast<double>(state);
  }
  EXPECT_THAT(common_failure([&] { write(noise); }), HasSubstr("No space left"));
  EXPECT_THAT(folder_.names(), ElementsAre());
  std::vector<double> even(volume(mine.count), 3.0);
  EXPECT_EQ(common_failure([&] { write(even); }), "no failure");
  Reader in = session.open(folder_ / "f.h5");
  std::vector<double> back(even.size());
  in.read("T", back, {.offset = mine.offset, .count = mine.count});
  EXPECT_EQ(back, even);
  in.close();
}

INSTANTIATE_TEST_SUITE_P(Backends, FullDiskCompressed, testing::Values("hdf5"));

std::vector<std::string> file_backends() {
  std::vector<std::string> names;
  for (const backends::Entry& entry : backends::table()) {
    if (entry.missing.empty() && entry.stores_files && entry.name != "faulty") names.emplace_back(entry.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Backends, FullDisk, testing::ValuesIn(file_backends()), [](const auto& backend) {
  std::string name = backend.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace weir::test
