#include "core/copy.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include "core/file.hpp"

namespace weir {
namespace {

TEST(StreamingCopy, CopiesAllOfItAndNothingElse) {
  std::vector<std::byte> from(1000);
  std::mt19937 random(5);
  for (auto& byte : from) byte = static_cast<std::byte>(random());
  for (const std::size_t bytes : {0U, 1U, 15U, 63U, 64U, 65U, 127U, 128U, 200U, 777U}) {
    for (std::size_t at = 0; at < 130; at += 7) {
      for (std::size_t source = 0; source < 20; source += 3) {
        std::vector<std::byte> to(1000, std::byte{42});
        streaming_copy(to.data() + at, from.data() + source, bytes);
        std::vector<std::byte> expected(1000, std::byte{42});
        std::copy_n(from.data() + source, bytes, expected.data() + at);
        ASSERT_TRUE(to == expected) << bytes << " bytes from " << source << " to " << at;
      }
    }
  }
}

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::vector<std::byte> bytes(count);
  std::mt19937 random(seed);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(CopyBytes, CopiesAllOfItAndNothingElse) {
  const auto from = random_bytes(40'000, 1);
  for (const std::size_t bytes : {0U, 1U, 63U, 1023U, 1024U, 1087U, 5000U, 20'000U}) {
    for (const std::size_t behind : {0U, 1U, 16U, 31U, 32U, 64U, 4095U}) {
      // As far behind the source within a page, wherever that is.
      std::vector<std::byte> to(60'000, std::byte{42}), expected = to;
      const auto apart = static_cast<std::size_t>(from.data() - to.data());
      const std::size_t at = 4096 + (apart + behind) % 4096;
      copy_bytes(to.data() + at, from.data(), bytes);
      std::copy_n(from.data(), bytes, expected.data() + at);
      ASSERT_TRUE(to == expected) << bytes << " bytes, " << behind << " behind";
    }
  }
}

class ClearIo : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / "weir-copy-XXXXXX").string();
    file_ = Descriptor(::mkstemp(path_.data()));
    ASSERT_TRUE(file_);
    content_ = random_bytes(300'001, 2);
    ASSERT_EQ(::pwrite(file_.get(), content_.data(), content_.size(), 0), std::ssize(content_));
  }
  void TearDown() override { ::unlink(path_.c_str()); }

  // Memory at this place in its page.
  static std::byte* at_page(std::vector<std::byte>& memory, std::size_t place) {
    const auto now = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + (4096 - now % 4096) % 4096 + place;
  }

  std::string path_;
  Descriptor file_;
  std::vector<std::byte> content_;
};

TEST_F(ClearIo, ReadsAsPreadDoesWhereverMemoryIs) {
  for (const std::size_t place : {0U, 1U, 16U, 31U, 32U, 100U, 4095U}) {
    for (const std::uint64_t offset : {0U, 16U, 4096U, 5000U, 290'000U, 400'000U}) {
      for (const std::uint64_t bytes : {0U, 100U, 8192U, 8193U, 131'072U, 131'073U, 290'000U, 350'000U}) {
        std::vector<std::byte> memory(370'000, std::byte{7}), plain(370'000, std::byte{7});
        const ssize_t got = pread_clear(file_.get(), at_page(memory, place), bytes, offset);
        const ssize_t wanted = ::pread(file_.get(), at_page(plain, place), bytes, static_cast<off_t>(offset));
        ASSERT_EQ(got, wanted);
        ASSERT_TRUE(std::equal(at_page(memory, 0), at_page(memory, 365'000), at_page(plain, 0)))
            << bytes << " bytes at " << offset << " to place " << place << ": also what lies behind them";
      }
    }
  }
}

TEST_F(ClearIo, WritesAsPwriteDoesWhereverMemoryIs) {
  for (const std::size_t place : {0U, 16U, 4080U, 4095U}) {
    for (const std::uint64_t offset : {0U, 16U, 47U, 5000U}) {
      for (const std::uint64_t bytes : {0U, 100U, 8192U, 131'073U, 290'000U}) {
        auto memory = random_bytes(370'000, static_cast<unsigned>(place + offset));
        const std::byte* const from = at_page(memory, place);
        ASSERT_EQ(pwrite_clear(file_.get(), from, bytes, offset), static_cast<ssize_t>(bytes));
        std::copy_n(from, bytes, content_.data() + offset);
        std::vector<std::byte> found(content_.size());
        ASSERT_EQ(::pread(file_.get(), found.data(), found.size(), 0), std::ssize(found));
        ASSERT_TRUE(found == content_) << bytes << " bytes at " << offset << " from place " << place;
      }
    }
  }
}

TEST_F(ClearIo, FailuresAreThoseOfTheSystem) {
  std::vector<std::byte> memory(100'000);
  errno = 0;
  EXPECT_EQ(pread_clear(-1, at_page(memory, 16), 50'000, 0), -1);
  EXPECT_EQ(errno, EBADF);
  errno = 0;
  EXPECT_EQ(pwrite_clear(-1, at_page(memory, 0), 50'000, 16), -1);
  EXPECT_EQ(errno, EBADF);
}

// What reads in pieces of its own making: MPI.
TEST_F(ClearIo, AnyReaderGoesTheSameWay) {
  std::vector<std::byte> memory(400'000);
  std::byte* const to = at_page(memory, 16);
  int calls = 0;
  const auto read = [&](std::byte* at, std::uint64_t bytes, std::uint64_t offset) -> std::int64_t {
    ++calls;
    std::copy_n(content_.data() + offset, bytes, at);
    return static_cast<std::int64_t>(bytes);
  };
  ASSERT_EQ(read_clear(to, 300'000, 0, read), 300'000);
  EXPECT_TRUE(std::equal(to, to + 300'000, content_.data()));
  EXPECT_EQ(calls, processor_has_copy_trap() ? 3 : 1);
}

}  // namespace
}  // namespace weir
