#include "core/file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace weir {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/weir-file-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(FileTest, ShortAndInterruptedWritesAreContinued) {
  const fs::path path = folder_ / "f";
  const Descriptor file = *open_file(path, O_CREAT | O_RDWR);
  int calls = 0;
  const PwriteFunction three_bytes_at_a_time = [&](int fd, const void* data, std::size_t size,
                                                   off_t offset) -> ssize_t {
    if (++calls % 2 == 0) {
      errno = EINTR;
      return -1;
    }
    return ::pwrite(fd, data, std::min<std::size_t>(size, 3), offset);
  };
  ASSERT_TRUE(write_at(file.get(), "hello, world", 12, 2, path, three_bytes_at_a_time));
  EXPECT_EQ(*read_text(path), std::string("\0\0hello, world", 14));
}

TEST_F(FileTest, FailuresNamePathCauseAndAdvice) {
  const fs::path path = folder_ / "f";
  const Descriptor file = *open_file(path, O_CREAT | O_RDWR);
  const PwriteFunction full = [](int, const void*, std::size_t, off_t) -> ssize_t {
    errno = ENOSPC;
    return -1;
  };
  const Status status = write_at(file.get(), "x", 1, 0, path, full);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message(), HasSubstr(path.string()));
  EXPECT_THAT(status.error().message(), HasSubstr("No space left on device; free some space"));
  const PwriteFunction nothing = [](int, const void*, std::size_t, off_t) -> ssize_t { return 0; };
  EXPECT_FALSE(write_at(file.get(), "x", 1, 0, path, nothing))
      << "a write that makes no progress must not loop";
  char byte = 0;
  EXPECT_EQ(read_at(file.get(), &byte, 1, 0, path).error().code, ErrorCode::corrupt);
  EXPECT_EQ(open_file(folder_ / "none", O_RDONLY).error().code, ErrorCode::not_found);
  EXPECT_FALSE(read_text(folder_));
}

TEST_F(FileTest, TextAppearsWholeOrNotAtAll) {
  const fs::path path = folder_ / "f";
  ASSERT_TRUE(write_text_atomically(path, "one"));
  ASSERT_TRUE(write_text_atomically(path, "two"));
  EXPECT_EQ(*read_text(path), "two");
  EXPECT_FALSE(write_text_atomically(folder_ / "no" / "f", "x"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "no temporary files left";
}

TEST_F(FileTest, FoldersReplaceFolders) {
  for (const char* name : {"old", "new"}) {
    fs::create_directory(folder_ / name);
    std::ofstream(folder_ / name / "content") << name;
  }
  ASSERT_TRUE(rename_path(folder_ / "new", folder_ / "old"));
  EXPECT_EQ(*read_text(folder_ / "old" / "content"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  std::ofstream(folder_ / "file") << "x";
  EXPECT_FALSE(rename_path(folder_ / "file", folder_ / "old")) << "a file does not replace a folder";
  EXPECT_EQ(*read_text(folder_ / "old" / "content"), "new");
}

TEST(WriteText, DevicesAreWrittenToAndStay) {
  EXPECT_TRUE(write_text_atomically("/dev/null", "gone"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const Status full = write_text_atomically("/dev/full", "no room");
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message(), testing::HasSubstr("No space left"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace weir
