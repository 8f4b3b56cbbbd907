// One suite for all backends: what every file format must do, through the programming interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>

#include "backends/backend.hpp"
#include "files/input_file.hpp"
#include "support.hpp"

namespace weir::test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> available_backends() {
  std::vector<std::string> names;
  for (const backends::Entry& entry : backends::table()) {
    // Only the process that wrote it can read what is kept in memory; an I/O server is another one.
    const bool readable = entry.name != "null" && (entry.name != "memory" || mode() != "servers");
    if (entry.missing.empty() && readable) names.emplace_back(entry.name);
  }
  return names;
}

std::string file_name(const std::string& backend) {
  if (backend.find("hdf5") != std::string::npos) return "data.h5";
  return backend.starts_with("adios2") ? "data.bp" : "data.dat";
}

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  const std::string& backend() const { return GetParam(); }
  const backends::Entry& entry() const { return **backends::find(backend()); }
  std::string path() const { return folder_ / file_name(backend()); }
  File create(std::map<std::string, std::string> options = {}, bool checksums = false) {
    return session_.create(path(),
                           {.backend = backend(), .options = std::move(options), .checksums = checksums});
  }
  Reader open() { return session_.open(path(), {.backend = backend()}); }

  template <class T>
  void write_part(File& file, const std::string& name, const Extent& shape, const Box& box, int seed,
                  std::optional<std::int64_t> step = {}) {
    const std::vector<T> data = values_of<T>(shape, box, seed);
    file.write(name, data, {.shape = shape, .offset = box.offset, .count = box.count, .step = step})
        .wait_stored();
  }
  template <class T>
  void expect_part(Reader& file, const std::string& name, const Extent& shape, const Box& box, int seed,
                   std::optional<std::int64_t> step = {}) {
    std::vector<T> data(volume(box.count), T(77));
    file.read(name, data, {.offset = box.offset, .count = box.count, .step = step});
    EXPECT_EQ(data, values_of<T>(shape, box, seed)) << name << " " << format_box(box);
  }
  // The same failure everywhere: code and text.
  template <class Body>
  void expect_failure(Body&& body, ErrorCode code, const std::string& words) {
    std::string message = "no failure";
    try {
      body();
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
      message = error.what();
    }
    EXPECT_THAT(message, HasSubstr(words));
    const auto all = mpi::Comm::duplicate(world()).gather_to_all(message);
    for (const std::string& other : all) EXPECT_EQ(other, message);
  }

  int rank_ = world_rank();
  int size_ = world_size();
  SharedFolder folder_;
  Session& session_ = session();
};

TEST_P(Conformance, EveryTypeComesBack) {
  const Extent shape = {13, 7};
  File out = create();
  std::vector<Type> stored;
  for (int code = 0; code < type_count; ++code) {
    const auto type = static_cast<Type>(code);
    if (entry().stores != nullptr && !entry().stores(type)) continue;
    stored.push_back(type);
    with_type(type, [&](auto element) {
      write_part<decltype(element)>(out, "as_" + std::string(name_of(type)), shape,
                                    part_of(shape, 0, rank_, size_), code);
    });
  }
  out.close();
  Reader in = open();
  ASSERT_EQ(in.variables().size(), stored.size());
  for (const Type type : stored) {
    const std::string name = "as_" + std::string(name_of(type));
    EXPECT_EQ(in.variable(name).type, type);
    EXPECT_EQ(in.variable(name).shape, shape);
    EXPECT_FALSE(in.variable(name).stepped);
    with_type(type, [&](auto element) {
      expect_part<decltype(element)>(in, name, shape, part_of(shape, 1, rank_, size_),
                                     static_cast<int>(type));
    });
  }
  in.close();
}

TEST_P(Conformance, AnyShapeAndAnotherDecompositionOnReading) {
  const std::vector<Extent> shapes = {{1},      {97},      {5, 1},       {1, 31},
                                      {17, 19}, {3, 5, 7}, {2, 3, 5, 7}, {1, 1, 1, 1, 11}};
  File out = create();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    write_part<double>(out, "v" + std::to_string(i), shapes[i],
                       part_of(shapes[i], shapes[i].size() - 1, rank_, size_), static_cast<int>(i));
  }
  out.close();
  Reader in = open();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::string name = "v" + std::to_string(i);
    expect_part<double>(in, name, shapes[i], part_of(shapes[i], 0, size_ - 1 - rank_, size_),
                        static_cast<int>(i));
    expect_part<double>(in, name, shapes[i], Box::whole(shapes[i]), static_cast<int>(i));
  }
  in.close();
}

TEST_P(Conformance, EmptyBlocksAndEmptyArrays) {
  const Extent shape = {11, 3};
  File out = create();
  // All of it from the last rank, nothing from the others.
  const Box mine = rank_ == size_ - 1 ? Box::whole(shape) : Box{{0, 0}, {0, 3}};
  write_part<float>(out, "by_one", shape, mine, 1);
  const Extent nothing = {0, 5};
  write_part<float>(out, "nothing", nothing, Box::whole(nothing), 2);
  write_part<float>(out, "nobody", shape, Box{{11, 3}, {0, 0}}, 3);
  out.close();
  Reader in = open();
  expect_part<float>(in, "by_one", shape, part_of(shape, 0, rank_, size_), 1);
  EXPECT_EQ(in.variable("nothing").shape, nothing);
  expect_part<float>(in, "nothing", nothing, Box::whole(nothing), 2);
  std::vector<float> zeros(33, 5.0F);
  in.read("nobody", zeros);
  EXPECT_EQ(zeros, std::vector<float>(33, 0.0F));
  in.close();
}

TEST_P(Conformance, ElementsNobodyWroteAreZero) {
  const Extent shape = {8, 16};
  File out = create();
  Box left_half = part_of(shape, 0, rank_, size_);
  left_half.count[1] = 8;
  write_part<std::int32_t>(out, "half", shape, left_half, 4);
  write_part<std::int32_t>(out, "full", shape, part_of(shape, 0, rank_, size_), 5);
  out.close();
  Reader in = open();
  std::vector<std::int32_t> data(8 * 16, -1);
  in.read("half", data);
  const auto expected = values_of<std::int32_t>(shape, Box::whole(shape), 4);
  for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], i % 16 < 8 ? expected[i] : 0) << i;
  expect_part<std::int32_t>(in, "full", shape, Box::whole(shape), 5);
  in.close();
}

TEST_P(Conformance, StepsWithNumbersOfTheirOwn) {
  const Extent shape = {6, 5};
  const Box mine = part_of(shape, 0, rank_, size_);
  File out = create();
  write_part<double>(out, "grid", shape, mine, 99);
  for (const int step : {0, 10, 25}) {
    write_part<double>(out, "fields/T", shape, mine, step, step);
    if (step != 10) write_part<std::int16_t>(out, "fields/mask", shape, mine, step, step);
  }
  for (const int step : {0, 1, 2, 3}) write_part<float>(out, "late", shape, mine, step, 25 + step);
  out.close();
  Reader in = open();
  EXPECT_TRUE(in.variable("fields/T").stepped);
  EXPECT_THAT(in.variable("fields/T").steps, ElementsAre(0, 10, 25));
  EXPECT_THAT(in.variable("fields/mask").steps, ElementsAre(0, 25));
  EXPECT_THAT(in.variable("late").steps, ElementsAre(25, 26, 27, 28));
  EXPECT_EQ(in.variables().size(), 4U);
  const Box other = part_of(shape, 1, rank_, size_);
  for (const int step : {25, 0, 10}) expect_part<double>(in, "fields/T", shape, other, step, step);
  for (const int step : {0, 25}) expect_part<std::int16_t>(in, "fields/mask", shape, other, step, step);
  for (const int step : {3, 0}) expect_part<float>(in, "late", shape, other, step, 25 + step);
  expect_part<double>(in, "grid", shape, other, 99);
  expect_failure([&] { expect_part<double>(in, "fields/T", shape, other, 1, 11); }, ErrorCode::not_found,
                 "no step 11");
  expect_failure([&] { expect_part<double>(in, "fields/T", shape, other, 1); }, ErrorCode::invalid_argument,
                 "say which step");
  in.close();
}

TEST_P(Conformance, OneStepIsStillAStep) {
  const Extent shape = {9};
  File out = create();
  write_part<double>(out, "T", shape, part_of(shape, 0, rank_, size_), 3, 7);
  out.close();
  Reader in = open();
  EXPECT_TRUE(in.variable("T").stepped);
  EXPECT_THAT(in.variable("T").steps, ElementsAre(7));
  expect_part<double>(in, "T", shape, Box::whole(shape), 3, 7);
  in.close();
}

TEST_P(Conformance, AnArrayInSeveralWrites) {
  const Extent shape = {4, 12};
  File out = create();
  for (int piece = 0; piece < 3; ++piece) {
    Box box = part_of(shape, 1, piece, 3);
    const Box rows = part_of(shape, 0, rank_, size_);
    box.offset[0] = rows.offset[0];
    box.count[0] = rows.count[0];
    write_part<std::uint64_t>(out, "v", shape, box, 6);
  }
  out.close();
  Reader in = open();
  expect_part<std::uint64_t>(in, "v", shape, Box::whole(shape), 6);
  in.close();
}

TEST_P(Conformance, Attributes) {
  const std::vector<double> origin = {0.1, -2.5e300, 0};
  const std::vector<std::int64_t> big = {INT64_MIN, INT64_MAX};
  File out = create();
  const Extent shape = {5};
  write_part<double>(out, "g/T", shape, part_of(shape, 0, rank_, size_), 1);
  out.set_attribute("title", "Müller's run, \"quoted\"\n2nd line");
  out.set_attribute("empty", "");
  out.set_attribute("none", Type::float32, nullptr, 0);
  out.set_variable_attribute("g/T", "unit", "K");
  out.set_variable_attribute("g/T", "origin", Type::float64, origin.data(), origin.size());
  out.set_attribute("big", Type::int64, big.data(), big.size());
  expect_failure([&] { out.set_attribute("title", "again"); }, ErrorCode::invalid_argument, "set before");
  expect_failure([&] { out.set_variable_attribute("nope", "unit", "m"); }, ErrorCode::not_found,
                 "no such variable");
  out.close();

  Reader in = open();
  std::map<std::string, Attribute> found;
  for (const Attribute& attribute : in.attributes())
    found[attribute.variable + ":" + attribute.name] = attribute;
  EXPECT_EQ(found.size(), 6U);
  EXPECT_EQ(found[":title"].text, "Müller's run, \"quoted\"\n2nd line");
  EXPECT_TRUE(found[":empty"].is_text);
  EXPECT_EQ(found[":empty"].text, "");
  EXPECT_FALSE(found[":none"].is_text);
  EXPECT_TRUE(found[":none"].elements.empty());
  EXPECT_EQ(found["g/T:unit"].text, "K");
  EXPECT_EQ(found["g/T:origin"].type, Type::float64);
  EXPECT_EQ(found["g/T:origin"].elements, Values::of<double>(origin).bytes);
  EXPECT_EQ(found[":big"].elements, Values::of<std::int64_t>(big).bytes);
  in.close();
}

TEST_P(Conformance, AttributesOfEveryType) {
  const std::uint64_t count = 5;
  const Extent shape = {count};
  File out = create();
  write_part<double>(out, "T", shape, part_of(shape, 0, rank_, size_), 1);
  std::map<std::string, Values> expected;
  for (int code = 0; code < type_count; ++code) {
    const auto type = static_cast<Type>(code);
    if (entry().stores != nullptr && !entry().stores(type)) continue;
    with_type(type, [&](auto element) {
      using T = decltype(element);
      Values values = Values::of<T>(values_of<T>(shape, Box::whole(shape), code));
      // What lies in memory beside a value may differ between ranks.
      if (type == Type::long_double || type == Type::complex_long_double) {
        constexpr std::size_t used = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double);
        for (std::size_t at = 0; at < values.bytes.size(); ++at) {
          if (at % sizeof(long double) >= used) values.bytes[at] = static_cast<std::byte>(rank_ + 1);
        }
      }
      const std::string name = "as_" + std::string(name_of(type));
      out.set_attribute(name, type, values.bytes.data(), count);
      out.set_variable_attribute("T", name, type, values.bytes.data(), 1);
      values.clear_padding();
      expected["file:" + name] = values;
      values.bytes.resize(size_of(type));
      expected["T:" + name] = values;
    });
  }
  out.close();
  Reader in = open();
  std::map<std::string, Values> found;
  for (const Attribute& attribute : in.attributes()) {
    found[(attribute.variable.empty() ? "file" : attribute.variable) + ":" + attribute.name] = {
        attribute.type, attribute.elements};
  }
  EXPECT_EQ(found.size(), expected.size());
  for (auto& [name, values] : found) {
    values.clear_padding();
    EXPECT_EQ(values, expected[name]) << name;
  }
  in.close();
}

TEST_P(Conformance, NamesThatTheFormatUsesItselfAreRefusedAtOnce) {
  File out = create();
  const Extent shape = {static_cast<std::uint64_t>(size_)};
  write_part<double>(out, "T", shape, part_of(shape, 0, rank_, size_), 1);
  for (const std::string_view name : entry().own_attributes) {
    expect_failure([&] { out.set_attribute(std::string(name), "mine"); }, ErrorCode::unsupported,
                   std::string(name));
    out.set_variable_attribute("T", std::string(name), "mine");
  }
  out.close();
  Reader in = open();
  EXPECT_EQ(in.attributes().size(), entry().own_attributes.size());
  expect_part<double>(in, "T", shape, Box::whole(shape), 1);
  in.close();
}

TEST_P(Conformance, IndependentWritesOfDifferentRanksDoNotOverlap) {
  if (size_ < 2) GTEST_SKIP() << "needs two ranks";
  const Extent shape = {16};
  const std::vector<double> data(8, 1.0);
  const auto write = [&](File& out, std::uint64_t offset, bool independent) {
    out.write("v", data, {.offset = {offset}, .count = {8}, .step = 3, .independent = independent})
        .wait_stored();
  };
  // Nobody can know before the ranks meet: the close fails, and no file is left.
  const auto overlap_on_closing = [&] {
    File out = create({}, true);
    out.reserve("v", Type::float64, shape, 3);
    if (rank_ < 2) write(out, static_cast<std::uint64_t>(rank_), true);
    out.close();
  };
  std::string message;
  try {
    overlap_on_closing();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unsupported) return;  // a format may refuse, but only in so many words
    message = error.what();
  }
  EXPECT_THAT(
      message,
      HasSubstr("the blocks of rank 0 (offset [0] count [8]) and rank 1 (offset [1] count [8]) overlap"));
  EXPECT_THAT(message, HasSubstr("'v', step 3"));
  EXPECT_THAT(folder_.names(), ElementsAre());
  // A collective write is where they meet; it is refused, and the file goes on.
  File out = create();
  out.reserve("v", Type::float64, shape, 3);
  if (rank_ == 1) write(out, 0, true);
  MPI_Barrier(world());
  const std::uint64_t count = rank_ == 0 ? 8 : 0;
  const auto together = [&](std::uint64_t offset) {
    out.write("v", std::vector<double>(count, 2.0), {.offset = {offset}, .count = {count}, .step = 3})
        .wait_stored();
  };
  expect_failure([&] { together(4); }, ErrorCode::invalid_argument, "overlap");
  together(8);
  // What was written together is known to everybody.
  if (rank_ == 1) {
    EXPECT_THAT(failure_of([&] { write(out, 7, true); }), HasSubstr("overlap"));
  }
  out.close();
  Reader in = open();
  std::vector<double> back(16);
  in.read("v", back, {.step = 3});
  EXPECT_EQ(back[7], 1);
  EXPECT_EQ(back[8], 2);
  in.close();
}

TEST_P(Conformance, IndependentWritesAndReads) {
  const Extent shape = {static_cast<std::uint64_t>(size_), 6};
  File out = create();
  try {
    out.reserve("v", Type::float64, shape, 0);
    // Odd ranks do not take part at all.
    const Box mine{{static_cast<std::uint64_t>(rank_), 0}, {1, 6}};
    if (rank_ % 2 == 0) {
      out.write("v", values_of<double>(shape, mine, 8),
                {.offset = mine.offset, .count = mine.count, .step = 0, .independent = true})
          .wait_stored();
    }
    out.close();
  } catch (const Error& error) {
    // A format may refuse, but only in so many words.
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    return;
  }
  Reader in = open();
  if (rank_ == 0) {
    for (int row = 0; row < size_; row += 2) {
      const Box box{{static_cast<std::uint64_t>(row), 0}, {1, 6}};
      std::vector<double> data(6);
      in.read("v", data, {.offset = box.offset, .count = box.count, .step = 0, .independent = true});
      EXPECT_EQ(data, values_of<double>(shape, box, 8));
    }
  }
  in.close();
}

TEST_P(Conformance, WrongArgumentsFailEverywhereAndLeaveTheFileWhole) {
  const Extent shape = {10, 4};
  const Box mine = part_of(shape, 0, rank_, size_);
  File out = create();
  write_part<double>(out, "T", shape, mine, 1, 0);
  const std::vector<double> data(volume(mine.count));
  const int last = size_ - 1;
  // One rank is wrong, all ranks hear of it.
  expect_failure(
      [&] {
        const std::uint64_t first = rank_ == last ? 11 : mine.offset[0];
        out.write("T", data, {.shape = shape, .offset = {first, 0}, .count = mine.count, .step = 1})
            .wait_stored();
      },
      ErrorCode::invalid_argument, "lies outside the array");
  expect_failure(
      [&] {
        out.write("T", std::vector<double>(1000),
                  {.shape = shape, .offset = mine.offset, .count = mine.count, .step = 1})
            .wait_stored();
      },
      ErrorCode::invalid_argument, "the buffer 1000");
  expect_failure(
      [&] {
        out.write("T", std::vector<float>(data.size()),
                  {.offset = mine.offset, .count = mine.count, .step = 1})
            .wait_stored();
      },
      ErrorCode::invalid_argument, "first written as float64");
  expect_failure(
      [&] {
        write_part<double>(out, "T", {10, 5}, Box{{0, 0}, {0, 0}}, 1, 1);
      },
      ErrorCode::invalid_argument, "first written with [10, 4]");
  expect_failure([&] { write_part<double>(out, "T", shape, mine, 1); }, ErrorCode::invalid_argument,
                 "no step is given");
  expect_failure([&] { write_part<double>(out, "T", shape, mine, 1, -1); }, ErrorCode::state,
                 "steps count up");
  expect_failure([&] { write_part<double>(out, "a//b", shape, mine, 1); }, ErrorCode::invalid_argument,
                 "empty");
  expect_failure([&] { write_part<double>(out, "weir/x", shape, mine, 1); }, ErrorCode::invalid_argument,
                 "kept for Weir");
  expect_failure([&] { write_part<double>(out, "T/x", shape, mine, 1); }, ErrorCode::invalid_argument,
                 "a variable and a group");
  expect_failure([&] { out.write("scalar", std::vector<double>(1), {}).wait_stored(); },
                 ErrorCode::invalid_argument, "no dimensions");
  expect_failure(
      [&] {
        write_part<double>(out, "huge", {1ULL << 40U, 1ULL << 40U}, Box{{0, 0}, {0, 0}}, 1);
      },
      ErrorCode::invalid_argument, "2^63");
  if (size_ > 1) {
    expect_failure([&] { write_part<double>(out, "all", shape, Box::whole(shape), 1); },
                   ErrorCode::invalid_argument, "overlap");
    expect_failure(
        [&] {
          const Extent mixed = rank_ == last ? Extent{20, 4} : shape;
          write_part<double>(out, "mixed", mixed, Box{{0, 0}, {0, 0}}, 1);
        },
        ErrorCode::disagreement, "differs between ranks");
    // Of an attribute that somebody else stores, close() would tell.
    if (mode().empty()) {
      expect_failure(
          [&] {
            if (rank_ == last) {
              out.set_attribute("x", "y");
            } else {
              write_part<double>(out, "other", shape, mine, 1);
            }
          },
          ErrorCode::disagreement, "differs between ranks");
    }
  }
  write_part<double>(out, "T", shape, mine, 2, 1);
  out.close();
  Reader in = open();
  expect_part<double>(in, "T", shape, Box::whole(shape), 1, 0);
  expect_part<double>(in, "T", shape, Box::whole(shape), 2, 1);
  expect_failure([&] { expect_part<double>(in, "t", shape, mine, 1, 0); }, ErrorCode::not_found,
                 "did you mean 'T'");
  expect_failure([&] { expect_part<float>(in, "T", shape, mine, 1, 0); }, ErrorCode::invalid_argument,
                 "holds float64");
  in.close();
}

TEST_P(Conformance, AFailureNobodyWaitedForStopsPublication) {
  const Extent shape = {10};
  File out = create();
  write_part<double>(out, "T", shape, part_of(shape, 0, rank_, size_), 1);
  out.write("U", std::vector<double>(3), {.shape = shape, .offset = {0}, .count = {4}});
  expect_failure([&] { out.close(); }, ErrorCode::invalid_argument, "the buffer 3");
  EXPECT_THAT(folder_.names(), ElementsAre());
}

TEST_P(Conformance, AppearsOnlyWhenWholeAndReplacesTheOldOne) {
  if (!entry().stores_files) return;
  const Extent shape = {100};
  const Box mine = part_of(shape, 0, rank_, size_);
  for (const int round : {1, 2}) {
    File out = create();
    write_part<double>(out, "T", shape, mine, round);
    MPI_Barrier(world());
    EXPECT_EQ(std::filesystem::exists(path()), round == 2);
    if (round == 2) {  // the old file is still whole and readable
      Reader old = open();
      expect_part<double>(old, "T", shape, Box::whole(shape), 1);
      old.close();
    }
    out.close();
    Reader in = open();
    expect_part<double>(in, "T", shape, Box::whole(shape), round);
    in.close();
  }
  const auto names = folder_.names();
  EXPECT_LE(names.size(), 2U);  // the file and its companion
  for (const std::string& name : names) EXPECT_EQ(name.find("partial"), std::string::npos) << name;
  // By content, without naming the backend.
  if (backend() != "faulty") {
    Reader in = session_.open(path());
    expect_part<double>(in, "T", shape, mine, 2);
    in.close();
  }
}

TEST_P(Conformance, AnExceptionGivesTheFileUp) {
  const Extent shape = {100};
  try {
    File out = create();
    write_part<double>(out, "T", shape, part_of(shape, 0, rank_, size_), 1);
    throw std::runtime_error("the program's own trouble");
  } catch (const std::runtime_error&) {
  }
  // Whoever writes it hears of it a little later.
  const auto comm = mpi::Comm::duplicate(world());
  for (int i = 0; i < 500 && !mode().empty(); ++i) {
    if (comm.max(folder_.names().empty() ? 0 : 1) == 0) break;
    ::usleep(10'000);
  }
  EXPECT_THAT(folder_.names(), ElementsAre());
}

TEST_P(Conformance, ScopeEndCloses) {
  const Extent shape = {100};
  {
    File out = create();
    write_part<double>(out, "T", shape, part_of(shape, 0, rank_, size_), 1);
  }
  Reader in = open();
  expect_part<double>(in, "T", shape, Box::whole(shape), 1);
  in.close();
}

TEST_P(Conformance, ChecksumsAreStoredAndVerified) {
  const Extent shape = {12, 10};
  const Box mine = part_of(shape, 0, rank_, size_);
  File out = create({}, true);
  for (int step = 0; step < 3; ++step) write_part<double>(out, "g/T", shape, mine, step, 5 * step);
  write_part<std::int8_t>(out, "once", shape, part_of(shape, 1, rank_, size_), 9);
  out.close();
  auto in = files::InputFile::open(mpi::Comm::duplicate(world()), path(), backend(), {});
  ASSERT_TRUE(in) << in.error().message();
  for (const auto& [name, steps] : {std::pair<std::string, std::uint64_t>{"g/T", 3}, {"once", 1}}) {
    ASSERT_TRUE((*in)->has_checksums(name));
    const auto verdict = (*in)->verify(name, 64, [](std::uint64_t) {});
    ASSERT_TRUE(verdict) << verdict.error().message();
    EXPECT_THAT(verdict->damaged, ElementsAre());
    EXPECT_EQ(verdict->bytes, steps * 120 * (name == "once" ? 1 : 8));
  }
  ASSERT_TRUE((*in)->close());
  Reader reader = open();
  EXPECT_EQ(reader.variables().size(), 2U);  // the tables are not the program's variables
  reader.close();
}

INSTANTIATE_TEST_SUITE_P(Backends, Conformance, testing::ValuesIn(available_backends()),
                         [](const auto& backend) {
                           std::string name = backend.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace

}  // namespace weir::test
