// The arithmetic of reductions, and the collecting of steps without MPI.
#include "files/reduction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "files/reducing_writer.hpp"

namespace weir::files {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
const std::byte* bytes(const std::vector<T>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

// The result of some steps of T, as R.
template <class R, class T>
std::vector<R> reduced(const std::string& operation, const std::vector<std::vector<T>>& steps) {
  EXPECT_EQ(result_type({.operation = operation}, type_of<T>()), type_of<R>());
  Accumulator accumulator(operation, type_of<T>(), steps.front().size());
  for (const auto& step : steps) accumulator.add(bytes(step));
  EXPECT_EQ(accumulator.count(), steps.size());
  std::vector<R> result(steps.front().size());
  const auto done = accumulator.finish();
  EXPECT_TRUE(done) << done.error().message();
  if (done && !result.empty()) std::memcpy(result.data(), *done, result.size() * sizeof(R));
  return result;
}

template <class T>
class ReductionOfReals : public testing::Test {};
using Reals = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                             std::uint16_t, std::uint32_t, std::uint64_t, float, double, long double>;
TYPED_TEST_SUITE(ReductionOfReals, Reals);

TYPED_TEST(ReductionOfReals, AllOperations) {
  using T = TypeParam;
  using Mean = std::conditional_t<std::is_integral_v<T>, double, T>;
  using Sum = std::conditional_t<!std::is_integral_v<T>, T,
                                 std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
  const std::vector<std::vector<T>> steps = {{1, 100, 7}, {2, 100, 5}, {4, 100, 6}, {3, 100, 0}};
  EXPECT_THAT((reduced<Mean, T>("mean", steps)), ElementsAre(Mean(2.5), Mean(100), Mean(4.5)));
  EXPECT_THAT((reduced<Sum, T>("sum", steps)),
              ElementsAre(Sum(10), Sum(400), Sum(18)));  // more than int8 holds
  EXPECT_THAT((reduced<T, T>("min", steps)), ElementsAre(T(1), T(100), T(0)));
  EXPECT_THAT((reduced<T, T>("max", steps)), ElementsAre(T(4), T(100), T(7)));
  EXPECT_THAT((reduced<T, T>("instant", steps)), ElementsAre(T(3), T(100), T(0)));
}

template <class T>
class ReductionOfComplex : public testing::Test {};
using Complexes = testing::Types<std::complex<float>, std::complex<double>, std::complex<long double>>;
TYPED_TEST_SUITE(ReductionOfComplex, Complexes);

TYPED_TEST(ReductionOfComplex, MeanAndSumButNoOrder) {
  using T = TypeParam;
  const std::vector<std::vector<T>> steps = {{T(1, -2)}, {T(3, 6)}};
  EXPECT_THAT((reduced<T, T>("mean", steps)), ElementsAre(T(2, 2)));
  EXPECT_THAT((reduced<T, T>("sum", steps)), ElementsAre(T(4, 4)));
  EXPECT_THAT((reduced<T, T>("instant", steps)), ElementsAre(T(3, 6)));
  for (const char* operation : {"min", "max"}) {
    const Status refused = check({.operation = operation, .steps = 2}, type_of<T>(), {1});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().message(), HasSubstr(std::string("have no ") + operation));
  }
}

TEST(Reduction, ExtremesOfTypes) {
  const auto lowest = std::numeric_limits<std::int64_t>::min();
  const auto highest = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT((reduced<std::int64_t, std::int64_t>("min", {{highest}, {lowest}})), ElementsAre(lowest));
  EXPECT_THAT((reduced<double, std::int64_t>("mean", {{highest}, {highest}, {highest}})),
              ElementsAre(9223372036854775807.0));
  const auto all = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT((reduced<double, std::uint64_t>("mean", {{all}, {0}})), ElementsAre(9223372036854775807.5));
  EXPECT_THAT((reduced<std::int64_t, std::int8_t>("sum", {{-128}, {-128}})), ElementsAre(-256));

  Accumulator sum("sum", Type::int64, 1);
  sum.add(bytes(std::vector{highest}));
  sum.add(bytes(std::vector<std::int64_t>{1}));
  const auto overflow = sum.finish();
  ASSERT_FALSE(overflow);
  EXPECT_THAT(overflow.error().message(), HasSubstr("does not fit into 64 bits"));
  sum.add(bytes(std::vector<std::int64_t>{5}));
  const auto result = sum.finish();
  ASSERT_TRUE(result);
  std::int64_t out = 0;
  std::memcpy(&out, *result, sizeof out);
  EXPECT_EQ(out, 5);
}

TEST(Reduction, FloatsAreSummedInDoublePrecision) {
  std::vector<std::vector<float>> steps(1001, {1.0F});
  steps[0] = {16777216.0F};  // 2^24: adding 1 to it in single precision changes nothing
  EXPECT_THAT((reduced<float, float>("sum", steps)), ElementsAre(16777216.0F + 1000.0F));
}

TEST(Reduction, NanWinsWhereverItIs) {
  for (const char* operation : {"mean", "sum", "min", "max"}) {
    for (std::size_t where = 0; where < 3; ++where) {
      std::vector<std::vector<double>> steps = {{1, 1}, {2, 2}, {3, 3}};
      steps[where][1] = NAN;
      const auto result = reduced<double, double>(operation, steps);
      EXPECT_FALSE(std::isnan(result[0])) << operation << where;
      EXPECT_TRUE(std::isnan(result[1])) << operation << where;
    }
  }
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT((reduced<double, double>("min", {{infinity}, {-infinity}})), ElementsAre(-infinity));
}

TEST(Reduction, MemoryIsCountedAndDataNeedNotBeAligned) {
  EXPECT_EQ(Accumulator("mean", Type::float64, 100).bytes(), 800U);
  EXPECT_EQ(Accumulator("mean", Type::float32, 100).bytes(), 800U);
  EXPECT_EQ(Accumulator("min", Type::int8, 100).bytes(), 100U);
  EXPECT_EQ(Accumulator("instant", Type::complex128, 3).bytes(), 48U);
  EXPECT_EQ(Accumulator("sum", Type::int16, 0).bytes(), 0U);
  std::vector<std::byte> buffer(1 + 2 * sizeof(double));
  const double values[] = {1.5, -2};
  std::memcpy(buffer.data() + 1, values, sizeof values);
  Accumulator max("max", Type::float64, 2);
  max.add(buffer.data() + 1);
  max.add(buffer.data() + 1);
  const auto result = max.finish();
  ASSERT_TRUE(result);
  EXPECT_EQ(std::memcmp(*result, values, sizeof values), 0);
}

TEST(Reduction, WrongOnesAreRefused) {
  const auto message = [](const Reduction& reduction, Type type = Type::float64,
                          const Extent& shape = {4, 4}) {
    const Status status = check(reduction, type, shape);
    return status ? "accepted" : status.error().message();
  };
  EXPECT_EQ(message({}), "accepted");
  EXPECT_EQ(message({.operation = "mean", .steps = 3, .every = {1, 7}}), "accepted");
  EXPECT_THAT(message({.operation = "meann", .steps = 3}), HasSubstr("did you mean 'mean'"));
  EXPECT_THAT(message({.operation = "median"}), HasSubstr("no reduction 'median'"));
  EXPECT_THAT(message({.operation = "mean", .steps = 0}), HasSubstr("0 steps"));
  EXPECT_THAT(message({.steps = 4}), HasSubstr("4 steps without an operation"));
  EXPECT_THAT(message({.every = {2}}), HasSubstr("1 numbers, the array [4, 4] has 2 dimensions"));
  EXPECT_THAT(message({.every = {2, 0}}), HasSubstr("0th"));
  EXPECT_EQ(describe({.operation = "mean", .steps = 10, .every = {2, 3}}),
            "mean of 10 steps, every [2, 3] points");
}

TEST(Subsampling, ShapesAreRoundedUp) {
  EXPECT_EQ(result_shape({10, 7, 1}, {3, 7, 2}), (Extent{4, 1, 1}));
  EXPECT_EQ(result_shape({0, 5}, {3, 2}), (Extent{0, 3}));
  EXPECT_EQ(result_shape({10}, {}), (Extent{10}));
  EXPECT_EQ(result_shape({10}, {UINT64_MAX}), (Extent{1}));
  EXPECT_EQ(result_box({{3}, {2}}, {5}), (Box{{1}, {0}}));  // 3 and 4: no multiple of 5
  EXPECT_EQ(result_box({{3}, {3}}, {5}), (Box{{1}, {1}}));
  EXPECT_EQ(result_box({{10}, {0}}, {3}), (Box{{4}, {0}}));
}

// However the array is cut, the blocks' results make up the array of results, each point once.
TEST(Subsampling, DoesNotDependOnTheDecomposition) {
  const Extent shape = {11, 1, 8};
  std::vector<std::int32_t> whole(volume(shape));
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<std::int32_t>(i);
  for (const Extent& every : {Extent{1, 1, 1}, {2, 1, 3}, {3, 5, 1}, {20, 2, 20}, {4, 1, 8}}) {
    const Extent small = result_shape(shape, every);
    std::vector<std::int32_t> expected;
    for (std::uint64_t x = 0; x < shape[0]; x += every[0])
      for (std::uint64_t z = 0; z < shape[2]; z += every[2]) expected.push_back(whole[x * 8 + z]);
    ASSERT_EQ(expected.size(), volume(small));
    for (const std::uint64_t cut :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4}, std::uint64_t{11}}) {
      std::vector<std::int32_t> result(expected.size(), -1);
      for (const Box& box :
           {Box{{0, 0, 0}, {cut, 1, 3}}, Box{{0, 0, 3}, {cut, 1, 5}}, Box{{cut, 0, 0}, {11 - cut, 1, 8}}}) {
        std::vector<std::int32_t> mine(volume(box.count));
        copy_shared(Box::whole(shape), bytes(whole), box, reinterpret_cast<std::byte*>(mine.data()), 4);
        const Box kept = result_box(box, every);
        std::vector<std::int32_t> out(volume(kept.count));
        subsample(box, bytes(mine), 4, every, reinterpret_cast<std::byte*>(out.data()));
        copy_shared(kept, bytes(out), Box::whole(small), reinterpret_cast<std::byte*>(result.data()), 4);
      }
      EXPECT_EQ(result, expected) << format_extent(every) << " cut at " << cut;
    }
  }
}

// A file that notes what is stored in it.
struct Notes {
  struct Entry {
    std::optional<std::int64_t> step;
    std::vector<Box> boxes;
    std::vector<int> owners;
    std::vector<std::vector<double>> values;
  };
  std::vector<Entry> entries;
  std::vector<std::string> defined;

  ReducingWriter writer() {
    return ReducingWriter(
        mpi::Comm::serial(),
        {.usable = [] { return Status(); },
         .accepts = [](const backends::Variable&, std::optional<std::int64_t>) { return Status(); },
         .define =
             [this](const backends::Variable& variable) {
               defined.push_back(variable.name);
               return Status();
             },
         .write =
             [this](const backends::Variable&, std::optional<std::int64_t> step,
                    std::span<const ReducedBlock> blocks) {
               Entry entry{.step = step};
               for (const ReducedBlock& block : blocks) {
                 entry.boxes.push_back(block.box);
                 entry.owners.push_back(block.owner);
                 const auto* values = reinterpret_cast<const double*>(block.data);
                 entry.values.emplace_back(values, values + volume(block.box.count));
               }
               entries.push_back(entry);
               return Status();
             }});
  }
};

Status put(ReducingWriter& writer, const Reduction& reduction, std::optional<std::int64_t> step,
           const std::vector<std::pair<Box, std::vector<double>>>& blocks) {
  std::vector<ReducedBlock> all;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    all.push_back({blocks[i].first, bytes(blocks[i].second), static_cast<int>(blocks[i].first.offset[0])});
  return writer.write({.name = "T",
                       .type = Type::float64,
                       .shape = {8},
                       .step = step,
                       .reduction = reduction,
                       .blocks = all});
}

const Reduction mean_of_two = {.operation = "mean", .steps = 2};

TEST(ReducingWriter, ManyBlocksInAnyOrder) {
  Notes notes;
  ReducingWriter writer = notes.writer();
  const Box a{{0}, {2}};
  const Box b{{5}, {1}};
  const Box none{{8}, {0}};
  ASSERT_TRUE(put(writer, mean_of_two, 3, {{a, {1, 2}}, {b, {10}}, {none, {}}, {none, {}}}));
  EXPECT_TRUE(notes.entries.empty());
  EXPECT_THAT(notes.defined, ElementsAre("T"));
  ASSERT_TRUE(put(writer, mean_of_two, 7, {{none, {}}, {b, {30}}, {none, {}}, {a, {3, 6}}}));
  ASSERT_EQ(notes.entries.size(), 1U);
  EXPECT_EQ(notes.entries[0].step, 7);
  EXPECT_THAT(notes.entries[0].boxes, ElementsAre(a, b, none, none));
  EXPECT_THAT(notes.entries[0].owners, ElementsAre(0, 5, 8, 8));
  EXPECT_THAT(notes.entries[0].values[0], ElementsAre(2, 4));
  EXPECT_THAT(notes.entries[0].values[1], ElementsAre(20));
  EXPECT_EQ(writer.memory(), 3 * sizeof(double));
  EXPECT_EQ(writer.peak_memory(), 3 * sizeof(double)) << "a result takes no memory of its own";
  EXPECT_THAT(notes.defined, ElementsAre("T"));

  // After a result the blocks may be others.
  ASSERT_TRUE(put(writer, mean_of_two, 8, {{Box{{0}, {1}}, {5}}}));
  ASSERT_TRUE(put(writer, mean_of_two, 9, {{Box{{0}, {1}}, {7}}}));
  ASSERT_EQ(notes.entries.size(), 2U);
  EXPECT_THAT(notes.entries[1].values[0], ElementsAre(6));
  EXPECT_EQ(writer.memory(), sizeof(double));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(notes.entries.size(), 2U);
}

TEST(ReducingWriter, SeveralCallsInAStep) {
  Notes notes;
  ReducingWriter writer = notes.writer();
  const Box a{{0}, {1}};
  const Box b{{4}, {1}};
  for (std::int64_t step = 0; step < 4; ++step) {
    ASSERT_TRUE(put(writer, mean_of_two, step, {{a, {double(step)}}}));
    ASSERT_TRUE(put(writer, mean_of_two, step, {{b, {double(-step)}}}));
  }
  ASSERT_EQ(notes.entries.size(), 4U);
  EXPECT_EQ(notes.entries[1].step, 1);
  EXPECT_THAT(notes.entries[1].values[0], ElementsAre(-0.5));
  EXPECT_EQ(notes.entries[3].step, 3);
  EXPECT_THAT(notes.entries[2].values[0], ElementsAre(2.5));

  // A third call in the second step of a result; and a step that lacks one.
  ASSERT_TRUE(put(writer, mean_of_two, 4, {{a, {1}}}));
  ASSERT_TRUE(put(writer, mean_of_two, 4, {{b, {1}}}));
  ASSERT_TRUE(put(writer, mean_of_two, 5, {{a, {1}}}));
  Status refused = put(writer, mean_of_two, 6, {{a, {1}}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(),
              HasSubstr("step 5 was written in 1 calls, the steps before it in 2"));
  ASSERT_FALSE(writer.finish());
  ASSERT_TRUE(put(writer, mean_of_two, 5, {{b, {1}}}));
  refused = put(writer, mean_of_two, 5, {{b, {1}}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("more calls than the first step"));
  EXPECT_TRUE(writer.finish());
}

TEST(ReducingWriter, LeftOverStepsAreStoredAtTheEnd) {
  Notes notes;
  ReducingWriter writer = notes.writer();
  const Reduction of_four{.operation = "sum", .steps = 4};
  for (std::int64_t step = 1; step <= 6; ++step)
    ASSERT_TRUE(put(writer, of_four, step, {{Box{{2}, {1}}, {double(step)}}}));
  ASSERT_TRUE(writer.finish());
  ASSERT_EQ(notes.entries.size(), 2U);
  EXPECT_EQ(notes.entries[0].step, 4);
  EXPECT_THAT(notes.entries[0].values[0], ElementsAre(10));
  EXPECT_EQ(notes.entries[1].step, 6);
  EXPECT_THAT(notes.entries[1].values[0], ElementsAre(11));
}

TEST(ReducingWriter, ARefusedCallChangesNothing) {
  Notes notes;
  ReducingWriter writer = notes.writer();
  const Box a{{0}, {1}};
  ASSERT_TRUE(put(writer, mean_of_two, 0, {{a, {1}}}));
  EXPECT_FALSE(put(writer, mean_of_two, 1, {{Box{{1}, {1}}, {9}}}));           // another block
  EXPECT_FALSE(put(writer, mean_of_two, 1, {{a, {9}}, {a, {9}}}));             // one more
  EXPECT_FALSE(put(writer, mean_of_two, 1, {}));                               // none
  EXPECT_FALSE(put(writer, mean_of_two, -1, {{a, {9}}}));                      // a step that has passed
  EXPECT_FALSE(put(writer, mean_of_two, std::nullopt, {{a, {9}}}));            // no step
  EXPECT_FALSE(put(writer, {.operation = "max", .steps = 2}, 1, {{a, {9}}}));  // another reduction
  EXPECT_FALSE(put(writer, mean_of_two, 1, {{Box{{7}, {2}}, {9, 9}}}));        // outside
  ASSERT_TRUE(put(writer, mean_of_two, 1, {{a, {3}}}));
  ASSERT_EQ(notes.entries.size(), 1U);
  EXPECT_THAT(notes.entries[0].values[0], ElementsAre(2));
}

}  // namespace

}  // namespace weir::files
