// What stands under a name before, while and after a file is written there: rights, links, long names, files
// that are read while they are replaced, space that is given back.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

#include "core/file.hpp"
#include "files/output_file.hpp"
#include "support.hpp"

namespace weir::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// While it is there, root is as anybody: rights of files hold.
class WithoutPrivileges {
 public:
  WithoutPrivileges() { set(false); }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;
  ~WithoutPrivileges() { set(true); }

 private:
  static void set(bool effective) {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct data[2] = {};
    ASSERT_EQ(::syscall(SYS_capget, &header, data), 0);
    for (auto& part : data) part.effective = effective ? part.permitted : 0;
    ASSERT_EQ(::syscall(SYS_capset, &header, data), 0);
  }
};

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

class Replacing : public testing::Test {
 protected:
  void write(File& out, double value) {
    const Extent shape = {static_cast<std::uint64_t>(size_)};
    const Extent mine = {static_cast<std::uint64_t>(rank_)};
    out.write("T", std::vector<double>{value}, {.shape = shape, .offset = mine, .count = {1}}).wait_stored();
  }
  void write_file(const std::string& path, double value, const FileOptions& options = {}) {
    File out = session_.create(path, options);
    write(out, value);
    out.close();
  }
  double read(Reader& in) {
    std::vector<double> data(static_cast<std::size_t>(size_));
    in.read("T", data);
    return data.front();
  }
  void on_rank_0(const std::function<void()>& body) {
    MPI_Barrier(world());
    if (rank_ == 0) body();
    MPI_Barrier(world());
  }
  static std::vector<std::string> backends() {
    std::vector<std::string> names;
    for (const backends::Entry& entry : backends::table()) {
      if (entry.stores_files && entry.missing.empty() && entry.name != "faulty")
        names.emplace_back(entry.name);
    }
    return names;
  }

  int rank_ = world_rank();
  int size_ = world_size();
  SharedFolder folder_;
  Session& session_ = session();
};

TEST_F(Replacing, AnOpenFileIsNeverReadAsAnotherOne) {
  const fs::path before = fs::current_path();
  for (const std::string& backend : backends()) {
    on_rank_0([&] {
      fs::create_directories(folder_ / "a");
      fs::create_directories(folder_ / "b");
    });
    write_file(folder_ / "a/run", 1, {.backend = backend});
    write_file(folder_ / "b/run", 2, {.backend = backend});
    fs::current_path(folder_ / "a");
    Reader moved = session_.open("run", {.backend = backend});
    fs::current_path(folder_ / "b");
    EXPECT_EQ(read(moved), 1) << backend;
    moved.close();

    Reader replaced = session_.open("run", {.backend = backend});
    write_file(folder_ / "b/run", 3, {.backend = backend});
    double value = 0;
    const std::string failure = failure_of([&] { value = read(replaced); });
    if (failure == "no failure") {
      EXPECT_EQ(value, 2) << backend;
    } else {
      EXPECT_THAT(failure, HasSubstr("replaced by another")) << backend;
      EXPECT_THAT(failure, Not(HasSubstr("/proc"))) << backend;
    }
    replaced.close();
    fs::current_path(before);
    on_rank_0([&] {
      fs::remove_all(folder_ / "a");
      fs::remove_all(folder_ / "b");
    });
  }
}

TEST_F(Replacing, RightsAreThoseOfWhatWasThere) {
  for (const std::string& backend : backends()) {
    const std::string path = folder_ / "private";
    write_file(path, 1, {.backend = backend});
    const bool is_folder = fs::is_directory(path);
    const mode_t mode = is_folder ? 0700 : 0600;
    on_rank_0([&] {
      ::chmod(path.c_str(), mode);
      if (fs::exists(path + ".json")) ::chmod((path + ".json").c_str(), 0600);
    });
    File out = session_.create(path, {.backend = backend});
    write(out, 2);
    for (const std::string& name : folder_.names()) {
      if (name.find(".partial.") != std::string::npos) {
        EXPECT_EQ(mode_of(folder_ / name), mode) << backend << " " << name;
      }
    }
    MPI_Barrier(world());
    out.close();
    EXPECT_EQ(mode_of(path), mode) << backend;
    if (fs::exists(path + ".json")) {
      EXPECT_EQ(mode_of(path + ".json"), 0600U) << backend;
    }
    on_rank_0([&] {
      fs::remove_all(path);
      fs::remove(path + ".json");
    });
  }
}

TEST_F(Replacing, WhatNobodyMayWriteToIsNotReplaced) {
  for (const std::string& backend : backends()) {
    const std::string path = folder_ / ("final-" + backend);
    write_file(path, 1, {.backend = backend});
    on_rank_0([&] { ::chmod(path.c_str(), fs::is_directory(path) ? 0555 : 0444); });
    {
      const WithoutPrivileges nobody;
      EXPECT_THAT(common_failure([&] { session_.create(path, {.backend = backend}); }),
                  HasSubstr("Permission denied; make it writable"));
    }
    Reader in = session_.open(path, {.backend = backend});
    EXPECT_EQ(read(in), 1) << backend;
    in.close();
  }
}

TEST_F(Replacing, WhereNobodyMayWriteNothingIsMade) {
  const std::string closed = folder_ / "closed";
  on_rank_0([&] {
    fs::create_directory(closed);
    ::chmod(closed.c_str(), 0555);
  });
  for (const std::string& backend : backends()) {
    const WithoutPrivileges nobody;
    EXPECT_THAT(common_failure([&] { session_.create(closed + "/f", {.backend = backend}); }),
                AllOf(HasSubstr("Permission denied"), HasSubstr(closed)))
        << backend;
  }
  EXPECT_TRUE(fs::is_empty(closed));
}

TEST_F(Replacing, WhatMayNotBeReadIsSaidOnAllRanks) {
  for (const std::string& backend : backends()) {
    const std::string path = folder_ / ("hidden-" + backend);
    write_file(path, 1, {.backend = backend});
    for (const mode_t mode : {0000, 0600}) {
      on_rank_0([&] { ::chmod(path.c_str(), mode); });
      if (mode != 0 && !fs::is_directory(path)) continue;
      const WithoutPrivileges nobody;
      EXPECT_THAT(common_failure([&] { session_.open(path); }), HasSubstr("Permission denied")) << backend;
      EXPECT_THAT(common_failure([&] { session_.open(path, {.backend = backend}); }), HasSubstr(path))
          << backend;
    }
    on_rank_0([&] { ::chmod(path.c_str(), 0700); });
  }
}

TEST_F(Replacing, ANameThatIsTooLongForItsCompanionIsRefusedBeforehand) {
  const std::string path = folder_ / (std::string(248, 'x') + ".dat");
  on_rank_0([&] { std::ofstream(path) << "precious"; });
  EXPECT_THAT(common_failure([&] { session_.create(path); }), HasSubstr("File name too long"));
  EXPECT_EQ(*read_text(path), "precious");
  const std::string fits = folder_ / (std::string(246, 'x') + ".dat");
  write_file(fits, 1);
  Reader in = session_.open(fits);
  EXPECT_EQ(read(in), 1);
  in.close();
}

TEST_F(Replacing, APlainFileBehindALinkIsReadThroughIt) {
  on_rank_0([&] {
    fs::create_directory(folder_ / "scratch");
    fs::create_symlink("scratch/real.dat", folder_ / "link.dat");
  });
  write_file(folder_ / "link.dat", 5);
  Reader in = session_.open(folder_ / "link.dat");
  EXPECT_EQ(read(in), 5);
  in.close();
}

TEST_F(Replacing, FoldersOfTwoFormatsReplaceEachOtherAndNobodyElses) {
  std::vector<std::string> makers;
  for (const backends::Entry& entry : backends::table()) {
    if (entry.makes_folder && entry.missing.empty()) makers.emplace_back(entry.name);
  }
  if (makers.empty()) GTEST_SKIP() << "built without ADIOS2";
  makers.push_back(makers.front());
  for (std::size_t i = 0; i < makers.size(); ++i) {
    write_file(folder_ / "run.bp", static_cast<double>(i), {.backend = makers[i]});
    Reader in = session_.open(folder_ / "run.bp");
    EXPECT_EQ(in.backend(), makers[i]);
    EXPECT_EQ(read(in), static_cast<double>(i));
    in.close();
  }
  on_rank_0([&] { fs::create_directory(folder_ / "mine.bp"); });
  EXPECT_THAT(common_failure([&] { session_.create(folder_ / "mine.bp"); }),
              HasSubstr("a folder of that name is there"));
  EXPECT_THAT(folder_.names(), ElementsAre("mine.bp", "run.bp"));
}

// Libraries keep files open that were given up; the space they took is free all the same.
TEST_F(Replacing, AFileThatWasGivenUpTakesNoSpace) {
  for (const std::string& backend : backends()) {
    try {
      File out = session_.create(folder_ / "big", {.backend = backend});
      const Extent shape = {static_cast<std::uint64_t>(size_), 1 << 17};
      out.write("T", std::vector<double>(1 << 17, 1.5),
                {.shape = shape, .offset = {static_cast<std::uint64_t>(rank_), 0}, .count = {1, 1 << 17}})
          .wait_stored();
      throw std::runtime_error("given up");
    } catch (const std::runtime_error&) {
    }
    EXPECT_THAT(folder_.names(), ElementsAre()) << backend;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      const std::string target = fs::read_symlink(entry.path(), error).string();
      if (target.find(folder_.path().string()) == std::string::npos || !target.ends_with(" (deleted)"))
        continue;
      struct stat status {};
      if (::stat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
        EXPECT_EQ(status.st_blocks, 0) << backend << " " << target;
      }
    }
  }
}

TEST_F(Replacing, AReaderThatIsDroppedLeavesNoDescriptorsOpen) {
  if (size_ > 1) GTEST_SKIP() << "together, ranks close a file or leave it open";
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  for (const std::string& backend : backends()) {
    if (backend == "mpiio") continue;  // closing is MPI's, and collective
    write_file(folder_ / "run", 1, {.backend = backend});
    const auto before = descriptors();
    for (int i = 0; i < 10; ++i) session_.open(folder_ / "run", {.backend = backend});
    EXPECT_LE(descriptors(), before) << backend;
    fs::remove_all(folder_ / "run");
    fs::remove(folder_ / "run.json");
  }
}

TEST_F(Replacing, AnEmergencyFileIsWrittenWhileAnExceptionIsOnItsWay) {
  struct Emergency {
    std::function<void()> act;
    ~Emergency() { act(); }
  };
  const auto checkpoint = [&] {
    File out = session_.create(folder_ / "emergency.dat");
    write(out, 9);
  };
  try {
    const Emergency emergency{checkpoint};
    throw std::runtime_error("diverged");
  } catch (const std::runtime_error&) {
  }
  EXPECT_THAT(folder_.names(), ElementsAre("emergency.dat", "emergency.dat.json"));
}

}  // namespace
}  // namespace weir::test
