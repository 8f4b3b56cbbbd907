// What ranks are told of failures that somebody else finds, in every mode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "support.hpp"

namespace weir::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OffloadCauses : public testing::Test {
 protected:
  // A step of a small array; ranks that are `stubborn` write the block of rank 0.
  Ticket write(File& out, int step, bool stubborn = false) {
    const std::uint64_t count = data_.size();
    return out.write("T", data_,
                     {.shape = {count * static_cast<std::uint64_t>(size_)},
                      .offset = {stubborn ? 0 : count * static_cast<std::uint64_t>(rank_)},
                      .count = {count},
                      .step = step});
  }

  int rank_ = world_rank();
  int size_ = world_size();
  SharedFolder folder_;
  std::string path_ = folder_ / "f.dat";
  std::vector<double> data_ = std::vector<double>(1000, rank_);
};

// Blocks that overlap are found by who sees all of them. A rank that hears of it gives the file up while
// others still write, or close: they hear the same.
TEST_F(OffloadCauses, OverlapIsToldToRanksThatHearOfItLater) {
  if (size_ == 1 || mode().empty()) return;
  for (const int who : {0, size_ - 1}) {
    for (const int steps : {1, 3}) {
      const std::string failure = failure_of([&] {
        File out = session().create(path_);
        for (int step = 0; step < steps; ++step) {
          Ticket ticket = write(out, step, /*stubborn=*/true);
          if (rank_ == who) ticket.wait_stored();
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        out.close();
      });
      EXPECT_THAT(failure, AllOf(HasSubstr("overlap"), Not(HasSubstr("given up"))));
      EXPECT_EQ(failure.find("on I/O server"), failure.rfind("on I/O server")) << failure;
      EXPECT_FALSE(std::filesystem::exists(path_));
    }
  }
}

TEST_F(OffloadCauses, WhoGaveUpIsNamed) {
  if (size_ == 1 || mode().empty()) return;
  for (int who = 0; who < size_; ++who) {
    const std::string failure = failure_of([&] {
      File out = session().create(path_);
      write(out, 0).wait_stored();
      if (rank_ == who) throw Error(ErrorCode::state, rank_, "enough");
      out.close();
    });
    if (rank_ != who) {
      EXPECT_THAT(failure, AllOf(HasSubstr("given up"), HasSubstr("rank " + std::to_string(who))));
    }
  }
}

// Calls that ranks make in different order fail, in words that say which and whose; what comes after them
// does not.
TEST_F(OffloadCauses, FilesClosedInDifferentOrder) {
  if (size_ == 1) return;
  const auto close_both = [&](File& first, File& second) {
    const std::string words = failure_of([&] { first.close(); });
    EXPECT_THAT(failure_of([&] { second.close(); }), HasSubstr("differs between ranks"));
    return words;
  };
  File a = session().create(folder_ / "a.dat");
  File b = session().create(folder_ / "b.dat");
  write(a, 0).wait_stored();
  write(b, 0).wait_stored();
  const std::string words = rank_ == 0 ? close_both(a, b) : close_both(b, a);
  EXPECT_THAT(words, HasSubstr("close '" + folder_ / "a.dat" + "' on rank 0"));
  EXPECT_THAT(words,
              HasSubstr("close '" + folder_ / "b.dat" + "' " + (mode() == "servers" ? "on rank 1" : "here")));
  EXPECT_THAT(words, Not(HasSubstr("on I/O server")));
  File next = session().create(path_);
  write(next, 0).wait_stored();
  next.close();
  EXPECT_THAT(folder_.names(), testing::ElementsAre("f.dat", "f.dat.json"));
}

TEST_F(OffloadCauses, WritesThatDiffer) {
  if (size_ == 1) return;
  File out = session().create(path_);
  write(out, 0).wait_stored();
  const std::string words = common_failure([&] { write(out, rank_ == 0 ? 1 : 2).wait_stored(); });
  EXPECT_THAT(words, HasSubstr("write variable 'T', step 1 of '" + path_ + "', type float64, shape ["));
  EXPECT_THAT(words, Not(testing::AnyOf(HasSubstr("of 1 step"), HasSubstr("every ["))));
  write(out, 3).wait_stored();
  out.close();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

// One rank closes a file before it goes on to the next, the others after that.
TEST_F(OffloadCauses, FileClosedBySomeFirst) {
  if (size_ == 1 || mode() != "servers") return;
  File a = session().create(folder_ / "a.dat");
  if (rank_ == 0) {
    EXPECT_THAT(failure_of([&] { a.close(); }), HasSubstr("a.dat"));
  }
  EXPECT_THAT(failure_of([&] {
                File out = session().create(path_);
                write(out, 0).wait_stored();
                out.close();
              }),
              HasSubstr("f.dat"));
  if (rank_ != 0) {
    EXPECT_THAT(failure_of([&] { a.close(); }), HasSubstr("a.dat"));
  }
  File next = session().create(folder_ / "next.dat");
  write(next, 0).wait_stored();
  next.close();
  EXPECT_THAT(folder_.names(), testing::ElementsAre("next.dat", "next.dat.json"));
}

// Refused where it is set, on all ranks, and the file goes on.
TEST_F(OffloadCauses, TextThatIsNotUtf8) {
  File out = session().create(path_);
  EXPECT_THAT(common_failure([&] { out.set_attribute("author", "J\xfcrgen"); }), HasSubstr("UTF-8"));
  EXPECT_THAT(common_failure([&] {
                write(out, 0);
                out.set_variable_attribute("T", "unit", "\xb0 C");
              }),
              HasSubstr("UTF-8"));
  out.close();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(OffloadCauses, BudgetsThatCannotBeMeant) {
  for (const std::uint64_t budget : {UINT64_MAX, UINT64_MAX - 4096, std::uint64_t{1} << 47U}) {
    EXPECT_THAT(common_failure([&] { const Session io(world(), {.mode = "servers", .budget = budget}); }),
                HasSubstr("budget is "));
  }
}

}  // namespace
}  // namespace weir::test
