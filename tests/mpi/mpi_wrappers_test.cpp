#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "support.hpp"

namespace weir::mpi {
namespace {

using testing::HasSubstr;

class Wrappers : public testing::Test {
 protected:
  Comm comm_ = Comm::duplicate(MPI_COMM_WORLD);
  int rank_ = comm_.rank();
  int size_ = comm_.size();
};

TEST_F(Wrappers, GatherToAllKeepsOrderAndLengths) {
  const std::string mine(static_cast<std::size_t>(rank_ * 37 % 11), static_cast<char>('a' + rank_));
  const auto all = comm_.gather_to_all(mine);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(size_));
  for (int r = 0; r < size_; ++r)
    EXPECT_EQ(all[static_cast<std::size_t>(r)],
              std::string(static_cast<std::size_t>(r * 37 % 11), static_cast<char>('a' + r)));
}

TEST_F(Wrappers, SumsOfLowerRanks) {
  EXPECT_EQ(comm_.sum_of_lower_ranks(rank_ + 1), rank_ * (rank_ + 1) / 2);
  EXPECT_EQ(comm_.sum(1), size_);
}

TEST_F(Wrappers, RanksOfANodeAreCountedOnce) {
  const int ranks = comm_.ranks_on_node();
  EXPECT_EQ(ranks, size_);  // all tests run on one node
  const Comm copy = comm_;
  if (rank_ == 0) {
    EXPECT_EQ(copy.ranks_on_node(), ranks);  // nobody else is asked
  }
  EXPECT_EQ(Comm::serial().ranks_on_node(), 1);
}

TEST_F(Wrappers, OneFailureBecomesEverybodysWithItsRank) {
  Status mine;
  if (rank_ >= size_ / 2) mine = fail(ErrorCode::io, "disk on fire " + std::to_string(rank_), "run");
  const Status together = agree(comm_, mine);
  ASSERT_FALSE(together);
  EXPECT_EQ(together.error().rank, size_ / 2);
  EXPECT_EQ(together.error().code, ErrorCode::io);
  EXPECT_THAT(together.error().message(), HasSubstr("disk on fire " + std::to_string(size_ / 2) + "; run"));
  EXPECT_TRUE(agree(comm_, Status()));
}

TEST_F(Wrappers, VoteFindsRanksThatCallSomethingElse) {
  EXPECT_TRUE(vote(comm_, "write T", {}).has_value());
  EXPECT_FALSE(*vote(comm_, "write T", {}, false));
  EXPECT_TRUE(*vote(comm_, "write T", {}, rank_ == size_ - 1));
  if (size_ > 1) {
    const auto result = vote(comm_, rank_ == size_ - 1 ? "close" : "write T", {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::disagreement);
    EXPECT_EQ(result.error().rank, size_ - 1);
    EXPECT_THAT(result.error().message(), HasSubstr("close here, write T on rank 0"));
  }
}

// A rank that comes early to a call fails what the others do before it, is told once, and waits for them.
TEST_F(Wrappers, ACallThatTheOthersComeToLater) {
  if (size_ == 1) return;
  const bool early = rank_ == 0;
  for (int call = 0; call < 3 && !early; ++call) {
    const auto result = vote(comm_, "write T", {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::disagreement);
  }
  int told = 0;
  const Status joined = vote_until_joined(comm_, "close", {}, [&](const Failure&) { ++told; });
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, ErrorCode::disagreement);
  EXPECT_EQ(told, early ? 1 : 0);
  // All come to something else: nobody waits for ever.
  EXPECT_FALSE(vote_until_joined(comm_, fmt::format("close {}", rank_), {}, [](const Failure&) {}));
  EXPECT_TRUE(vote_until_joined(comm_, "close", {}, [](const Failure&) {}));
}

// A rank that has left fails the calls of the others, as many as they make, until they leave as well.
TEST_F(Wrappers, WhoTakesLeaveIsKnownToTheOthers) {
  const Failure failure{.code = ErrorCode::state, .cause = "gone"};
  const bool leaves_first = rank_ == size_ - 1;
  for (int call = 0; call < 3 && !leaves_first; ++call) {
    const auto result = vote(comm_, "write T", {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().cause, "gone");
    EXPECT_EQ(result.error().rank, size_ - 1);
  }
  take_leave(comm_, failure);
  EXPECT_TRUE(vote(comm_, "nothing is left behind", {}));
}

// Who comes to the end early fails what the others still do, and does not end before them.
TEST_F(Wrappers, TheEndIsTheSameForAll) {
  EXPECT_TRUE(vote_to_end(comm_, "end"));
  if (size_ == 1) return;
  const bool early = rank_ == 0;
  if (!early) {
    EXPECT_FALSE(vote(comm_, "write T", {}));
    EXPECT_FALSE(vote_until_joined(comm_, "close", {}));
  }
  EXPECT_FALSE(vote_to_end(comm_, "end"));
  EXPECT_TRUE(vote(comm_, "nothing is left behind", {}));
}

// The type must select exactly the bytes that for_each_run visits.
TEST_F(Wrappers, BoxTypesSelectTheBox) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Extent shape(1 + random() % 3);
    Box box{Extent(shape.size()), Extent(shape.size())};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      shape[d] = 1 + random() % 6;
      box.offset[d] = random() % shape[d];
      box.count[d] = 1 + random() % (shape[d] - box.offset[d]);
    }
    const std::size_t size = 1 + random() % 5;
    const Datatype type = box_in_array(shape, box, size);
    std::vector<unsigned char> array(volume(shape) * size);
    for (std::size_t i = 0; i < array.size(); ++i) array[i] = static_cast<unsigned char>(i);
    std::vector<unsigned char> expected;
    for_each_run(shape, box, [&](const weir::Run& run) {
      expected.insert(expected.end(), array.begin() + static_cast<std::ptrdiff_t>(run.in_array * size),
                      array.begin() + static_cast<std::ptrdiff_t>((run.in_array + run.length) * size));
      return true;
    });
    std::vector<unsigned char> packed(expected.size());
    int position = 0;
    MPI_Pack(array.data(), 1, type.get(), packed.data(), static_cast<int>(packed.size()), &position,
             MPI_COMM_SELF);
    EXPECT_EQ(static_cast<std::size_t>(position), expected.size());
    EXPECT_EQ(packed, expected);
  }
}

TEST_F(Wrappers, TypesBeyond32BitCounts) {
  MPI_Count size = 0;
  const Extent shape = {3, 1ULL << 33U};
  const Datatype box = box_in_array(shape, {{1, 5}, {2, (1ULL << 32U) + 1}}, 8);
  MPI_Type_size_x(box.get(), &size);
  EXPECT_EQ(size, 2 * 8 * ((1LL << 32) + 1));
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Type_get_true_extent_x(box.get(), &lower, &extent);
  EXPECT_EQ(lower, 8 * ((1LL << 33) + 5));
}

TEST(SerialComm, NeedsNoMpi) {
  const Comm comm = Comm::serial();
  EXPECT_EQ(comm.sum(5), 5);
  EXPECT_EQ(comm.broadcast("x", 0), "x");
  EXPECT_EQ(comm.gather_to_all("y"), std::vector<std::string>{"y"});
  comm.barrier();
  EXPECT_EQ(agree(comm, fail(ErrorCode::io, "z")).error().rank, -1);
  EXPECT_THROW((void)comm.get(), std::logic_error);
}

}  // namespace
}  // namespace weir::mpi
