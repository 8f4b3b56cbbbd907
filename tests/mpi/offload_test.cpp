// Asynchronous writing as a program sees it, in every mode: tickets, arrays, policies, memory, and disks that
// fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "core/options.hpp"
#include "mpi/comm.hpp"
#include "support.hpp"

namespace weir::test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Offload : public testing::Test {
 protected:
  WriteOptions at(const Extent& shape, const Box& box, std::optional<std::int64_t> step = {}) const {
    return {.shape = shape, .offset = box.offset, .count = box.count, .step = step};
  }
  Box mine(const Extent& shape, std::size_t dimension = 0) const {
    return part_of(shape, dimension, rank_, size_);
  }
  template <class T = double>
  void expect_whole(Reader& in, const std::string& name, const Extent& shape, int seed,
                    std::optional<std::int64_t> step = {}) {
    std::vector<T> data(volume(shape), T(77));
    in.read(name, data, {.step = step});
    EXPECT_TRUE(data == values_of<T>(shape, Box::whole(shape), seed))
        << name << " step " << step.value_or(-1);
  }
  // A file with one variable is right.
  void expect_file(const std::string& path, const Extent& shape, int seed) {
    Reader in = session_.open(path);
    expect_whole(in, "T", shape, seed);
    in.close();
  }
  void write_file(const std::string& path, const Extent& shape, int seed, const FileOptions& options = {}) {
    File out = session_.create(path, options);
    const auto data = values_of<double>(shape, mine(shape), seed);
    out.write("T", data, at(shape, mine(shape))).wait();
    out.close();
  }

  int rank_ = world_rank();
  int size_ = world_size();
  SharedFolder folder_;
  std::string path_ = folder_ / "f.dat";
  Session& session_ = session();
};

TEST_F(Offload, TicketsInAnyOrderAndMoreThanOnce) {
  const Extent shape = {31, 7};
  constexpr int steps = 130;
  std::vector<std::vector<double>> data;
  std::vector<Ticket> tickets;
  File out = session_.create(path_);
  for (int step = 0; step < steps; ++step) {
    data.push_back(values_of<double>(shape, mine(shape), step));
    tickets.push_back(out.write("T", data.back(), at(shape, mine(shape), step)));
  }
  std::vector<std::size_t> order(tickets.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(),
               std::mt19937(static_cast<unsigned>(rank_)));  // another on each rank
  for (const std::size_t i : order) {
    tickets[i].wait();
    EXPECT_TRUE(tickets[i].test());
    std::fill(data[i].begin(), data[i].end(), -1.0);  // it may be changed now
    tickets[i].wait();
  }
  std::reverse(order.begin(), order.end());
  for (const std::size_t i : order) {
    const Ticket copy = tickets[i];
    tickets[i].wait_stored();
    tickets[i].wait_stored();
    EXPECT_TRUE(Ticket(copy).stored());
  }
  out.close();
  for (Ticket& ticket : tickets) ticket.wait_stored();
  Ticket().wait();
  Reader in = session_.open(path_);
  for (int step = 0; step < steps; ++step) expect_whole(in, "T", shape, step, step);
  in.close();
}

TEST_F(Offload, DroppedTickets) {
  const Extent shape = {1000};
  std::vector<std::vector<double>> data;
  File out = session_.create(path_);
  for (int step = 0; step < 40; ++step) {
    data.push_back(values_of<double>(shape, mine(shape), step));
    out.write("T", data.back(), at(shape, mine(shape), step));
  }
  out.close();
  Reader in = session_.open(path_);
  for (int step = 0; step < 40; ++step) expect_whole(in, "T", shape, step, step);
  in.close();
}

TEST_F(Offload, ManyFilesOpenAtOnce) {
  const Extent shape = {64};
  constexpr int count = 20;
  std::vector<File> files;
  std::vector<std::vector<double>> data;
  for (int i = 0; i < count; ++i) files.push_back(session_.create(folder_ / ("f" + std::to_string(i))));
  for (int step = 0; step < 6; ++step) {
    for (int i = 0; i < count; ++i) {
      data.push_back(values_of<double>(shape, mine(shape), 100 * i + step));
      files[static_cast<std::size_t>(i)].write("T", data.back(), at(shape, mine(shape), step));
    }
  }
  std::vector<Ticket> closings;
  for (int i = 0; i < count; i += 2) closings.push_back(files[static_cast<std::size_t>(i)].close_later());
  for (int i = count - 1; i > 0; i -= 2) files[static_cast<std::size_t>(i)].close();
  for (Ticket& closing : closings) closing.wait_stored();
  for (int i = 0; i < count; ++i) {
    Reader in = session_.open(folder_ / ("f" + std::to_string(i)));
    for (int step = 0; step < 6; ++step) expect_whole(in, "T", shape, 100 * i + step, step);
    in.close();
  }
}

TEST_F(Offload, EmptyBlocksOfSomeAndOfAll) {
  const Extent shape = {size_ > 2 ? static_cast<std::uint64_t>(size_) - 2 : 1, 5};  // some ranks have nothing
  const Extent nothing = {0, 5};
  File out = session_.create(path_);
  const auto data = values_of<double>(shape, mine(shape), 1);
  out.write("some", data, at(shape, mine(shape)));
  out.write("none", std::vector<float>(), at(nothing, Box::whole(nothing)));
  for (int step = 0; step < 3; ++step)  // another rank has it all in each step
    out.write(
           "turns",
           step % size_ == rank_ ? values_of<double>(shape, Box::whole(shape), step) : std::vector<double>(),
           at(shape, step % size_ == rank_ ? Box::whole(shape) : Box{{0, 0}, {0, 0}}, step))
        .wait_stored();
  out.close();
  Reader in = session_.open(path_);
  expect_whole(in, "some", shape, 1);
  EXPECT_EQ(in.variable("none").shape, nothing);
  for (int step = 0; step < 3; ++step) expect_whole(in, "turns", shape, step, step);
  in.close();
}

TEST_F(Offload, SizesAndDecompositionsChangeFromWriteToWrite) {
  std::mt19937 random(11);  // the same on all ranks
  struct Written {
    std::string name;
    Extent shape;
    int seed;
  };
  std::vector<Written> all;
  std::vector<std::vector<double>> data;
  File out = session_.create(path_);
  for (int i = 0; i < 60; ++i) {
    const Extent shape = {1 + random() % 90, 1 + random() % (i % 10 == 0 ? 3000 : 50)};
    all.push_back({"v" + std::to_string(i), shape, i});
    const Box box = mine(shape, random() % 2);
    data.push_back(values_of<double>(shape, box, i));
    out.write(all.back().name, data.back(), at(shape, box));
  }
  out.close();
  Reader in = session_.open(path_);
  for (const Written& one : all) expect_whole(in, one.name, one.shape, one.seed);
  in.close();
}

TEST_F(Offload, TwoVariablesOfTwoFilesInterleaved) {
  const Extent a = {40, 3};
  const Extent b = {77};
  File first = session_.create(folder_ / "a.dat");
  File second = session_.create(folder_ / "b.dat");
  std::vector<Ticket> tickets;
  std::vector<std::vector<double>> doubles;
  std::vector<std::vector<std::int16_t>> shorts;
  for (int step = 0; step < 25; ++step) {
    doubles.push_back(values_of<double>(a, mine(a, 1), step));
    shorts.push_back(values_of<std::int16_t>(b, mine(b), step));
    for (File* file : {&first, &second}) {
      tickets.push_back(file->write("a", doubles.back(), at(a, mine(a, 1), step)));
      if (step % 3 != 1) tickets.push_back(file->write("b", shorts.back(), at(b, mine(b), step)));
    }
    if (step == 10) first.set_attribute("half", "way");
  }
  for (Ticket& ticket : tickets) ticket.wait();
  second.close();
  first.close();
  for (const char* name : {"a.dat", "b.dat"}) {
    Reader in = session_.open(folder_ / name);
    for (int step = 0; step < 25; ++step) {
      expect_whole(in, "a", a, step, step);
      if (step % 3 != 1) expect_whole<std::int16_t>(in, "b", b, step, step);
    }
    in.close();
  }
}

// More than the budget of a server (registered a second time with WEIR_BUDGET=1MiB).
TEST_F(Offload, BlocksLargerThanTheRoomForThem) {
  const Extent shape = {700, 1111};  // 6 MiB
  File out = session_.create(path_);
  const auto by_rows = values_of<double>(shape, mine(shape), 1);
  const auto by_columns = values_of<double>(shape, mine(shape, 1), 2);
  const Box all_on_last = rank_ == size_ - 1 ? Box::whole(shape) : Box{{0, 0}, {0, 0}};
  const auto of_last = values_of<double>(shape, all_on_last, 3);
  out.write("rows", by_rows, at(shape, mine(shape)));
  out.write("columns", by_columns, at(shape, mine(shape, 1)));
  out.write("last", of_last, at(shape, all_on_last));
  out.reserve("alone", Type::float64, shape);
  WriteOptions alone = at(shape, mine(shape));
  alone.independent = true;
  if (rank_ == 0) out.write("alone", by_rows, alone).wait_stored();
  if (rank_ != 0) out.write("alone", by_rows, alone).wait();
  out.close();
  Reader in = session_.open(path_);
  expect_whole(in, "rows", shape, 1);
  expect_whole(in, "columns", shape, 2);
  expect_whole(in, "last", shape, 3);
  expect_whole(in, "alone", shape, 1);
  in.close();
}

TEST_F(Offload, AllocatedArraysThatAreFilledAgainAndAgain) {
  const Extent shape = {static_cast<std::uint64_t>(size_) * 50'000};
  const Box box = mine(shape);
  constexpr int steps = 30;
  Buffer<double> field = session_.allocate<double>(volume(box.count));
  for (const double& value : field) ASSERT_EQ(value, 0);
  File out = session_.create(path_);
  for (int step = 0; step < steps; ++step) {
    double* const fresh = field.fresh();
    ASSERT_EQ(fresh, field.data());
    const auto values = values_of<double>(shape, box, step);
    std::copy(values.begin(), values.end(), fresh);
    out.write("T", field, at(shape, box, step));
  }
  out.close();
  Reader in = session_.open(path_);
  for (int step = 0; step < steps; ++step) expect_whole(in, "T", shape, step, step);
  in.close();
}

TEST_F(Offload, PartsOfAnAllocatedArray) {
  const Extent shape = {static_cast<std::uint64_t>(size_) * 1000};
  const Box box = mine(shape);
  Buffer<double> field = session_.allocate<double>(4000);
  const std::vector<std::size_t> offsets = {0, 1000, 2999, 3000, 17};
  File out = session_.create(path_);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto values = values_of<double>(shape, box, static_cast<int>(i));
    double* const place = field.data() + offsets[i];
    std::copy(values.begin(), values.end(), place);
    out.write("T", std::span<const double>(place, box.count[0]), at(shape, box, static_cast<int>(i)))
        .wait_stored();
  }
  out.close();
  Reader in = session_.open(path_);
  for (std::size_t i = 0; i < offsets.size(); ++i)
    expect_whole(in, "T", shape, static_cast<int>(i), static_cast<int>(i));
  in.close();
}

TEST_F(Offload, ArraysThatGoAwayWhileTheyAreWritten) {
  const Extent shape = {static_cast<std::uint64_t>(size_) * 30'000};
  const Box box = mine(shape);
  File out = session_.create(path_, {.backend = "faulty", .options = {{"delay", "0.02"}}});
  for (int step = 0; step < 12; ++step) {
    Buffer<double> field = session_.allocate<double>(box.count[0]);
    { const Buffer<double> unused = session_.allocate<double>(100 + static_cast<std::size_t>(step)); }
    const auto values = values_of<double>(shape, box, step);
    std::copy(values.begin(), values.end(), field.begin());
    out.write("T", field, at(shape, box, step));
  }
  out.close();
  Reader in = session_.open(path_);
  for (int step = 0; step < 12; ++step) expect_whole(in, "T", shape, step, step);
  in.close();
}

// A process may have no more than a thousand or so.
TEST_F(Offload, ArraysTakeNoDescriptors) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const Extent shape = {30};
  write_file(path_, shape, 1);
  const auto before = descriptors();
  std::vector<Buffer<double>> arrays;
  for (int i = 0; i < 50; ++i) arrays.push_back(session_.allocate<double>(10));
  write_file(path_, shape, 2);  // what came before it has been answered
  arrays.push_back(session_.allocate<double>(10));
  EXPECT_LT(descriptors(), before + 10);
}

TEST_F(Offload, Policies) {
  const Extent shape = {5000};
  const auto data = values_of<double>(shape, mine(shape), 4);
  for (const FileOptions& options :
       {FileOptions{.policy = Policy::synchronous}, FileOptions{.policy = Policy::asynchronous},
        FileOptions{.policy = Policy::throttled, .in_flight = 1},
        FileOptions{.policy = Policy::throttled, .in_flight = 3}}) {
    File out = session_.create(path_, options);
    std::vector<Ticket> tickets;
    for (int step = 0; step < 10; ++step) {
      tickets.push_back(out.write("T", data, at(shape, mine(shape), step)));
      if (options.policy == Policy::synchronous) {
        EXPECT_TRUE(tickets.back().stored());
      }
      if (options.policy == Policy::throttled) {
        const auto under_way =
            std::count_if(tickets.begin(), tickets.end(), [](Ticket& t) { return !t.stored(); });
        EXPECT_LE(under_way, static_cast<std::ptrdiff_t>(options.in_flight));
      }
    }
    out.close();
    Reader in = session_.open(path_);
    for (int step = 0; step < 10; ++step) expect_whole(in, "T", shape, 4, step);
    in.close();
  }
  EXPECT_THAT(common_failure([&] { session_.create(path_, {.policy = Policy::throttled, .in_flight = 0}); }),
              HasSubstr("in_flight is 0"));
}

TEST_F(Offload, CloseLater) {
  const Extent shape = {300};
  const auto data = values_of<double>(shape, mine(shape), 4);
  File good = session_.create(path_);
  good.write("T", data, at(shape, mine(shape)));
  Ticket closed = good.close_later();
  EXPECT_THAT(common_failure([&] { good.write("U", data, at(shape, mine(shape))).wait_stored(); }),
              HasSubstr("closed"));
  closed.wait_stored();
  expect_file(path_, shape, 4);

  File bad = session_.create(folder_ / "later.dat",
                             {.backend = "faulty", .options = {{"fail", "write"}, {"after", "1"}}});
  bad.write("T", data, at(shape, mine(shape), 0));
  Ticket failing = bad.write("T", data, at(shape, mine(shape), 1));
  Ticket closing = bad.close_later();
  EXPECT_THAT(common_failure([&] { closing.wait_stored(); }),
              AllOf(HasSubstr("later.dat"), HasSubstr("Input/output error")));
  EXPECT_THAT(common_failure([&] { failing.wait_stored(); }), HasSubstr("Input/output error"));
  EXPECT_THAT(folder_.names(), ElementsAre("f.dat", "f.dat.json"));
}

TEST_F(Offload, AMissingFolderIsToldWhereItIsAskedFor) {
  const Extent shape = {30};
  const auto data = values_of<double>(shape, mine(shape), 4);
  const std::string absent = folder_ / "none/f.dat";
  EXPECT_THAT(common_failure([&] {
                File out = session_.create(absent);
                out.write("T", data, at(shape, mine(shape))).wait_stored();
              }),
              AllOf(HasSubstr("none/f.dat"), HasSubstr("No such file or directory")));
  EXPECT_THAT(common_failure([&] {
                File out = session_.create(absent);
                out.close();
              }),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(common_failure([&] {
                File out = session_.create(absent);
                out.write("T", data, at(shape, mine(shape)));
                out.close_later().wait_stored();
              }),
              HasSubstr("No such file or directory"));
  write_file(path_, shape, 3);
  expect_file(path_, shape, 3);
}

// The others hear of it when they wait or close; the next file has nothing to do with it.
TEST_F(Offload, AFileThatOneRankCannotCreate) {
  for (int round = 0; round < 3; ++round) {
    const bool wrong = rank_ == size_ - 1 && round < 2;
    FileOptions options;
    if (wrong && round == 0) options.options = {{"nonsense", "1"}};
    if (wrong && round == 1) options = {.policy = Policy::throttled, .in_flight = 0};
    const std::string path = folder_ / ("round" + std::to_string(round) + ".dat");
    const std::string failure = failure_of([&] { write_file(path, {11}, round, options); });
    if (round < 2) {
      EXPECT_THAT(failure, HasSubstr(round == 0 ? "nonsense" : "in_flight is 0"));
      EXPECT_FALSE(std::filesystem::exists(path));
    } else {
      EXPECT_EQ(failure, "no failure");
      expect_file(path, {11}, round);
    }
  }
}

TEST_F(Offload, AnErrorThatNobodyWaitedForIsThrownByClose) {
  const Extent shape = {30};
  const auto data = values_of<double>(shape, mine(shape), 4);
  write_file(path_, shape, 3);  // an older file of that name
  File out = session_.create(path_, {.backend = "faulty", .options = {{"fail", "write"}, {"after", "2"}}});
  for (int step = 0; step < 5; ++step) out.write("T", data, at(shape, mine(shape), step));
  EXPECT_THAT(common_failure([&] { out.close(); }),
              AllOf(HasSubstr("f.dat"), HasSubstr("step 2"), HasSubstr("Input/output error")));
  EXPECT_THAT(folder_.names(), ElementsAre("f.dat", "f.dat.json"));
  expect_file(path_, shape, 3);
}

TEST_F(Offload, ARefusedWriteIsAnErrorOnAllRanksAndLeavesNoTrace) {
  const Extent shape = {30};
  const auto data = values_of<double>(shape, mine(shape), 4);
  File out = session_.create(path_);
  const auto wrong = [&] {  // one rank's block lies outside
    WriteOptions options = at(shape, mine(shape), 0);
    if (rank_ == size_ - 1) options.offset[0] += 1;
    out.write("T", data, options).wait_stored();
  };
  EXPECT_THAT(common_failure(wrong),
              AllOf(HasSubstr("f.dat"), HasSubstr("rank " + std::to_string(size_ - 1))));
  EXPECT_THAT(common_failure(wrong), HasSubstr("f.dat"));
  out.write("T", data, at(shape, mine(shape), 0)).wait_stored();
  out.close();
  Reader in = session_.open(path_);
  EXPECT_THAT(in.variable("T").steps, ElementsAre(0));
  expect_whole(in, "T", shape, 4, 0);
  in.close();
}

TEST_F(Offload, AFailureOfTheDiskAtOneServer) {
  const Extent shape = {40, 20};
  const auto data = values_of<double>(shape, mine(shape), 4);
  write_file(folder_ / "before.dat", shape, 1);
  for (const char* operation : {"create", "define", "write", "close"}) {
    for (const char* error : {"EIO", "ENOSPC"}) {
      const std::string message = common_failure([&] {
        File out = session_.create(
            path_, {.backend = "faulty", .options = {{"fail", operation}, {"rank", "0"}, {"error", error}}});
        for (int step = 0; step < 3; ++step) out.write("T", data, at(shape, mine(shape), step));
        out.close();
      });
      EXPECT_THAT(message, HasSubstr("f.dat")) << operation;
      EXPECT_THAT(message, HasSubstr(error == std::string("EIO") ? "Input/output error" : "No space left"))
          << operation;
      EXPECT_THAT(message, Not(HasSubstr("partial"))) << operation;
      EXPECT_THAT(folder_.names(), ElementsAre("before.dat", "before.dat.json")) << operation;
    }
  }
  expect_file(folder_ / "before.dat", shape, 1);
  write_file(path_, shape, 6);
  expect_file(path_, shape, 6);
}

TEST_F(Offload, AFullDiskLeavesEarlierFilesWhole) {
  int mounted = 0;
  if (rank_ == 0) mounted = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=4m") == 0 ? 1 : 0;
  MPI_Bcast(&mounted, 1, MPI_INT, 0, world());
  if (mounted == 0) GTEST_SKIP() << "needs the right to mount a small file system";
  const Extent small = {1000};
  const Extent large = {1 << 20};  // 8 MiB
  write_file(folder_ / "before.dat", small, 1);
  const auto data = values_of<double>(large, mine(large), 2);
  const std::string message = common_failure([&] {
    File out = session_.create(path_);
    out.write("T", data, at(large, mine(large)));
    out.close();
  });
  EXPECT_THAT(message, HasSubstr("f.dat"));
  EXPECT_THAT(message, AnyOf(HasSubstr("No space left"), HasSubstr("space")));
  EXPECT_THAT(folder_.names(), ElementsAre("before.dat", "before.dat.json"));
  expect_file(folder_ / "before.dat", small, 1);
  write_file(folder_ / "after.dat", small, 5);
  expect_file(folder_ / "after.dat", small, 5);
  MPI_Barrier(world());
  if (rank_ == 0) ::umount2(folder_.path().c_str(), MNT_DETACH);
  MPI_Barrier(world());
}

TEST_F(Offload, CallsThatDifferBetweenRanksAreAnErrorAndNotTheEnd) {
  if (size_ == 1) return;
  const Extent shape = {30};
  const auto data = values_of<double>(shape, mine(shape), 4);
  File out = session_.create(path_);
  EXPECT_THAT(
      common_failure([&] { out.write(rank_ == 0 ? "T" : "U", data, at(shape, mine(shape))).wait_stored(); }),
      HasSubstr("differ"));
  EXPECT_THAT(common_failure([&] { out.close(); }), AnyOf(HasSubstr("differ"), HasSubstr("no failure")));
  write_file(folder_ / "next.dat", shape, 6);
  expect_file(folder_ / "next.dat", shape, 6);
}

// Whatever a rank does to a file alone, all hear of it by the end of that file, and the next one is whole.
TEST_F(Offload, ARankThatWritesMoreThanTheOthers) {
  if (size_ == 1) return;
  const Extent shape = {30};
  const auto data = values_of<double>(shape, mine(shape), 4);
  EXPECT_THAT(failure_of([&] {
                File out = session_.create(path_);
                out.write("T", data, at(shape, mine(shape), 0));
                if (rank_ == size_ - 1) out.write("T", data, at(shape, mine(shape), 1));
                out.close();
              }),
              HasSubstr("differ"));
  write_file(folder_ / "next.dat", shape, 6);
  expect_file(folder_ / "next.dat", shape, 6);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Offload, ARankThatGivesUpWhileTheOthersGoOn) {
  if (size_ == 1) return;
  const Extent shape = {30};
  const auto data = values_of<double>(shape, mine(shape), 4);
  for (int who = 0; who < size_; ++who) {
    const std::string failure = failure_of([&] {
      File out = session_.create(path_);
      out.write("T", data, at(shape, mine(shape), 0));
      if (rank_ == who) throw Error(ErrorCode::state, rank_, "enough");
      for (int step = 1; step < 4; ++step) out.write("T", data, at(shape, mine(shape), step));
      out.close();
    });
    if (rank_ == who) {
      EXPECT_THAT(failure, HasSubstr("enough"));
    } else {
      EXPECT_THAT(failure, AnyOf(HasSubstr("differ"), HasSubstr("given up")));
    }
    write_file(folder_ / "next.dat", shape, who);
    expect_file(folder_ / "next.dat", shape, who);
  }
}

TEST_F(Offload, ARankThatReadsLessThanTheOthers) {
  if (size_ == 1) return;
  const Extent shape = {30};
  write_file(path_, shape, 5);
  Reader in = session_.open(path_);
  std::vector<double> values(30);
  EXPECT_THAT(common_failure([&] {
                if (rank_ == size_ - 1) {
                  in.close();
                } else {
                  in.read("T", values);
                }
              }),
              HasSubstr("differ"));
  if (rank_ != size_ - 1) in.close();  // nobody is waited for
  expect_file(path_, shape, 5);
}

// Only who writes the file knows that it cannot be created; ranks hear of it at different calls.
TEST_F(Offload, AFailureThatRanksHearOfAtDifferentTimes) {
  const Extent shape = {30};
  const auto data = values_of<double>(shape, mine(shape), 4);
  std::mt19937 random(static_cast<unsigned>(rank_));
  for (int round = 0; round < 20; ++round) {
    EXPECT_THAT(failure_of([&] {
                  File out = session_.create(folder_ / "nowhere/f.dat");
                  for (int step = 0; step < 5; ++step) {
                    std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
                    out.write("T", data, at(shape, mine(shape), step)).wait();
                  }
                  out.close();
                }),
                HasSubstr("nowhere"));
  }
  write_file(folder_ / "next.dat", shape, 6);
  expect_file(folder_ / "next.dat", shape, 6);
}

// What failed is in no file, though nobody waited for it; what was written into a file that is whole counts
// once.
TEST_F(Offload, TheSummaryCountsWhatIsInFiles) {
  const Extent shape = {static_cast<std::uint64_t>(size_) * 100};
  const auto data = values_of<double>(shape, mine(shape), 4);
  const Summary before = session_.summary();
  {
    File lost = session_.create(
        path_, {.backend = "faulty", .options = {{"fail", "write"}, {"rank", "0"}, {"after", "0"}}});
    lost.write("T", data, at(shape, mine(shape), 0));
    Ticket closing = lost.close_later();
    EXPECT_NE(failure_of([&] { closing.wait_stored(); }), "no failure");
  }
  EXPECT_EQ(session_.summary().files, before.files);
  EXPECT_EQ(session_.summary().writes, before.writes);
  EXPECT_EQ(session_.summary().bytes, before.bytes);
  File whole = session_.create(path_);
  whole.write("T", data, at(shape, mine(shape), 0));
  whole.close_later().wait_stored();
  EXPECT_EQ(session_.summary().files, before.files + 1);
  EXPECT_EQ(session_.summary().writes, before.writes + 1);
  EXPECT_EQ(session_.summary().bytes, before.bytes + data.size() * sizeof(double));
}

}  // namespace
}  // namespace weir::test
