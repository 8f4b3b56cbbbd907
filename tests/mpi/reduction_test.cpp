// Reductions through the programming interface: what stands in the file afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backends/backend.hpp"
#include "files/output_file.hpp"
#include "files/reduction.hpp"
#include "support.hpp"

namespace weir::test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Reductions : public testing::TestWithParam<std::string> {
 protected:
  std::string path() const {
    return folder_ / (GetParam().find("hdf5") != std::string::npos ? "r.h5" : "r.dat");
  }
  File create(bool checksums = false) {
    return session_.create(path(), {.backend = GetParam(), .checksums = checksums});
  }
  Reader open() { return session_.open(path(), {.backend = GetParam()}); }

  template <class T>
  Ticket write(File& file, const std::string& name, const Extent& shape, const Box& box, int seed,
               std::optional<std::int64_t> step, const Reduction& reduction) {
    const std::vector<T> values = values_of<T>(shape, box, seed);
    Ticket ticket = file.write(
        name, values,
        {.shape = shape, .offset = box.offset, .count = box.count, .step = step, .reduce = reduction});
    while (!ticket.test()) ::usleep(100);  // the values go away
    return ticket;
  }
  template <class T>
  std::vector<T> read(Reader& file, const std::string& name, std::optional<std::int64_t> step) {
    std::vector<T> values(volume(file.variable(name).shape));
    file.read(name, values, {.step = step});
    return values;
  }
  void expect_failure(const std::function<void()>& body, const std::string& words) {
    EXPECT_THAT(common_failure(body), HasSubstr(words));
  }

  int rank_ = world_rank();
  int size_ = world_size();
  SharedFolder folder_;
  Session& session_ = session();
};

// What the whole array would be, computed without any of what is tested.
template <class T>
std::vector<T> expected_of(const std::string& operation, const Extent& shape, const Extent& every,
                           const std::vector<int>& seeds) {
  std::vector<T> result;
  for (std::uint64_t i = 0; i < volume(shape); ++i) {
    std::uint64_t rest = i;
    bool kept = true;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
      kept = kept && (every.empty() || rest % shape[d] % every[d] == 0);
    if (!kept) continue;
    T value = value_at<T>(i, seeds.front());
    for (std::size_t s = 1; s < seeds.size(); ++s) {
      const T next = value_at<T>(i, seeds[s]);
      if (operation == "min") value = std::min(value, next);
      if (operation == "max") value = std::max(value, next);
      if (operation == "mean" || operation == "sum") value += next;
      if (operation == "instant") value = next;
    }
    result.push_back(operation == "mean" ? value / static_cast<T>(seeds.size()) : value);
  }
  return result;
}

// Blocks that Weir reads where they lie, and blocks that it has to move, in parts where there is little room.
TEST_P(Reductions, FromArraysOfWeirAndFromOthers) {
  const Extent shape = {200000 * static_cast<std::uint64_t>(size_)};
  const Box box = part_of(shape, 0, rank_, size_);
  Buffer<double> array = session_.allocate<double>(volume(box.count));
  File out = create();
  for (int step = 0; step < 4; ++step) {
    const Reduction mean = {.operation = "mean", .steps = 4};
    if (step % 2 == 0) {
      const std::vector<double> values = values_of<double>(shape, box, step);
      std::copy(values.begin(), values.end(), array.fresh());
      out.write("T", array,
                {.shape = shape, .offset = box.offset, .count = box.count, .step = step, .reduce = mean});
    } else {
      write<double>(out, "T", shape, box, step, step, mean);
    }
  }
  out.close();
  Reader in = open();
  EXPECT_TRUE(read<double>(in, "T", 3) == expected_of<double>("mean", shape, {}, {0, 1, 2, 3}));
  in.close();
}

TEST_P(Reductions, OverSteps) {
  const Extent shape = {13, 5};  // uneven parts
  const std::vector<std::string> operations = {"mean", "min", "max", "sum", "instant"};
  const Box mine = part_of(shape, 0, rank_, size_);
  File out = create(true);
  for (int step = 0; step < 7; ++step) {
    for (const std::string& operation : operations)
      write<double>(out, operation, shape, mine, step, 10 * step, {.operation = operation, .steps = 3})
          .wait_stored();
    write<double>(out, "all", shape, mine, step, 10 * step, {}).wait_stored();
    if (step == 0) out.set_variable_attribute("mean", "unit", "K");
  }
  out.close();
  Reader in = open();
  EXPECT_EQ(in.variables().size(), operations.size() + 1);
  EXPECT_EQ(in.variable("all").steps.size(), 7U);
  for (const std::string& operation : operations) {
    const VariableInfo& variable = in.variable(operation);
    EXPECT_EQ(variable.type, Type::float64);
    EXPECT_EQ(variable.shape, shape);
    ASSERT_THAT(variable.steps, ElementsAre(20, 50, 60)) << operation;
    EXPECT_EQ(read<double>(in, operation, 20), expected_of<double>(operation, shape, {}, {0, 1, 2}))
        << operation;
    EXPECT_EQ(read<double>(in, operation, 50), expected_of<double>(operation, shape, {}, {3, 4, 5}))
        << operation;
    EXPECT_EQ(read<double>(in, operation, 60), expected_of<double>(operation, shape, {}, {6})) << operation;
  }
  in.close();
}

TEST_P(Reductions, EveryKthPoint) {
  File out = create();
  const Extent shape = {17, 9};
  const Extent every = {4, 3};
  const Box mine = part_of(shape, 0, rank_, size_);  // with 7 ranks, some have none of the points
  for (int step = 0; step < 3; ++step) {
    write<float>(out, "steps", shape, mine, step, step, {.every = every}).wait_stored();
    write<double>(out, "mean", shape, mine, step, step, {.operation = "mean", .steps = 2, .every = every})
        .wait_stored();
  }
  write<std::int32_t>(out, "once", shape, part_of(shape, 1, rank_, size_), 5, std::nullopt, {.every = every})
      .wait_stored();
  out.close();
  Reader in = open();
  EXPECT_EQ(in.variable("steps").shape, (Extent{5, 3}));
  ASSERT_THAT(in.variable("steps").steps, ElementsAre(0, 1, 2));
  for (int step = 0; step < 3; ++step)
    EXPECT_EQ(read<float>(in, "steps", step), expected_of<float>("", shape, every, {step}));
  ASSERT_THAT(in.variable("mean").steps, ElementsAre(1, 2));
  EXPECT_EQ(read<double>(in, "mean", 1), expected_of<double>("mean", shape, every, {0, 1}));
  EXPECT_EQ(read<double>(in, "mean", 2), expected_of<double>("mean", shape, every, {2}));
  EXPECT_FALSE(in.variable("once").stepped);
  EXPECT_EQ(read<std::int32_t>(in, "once", std::nullopt), expected_of<std::int32_t>("", shape, every, {5}));
  in.close();
}

TEST_P(Reductions, TypesOfResults) {
  const Extent shape = {5};
  const Box mine = part_of(shape, 0, rank_, size_);  // with 7 ranks, some are empty
  File out = create();
  for (int step = 0; step < 2; ++step) {
    write<std::int32_t>(out, "mean", shape, mine, step, step, {.operation = "mean", .steps = 2})
        .wait_stored();
    write<std::uint16_t>(out, "sum", shape, mine, step, step, {.operation = "sum", .steps = 2}).wait_stored();
    write<std::int8_t>(out, "max", shape, mine, step, step, {.operation = "max", .steps = 2}).wait_stored();
    write<std::complex<float>>(out, "complex", shape, mine, step, step, {.operation = "mean", .steps = 2})
        .wait_stored();
  }
  out.close();
  Reader in = open();
  EXPECT_EQ(in.variable("mean").type, Type::float64);
  EXPECT_EQ(in.variable("sum").type, Type::uint64);
  EXPECT_EQ(in.variable("max").type, Type::int8);
  EXPECT_EQ(in.variable("complex").type, Type::complex64);
  for (std::uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(read<double>(in, "mean", 1)[i],
              (static_cast<double>(value_at<std::int32_t>(i, 0)) + value_at<std::int32_t>(i, 1)) / 2);
    EXPECT_EQ(read<std::uint64_t>(in, "sum", 1)[i],
              std::uint64_t{value_at<std::uint16_t>(i, 0)} + value_at<std::uint16_t>(i, 1));
    EXPECT_EQ(read<std::int8_t>(in, "max", 1)[i],
              std::max(value_at<std::int8_t>(i, 0), value_at<std::int8_t>(i, 1)));
    EXPECT_EQ(read<std::complex<float>>(in, "complex", 1)[i],
              (value_at<std::complex<float>>(i, 0) + value_at<std::complex<float>>(i, 1)) / 2.0F);
  }
  in.close();
}

TEST_P(Reductions, SeveralBlocksPerRankAndStep) {
  const Extent shape = {4, 14};
  const Reduction reduction{.operation = "sum", .steps = 2};
  File out = create();
  for (int step = 0; step < 4; ++step) {
    for (const int part : {rank_, 2 * size_ - 1 - rank_})
      write<double>(out, "v", shape, part_of(shape, 1, part, 2 * size_), step, step, reduction).wait_stored();
  }
  out.close();
  Reader in = open();
  ASSERT_THAT(in.variable("v").steps, ElementsAre(1, 3));
  EXPECT_EQ(read<double>(in, "v", 1), expected_of<double>("sum", shape, {}, {0, 1}));
  EXPECT_EQ(read<double>(in, "v", 3), expected_of<double>("sum", shape, {}, {2, 3}));
  in.close();
}

TEST_P(Reductions, TheDecompositionMayChangeBetweenResults) {
  const Extent shape = {6, 7};
  File out = create();
  for (int step = 0; step < 4; ++step) {
    const Box mine = part_of(shape, step < 2 ? 0 : 1, rank_, size_);
    write<double>(out, "v", shape, mine, step, step, {.operation = "max", .steps = 2}).wait_stored();
  }
  // Within one it may not; the call is refused everywhere, and can be made again.
  const Reduction reduction{.operation = "max", .steps = 2};
  write<double>(out, "v", shape, part_of(shape, 0, rank_, size_), 4, 4, reduction).wait_stored();
  const Box other = rank_ == size_ - 1 ? Box{{0, 0}, {1, 2}} : part_of(shape, 0, rank_, size_);
  expect_failure([&] { write<double>(out, "v", shape, other, 5, 5, reduction).wait_stored(); },
                 "of the first step of");
  write<double>(out, "v", shape, part_of(shape, 0, rank_, size_), 5, 5, reduction).wait_stored();
  out.close();
  Reader in = open();
  for (const int step : {1, 3, 5})
    EXPECT_EQ(read<double>(in, "v", step), expected_of<double>("max", shape, {}, {step - 1, step}));
  in.close();
}

TEST_P(Reductions, MisuseIsRefusedOnAllRanks) {
  const Extent shape = {8};
  const Box mine = part_of(shape, 0, rank_, size_);
  File out = create();
  const auto refused = [&](const std::string& name, std::optional<std::int64_t> step,
                           const Reduction& reduction, const std::string& words) {
    expect_failure([&] { write<double>(out, name, shape, mine, 0, step, reduction).wait_stored(); }, words);
  };
  const Reduction mean{.operation = "mean", .steps = 2};
  refused("v", 0, {.operation = "average"}, "no reduction 'average'");
  refused("v", 0, {.steps = 2}, "without an operation");
  refused("v", 0, {.every = {1, 1}}, "1 dimensions");
  refused("v", std::nullopt, mean, "without steps");
  refused("weir/v", 0, mean, "weir/");
  expect_failure(
      [&] { write<std::complex<double>>(out, "c", shape, mine, 0, 0, {.operation = "min"}).wait_stored(); },
      "have no min");
  write<double>(out, "v", shape, mine, 0, 5, mean).wait_stored();
  refused("v", 6, {.operation = "mean", .steps = 3}, "first written with mean of 2 steps");
  refused("v", 6, {}, "no reduction, the variable was first written with mean of 2 steps");
  refused("v", 4, mean, "steps count up");
  expect_failure([&] { out.reserve("v", Type::float64, shape, 6); }, "no room to reserve");
  expect_failure([&] { write<float>(out, "v", shape, mine, 0, 6, mean).wait_stored(); },
                 "first written as float64");
  if (size_ > 1) {
    refused("v", 6, {.operation = "mean", .steps = rank_ == 0 ? 2U : 4U}, "mean of 4 steps");
    // The first part twice, by two ranks: seen when the result is to be stored.
    const Box twice = part_of(shape, 0, rank_ == size_ - 1 ? 0 : rank_, 2);
    const bool overlap = rank_ == 0 || rank_ == size_ - 1;
    expect_failure(
        [&] {
          const Box box = overlap ? twice : Box{{0}, {0}};
          write<double>(out, "o", shape, box, 0, 0, {.operation = "max"}).wait_stored();
        },
        "overlap");
  }
  write<double>(out, "plain", shape, mine, 0, 6, {}).wait_stored();
  refused("plain", 7, mean, "without a reduction");
  expect_failure(
      [&] {
        std::vector<double> data = values_of<double>(shape, mine, 0);
        out.write("i", data,
                  {.shape = shape,
                   .offset = mine.offset,
                   .count = mine.count,
                   .step = 7,
                   .independent = true,
                   .reduce = mean})
            .wait_stored();
      },
      "cannot be reduced");
  write<double>(out, "v", shape, mine, 1, 6, mean).wait_stored();
  out.close();
  Reader in = open();
  EXPECT_EQ(read<double>(in, "v", 6), expected_of<double>("mean", shape, {}, {0, 1}));
  in.close();
}

TEST_P(Reductions, ASumThatOverflowsOnOneRankFailsOnAll) {
  const auto n = static_cast<std::uint64_t>(size_);
  const Box mine{{static_cast<std::uint64_t>(rank_)}, {1}};
  const Reduction sum{.operation = "sum", .steps = 2};
  File out = create();
  const auto put = [&](std::int64_t step, std::int64_t value) {
    out.write("n", std::vector<std::int64_t>{value},
              {.shape = {n}, .offset = mine.offset, .count = mine.count, .step = step, .reduce = sum})
        .wait_stored();
  };
  const std::int64_t mine_first = rank_ == size_ - 1 ? INT64_MAX : 1;
  put(0, mine_first);
  expect_failure([&] { put(1, 1); }, "does not fit into 64 bits");
  put(2, 20);
  put(3, 22);
  out.close();
  Reader in = open();
  ASSERT_THAT(in.variable("n").steps, ElementsAre(3));
  EXPECT_EQ(read<std::int64_t>(in, "n", 3), std::vector<std::int64_t>(n, 42));
  in.close();
}

TEST_P(Reductions, MemoryIsCounted) {
  auto file = files::OutputFile::create(mpi::Comm::duplicate(world()), path(), {.backend = GetParam()});
  ASSERT_TRUE(file);
  const Extent shape = {static_cast<std::uint64_t>(size_) * 100};
  const Box mine = part_of(shape, 0, rank_, size_);
  const std::vector<double> data = values_of<double>(shape, mine, 0);
  for (int step = 0; step < 6; ++step) {
    const Status written = (*file)->write({.name = "v",
                                           .type = Type::float64,
                                           .shape = shape,
                                           .offset = mine.offset,
                                           .count = mine.count,
                                           .step = step,
                                           .data = reinterpret_cast<const std::byte*>(data.data()),
                                           .elements = data.size(),
                                           .reduce = {.operation = "mean", .steps = 3}});
    ASSERT_TRUE(written) << written.error().message();
    EXPECT_EQ((*file)->peak_reducing_memory(), 800U);
  }
  EXPECT_TRUE((*file)->close(std::nullopt));
}

std::vector<std::string> tried_backends() {
  std::vector<std::string> names;
  for (const char* name : {"posix", "mpiio", "hdf5", "adios2-bp4", "adios2-bp5"}) {
    if (backends::find(name)) names.emplace_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Reductions, testing::ValuesIn(tried_backends()), [](const auto& instance) {
  std::string name = instance.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace

}  // namespace weir::test
