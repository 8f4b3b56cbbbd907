// What is special about ADIOS2: files as ADIOS2 itself reads and writes them, steps, folders that are not
// whole.
#include <adios2.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "backends/backend.hpp"
#include "support.hpp"

namespace weir::backends {
namespace {

namespace fs = std::filesystem;
using test::part_of;
using test::SharedFolder;
using test::values_of;
using test::world_rank;
using test::world_size;

struct Format {
  std::string_view backend;
  std::string engine;
};

class Adios2 : public testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    const auto found = find(GetParam().backend);
    if (!found) GTEST_SKIP() << found.error().message();
    entry_ = *found;
  }

  FileSpec spec(const fs::path& path, const OptionMap& options = {}) const {
    return {path, comm_, parse_options(entry_->name, entry_->options, options).value()};
  }
  bool is_folder() const { return entry_->makes_folder; }

  SharedFolder folder_;
  mpi::Comm comm_ = mpi::Comm::duplicate(test::world());
  const Entry* entry_ = nullptr;
};

// Fails the test with the message of a failure, and goes on.
template <class T>
bool ok(const Result<T>& result) {
  EXPECT_TRUE(result) << result.error().message();
  return result.has_value();
}

const Extent shape = {11, 6};

std::vector<SourceBlock> my_rows(std::vector<double>& memory, int seed) {
  const Box box = test::part_of(shape, 0, world_rank(), world_size());
  memory = test::values_of<double>(shape, box, seed);
  return {{box, reinterpret_cast<const std::byte*>(memory.data())}};
}

std::vector<double> read_whole(Input& input, VariableId variable, std::uint64_t slot,
                               const Extent& whole = shape) {
  std::vector<double> values(volume(whole), -1);
  const TargetBlock block{Box::whole(whole), reinterpret_cast<std::byte*>(values.data())};
  ok(input.read({variable, slot}, std::span(&block, 1)));
  return values;
}

std::vector<double> expected(int seed) {
  return test::values_of<double>(shape, Box::whole(shape), seed);
}

VariableId id_of(const Input& input, std::string_view name) {
  const auto& list = input.variables();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return static_cast<VariableId>(i);
  }
  ADD_FAILURE() << "no variable " << name;
  return 0;
}

// "T" in every step, "rare" in steps 20 and 40 of 10, 20, 30, 40, and "once" without steps.
void write_sample(const Entry& entry, const FileSpec& spec) {
  auto created = entry.create(spec);
  ASSERT_TRUE(ok(created));
  Output& output = **created;
  ok(output.define({.name = "T", .type = Type::float64, .shape = shape, .stepped = true}));
  ok(output.define({.name = "deep/rare", .type = Type::float64, .shape = shape, .stepped = true}));
  ok(output.define({.name = "once", .type = Type::float64, .shape = shape}));
  ok(output.set_attribute({"T", "unit", std::string("K")}));
  ok(output.reserve(2, 0, 0));
  std::vector<double> memory;
  ok(output.write({2, 0}, my_rows(memory, 99)));
  for (int step = 0; step < 4; ++step) {
    ok(output.reserve(0, static_cast<std::uint64_t>(step), 10 * (step + 1)));
    ok(output.write({0, static_cast<std::uint64_t>(step)}, my_rows(memory, step)));
    if (step % 2 == 0) continue;
    ok(output.reserve(1, static_cast<std::uint64_t>(step / 2), 10 * (step + 1)));
    ok(output.write({1, static_cast<std::uint64_t>(step / 2)}, my_rows(memory, 50 + step)));
  }
  ok(output.close());
}

TEST_P(Adios2, OrdinaryProgramsReadTheFile) {
  const fs::path path = folder_ / "run.partial.x1";
  write_sample(*entry_, spec(path));
  MPI_Barrier(test::world());
  adios2::ADIOS adios;
  adios2::IO io = adios.DeclareIO("reader");
  io.SetEngine(GetParam().engine);
  adios2::Engine engine = io.Open(path.string(), adios2::Mode::Read);
  int steps = 0;
  for (; engine.BeginStep() == adios2::StepStatus::OK; ++steps) {
    auto t = io.InquireVariable<double>("T");
    ASSERT_TRUE(t);
    EXPECT_EQ(t.Shape(), (adios2::Dims{11, 6}));
    std::vector<double> values(66);
    t.SetSelection({{0, 0}, {11, 6}});
    engine.Get(t, values.data(), adios2::Mode::Sync);
    EXPECT_EQ(values, expected(steps));
    engine.EndStep();
  }
  EXPECT_EQ(steps, 4);
  EXPECT_EQ(io.InquireAttribute<std::string>("T/unit").Data().at(0), "K");
  engine.Close();
}

// With a bound a step is written in portions; readers see whole arrays all the same.
TEST_P(Adios2, LittleMemoryMakesNoDifferenceToReaders) {
  const Extent large = {2100, 513};  // 8 MiB
  const Box box = part_of(large, 0, world_rank(), world_size());
  std::vector<OptionMap> cases = {{}};
  if (is_folder()) cases.push_back({{"aggregators", "1"}});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const fs::path path = folder_ / fmt::format("run{}", i);
    FileSpec bounded = spec(path, cases[i]);
    bounded.memory = 1 << 20;
    auto created = entry_->create(bounded);
    ASSERT_TRUE(ok(created));
    Output& output = **created;
    const std::vector<std::string> names = {"T", "U"};
    for (const std::string& name : names)
      ok(output.define({.name = name, .type = Type::float64, .shape = large, .stepped = true}));
    for (std::uint64_t step = 0; step < 3; ++step) {
      for (VariableId id = 0; id < names.size(); ++id) {
        const auto data = values_of<double>(large, box, static_cast<int>(10 * id + step));
        const SourceBlock block{box, reinterpret_cast<const std::byte*>(data.data())};
        ok(output.reserve(id, step, static_cast<std::int64_t>(step)));
        ok(output.write({id, step, id == 0 ? Access::collective : Access::independent}, {&block, 1}));
      }
    }
    ok(output.close());
    MPI_Barrier(test::world());
    adios2::ADIOS adios;
    adios2::IO io = adios.DeclareIO("reader");
    io.SetEngine(GetParam().engine);
    adios2::Engine engine = io.Open(path.string(), adios2::Mode::Read);
    int steps = 0;
    for (; engine.BeginStep() == adios2::StepStatus::OK; ++steps) {
      for (VariableId id = 0; id < names.size(); ++id) {
        auto variable = io.InquireVariable<double>(names[id]);
        ASSERT_TRUE(variable);
        std::vector<double> values(volume(large));
        variable.SetSelection({{0, 0}, {large[0], large[1]}});
        engine.Get(variable, values.data(), adios2::Mode::Sync);
        const auto wanted = values_of<double>(large, Box::whole(large), static_cast<int>(10 * id) + steps);
        EXPECT_TRUE(values == wanted) << names[id] << ", step " << steps;
        if (is_folder()) {
          EXPECT_EQ(variable.MinMax(), std::pair(*std::min_element(wanted.begin(), wanted.end()),
                                                 *std::max_element(wanted.begin(), wanted.end())));
        }
      }
      engine.EndStep();
    }
    EXPECT_EQ(steps, 3);
    engine.Close();
  }
}

TEST_P(Adios2, ReadsItsOwnFileUnderAnotherName) {
  const fs::path before = folder_ / "run.partial.x1";
  const fs::path after = folder_ / "run";
  write_sample(*entry_, spec(before));
  MPI_Barrier(test::world());
  if (world_rank() == 0) fs::rename(before, after);
  MPI_Barrier(test::world());
  EXPECT_TRUE(entry_->recognises(after));
  auto opened = entry_->open(spec(after));
  ASSERT_TRUE(ok(opened));
  Input& input = **opened;
  ASSERT_EQ(input.variables().size(), 3U);
  EXPECT_EQ(input.variables()[0].name, "T");
  EXPECT_EQ(input.variables()[0].slots, 4U);
  EXPECT_EQ(input.variables()[1].slots, 2U);
  EXPECT_FALSE(input.variables()[2].stepped);
  for (int step = 3; step >= 0; --step)
    EXPECT_EQ(read_whole(input, 0, static_cast<std::uint64_t>(step)), expected(step));
  EXPECT_EQ(read_whole(input, 1, 0), expected(51));
  EXPECT_EQ(read_whole(input, 1, 1), expected(53));
  EXPECT_EQ(read_whole(input, 2, 0), expected(99));
  ASSERT_EQ(input.attributes().size(), 1U);
  EXPECT_EQ(input.attributes()[0].variable, "T");
  ok(input.close());
}

TEST_P(Adios2, AnEndedStepCannotBeWritten) {
  auto created = entry_->create(spec(folder_ / "run"));
  ASSERT_TRUE(ok(created));
  Output& output = **created;
  ok(output.define({.name = "T", .type = Type::float64, .shape = shape, .stepped = true}));
  ok(output.reserve(0, 0, 7));
  ok(output.reserve(0, 1, 8));
  const Status late = output.write({0, 0}, {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::state);
  EXPECT_NE(late.error().cause.find("step 7 has ended"), std::string::npos);
}

TEST_P(Adios2, SlotsThatNobodyWritesReadAsZero) {
  const fs::path path = folder_ / "run";
  {
    auto created = entry_->create(spec(path));
    ASSERT_TRUE(ok(created));
    Output& output = **created;
    ok(output.define({.name = "T", .type = Type::float64, .shape = shape, .stepped = true}));
    ok(output.define({.name = "never", .type = Type::float64, .shape = shape, .stepped = true}));
    std::vector<double> memory;
    for (std::uint64_t slot = 0; slot < 3; ++slot) {
      ok(output.reserve(0, slot, static_cast<std::int64_t>(slot)));
      ok(output.reserve(1, slot, static_cast<std::int64_t>(slot)));
      if (slot != 1) ok(output.write({0, slot}, my_rows(memory, static_cast<int>(slot))));
    }
    ok(output.close());
  }
  auto opened = entry_->open(spec(path));
  ASSERT_TRUE(ok(opened));
  const std::vector<double> zeros(volume(shape), 0);
  EXPECT_EQ(read_whole(**opened, 0, 0), expected(0));
  EXPECT_EQ(read_whole(**opened, 0, 1), zeros);
  EXPECT_EQ(read_whole(**opened, 0, 2), expected(2));
  EXPECT_EQ(read_whole(**opened, 1, 2), zeros);
  ok((*opened)->close());
}

// As a program that knows nothing of Weir would: each rank some rows, a variable that skips a step, single
// values, a text.
void write_with_adios2(const std::string& engine_name, const fs::path& path) {
  adios2::ADIOS adios(test::world());
  adios2::IO io = adios.DeclareIO("writer");
  io.SetEngine(engine_name);
  const Box box = test::part_of(shape, 0, world_rank(), world_size());
  const adios2::Dims start(box.offset.begin(), box.offset.end());
  const adios2::Dims count(box.count.begin(), box.count.end());
  auto t = io.DefineVariable<double>("T", {11, 6}, start, count);
  auto rare = io.DefineVariable<double>("rare", {11, 6}, start, count);
  auto number = io.DefineVariable<std::int32_t>("number");
  auto text = io.DefineVariable<std::string>("text");
  io.DefineAttribute<std::string>("T/unit", "K");
  io.DefineAttribute<float>("version", 1.5F);
  adios2::Engine engine = io.Open(path.string(), adios2::Mode::Write);
  for (int step = 0; step < 3; ++step) {
    engine.BeginStep();
    const auto values = test::values_of<double>(shape, box, step);
    engine.Put(t, values.data());
    if (step != 1) engine.Put(rare, values.data());
    if (step == 0) engine.Put(number, 42);
    if (step == 0) engine.Put(text, std::string("hello"));
    engine.EndStep();
  }
  engine.Close();
}

TEST_P(Adios2, ReadsFilesOfOtherPrograms) {
  const fs::path path = folder_ / "foreign";
  write_with_adios2(GetParam().engine, path);
  MPI_Barrier(test::world());
  EXPECT_TRUE(entry_->recognises(path));
  auto opened = entry_->open(spec(path));
  ASSERT_TRUE(ok(opened));
  Input& input = **opened;
  const Variable& t = input.variables()[id_of(input, "T")];
  EXPECT_TRUE(t.stepped);
  EXPECT_EQ(t.slots, 3U);
  EXPECT_EQ(t.shape, shape);
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(read_whole(input, id_of(input, "T"), static_cast<std::uint64_t>(step)), expected(step));
  }
  EXPECT_EQ(input.variables()[id_of(input, "rare")].slots, 2U);
  EXPECT_EQ(read_whole(input, id_of(input, "rare"), 1), expected(2));
  const VariableId number = id_of(input, "number");
  EXPECT_EQ(input.variables()[number].shape, Extent{1});
  std::int32_t value = 0;
  const TargetBlock block{Box::whole({1}), reinterpret_cast<std::byte*>(&value)};
  ok(input.read({number, 0}, std::span(&block, 1)));
  EXPECT_EQ(value, 42);
  bool unit_is_of_t = false;
  for (const Attribute& attribute : input.attributes())
    unit_is_of_t |= attribute.variable == "T" && attribute.name == "unit";
  EXPECT_TRUE(unit_is_of_t);
  ok(input.close());
}

TEST_P(Adios2, OneRankReadsAlone) {
  const fs::path path = folder_ / "run";
  write_sample(*entry_, spec(path));
  auto opened = entry_->open(spec(path));
  ASSERT_TRUE(ok(opened));
  if (world_rank() == world_size() - 1) {
    std::vector<double> values(volume(shape));
    const TargetBlock block{Box::whole(shape), reinterpret_cast<std::byte*>(values.data())};
    ok((*opened)->read({0, 2, Access::independent}, std::span(&block, 1)));
    EXPECT_EQ(values, expected(2));
  }
  ok((*opened)->close());
}

TEST_P(Adios2, GivingUpAFileIsLocal) {
  const fs::path path = folder_ / "run";
  auto created = entry_->create(spec(path));
  ASSERT_TRUE(ok(created));
  ok((*created)->define({.name = "T", .type = Type::float64, .shape = shape, .stepped = true}));
  ok((*created)->reserve(0, 0, 0));
  std::vector<double> memory;
  ok((*created)->write({0, 0}, my_rows(memory, 0)));
  if (world_rank() == 0) created->reset();  // the others have no part in it
  MPI_Barrier(test::world());
  if (world_rank() != 0) created->reset();
  if (!is_folder()) return;  // HDF5 in the same process still knows the file
  const auto opened = entry_->open(spec(path));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
}

TEST_P(Adios2, TruncatedFilesAreCorrupt) {
  for (const bool foreign : {false, true}) {
    if (foreign && !is_folder()) continue;
    const fs::path path = folder_ / (foreign ? "foreign" : "own");
    if (foreign) {
      write_with_adios2(GetParam().engine, path);
    } else {
      write_sample(*entry_, spec(path));
    }
    MPI_Barrier(test::world());
    std::vector<fs::path> parts = {path};
    if (is_folder()) parts = {path / "md.idx", path / "md.0", path / "data.0"};
    // Only Weir's own folders tell how long the data of BP5 is; ADIOS2 itself notices when it reads, after 45
    // seconds.
    if (foreign && GetParam().engine == "BP5") parts.pop_back();
    for (const fs::path& part : parts) {
      const fs::path copy = folder_ / "copy";
      if (world_rank() == 0) {
        fs::remove_all(copy);
        fs::copy(path, copy, fs::copy_options::recursive);
        const fs::path victim = is_folder() ? copy / part.filename() : copy;
        fs::resize_file(victim, fs::file_size(victim) / 3);
      }
      MPI_Barrier(test::world());
      const auto opened = mpi::agree(comm_, [&]() -> Status {
        auto result = entry_->open(spec(copy));
        return result ? Status() : Status(tl::make_unexpected(result.error()));
      }());
      ASSERT_FALSE(opened) << part;
      EXPECT_EQ(opened.error().code, ErrorCode::corrupt) << opened.error().message();
      MPI_Barrier(test::world());
    }
  }
}

// However much is missing: the file is refused, or all of it can be read. (ADIOS2 waits for ever for data
// behind the end of a BP4 file, and 45 seconds in BP5.)
TEST_P(Adios2, CutDataOfOtherProgramsIsNeverWaitedFor) {
  if (GetParam().engine != "BP4") GTEST_SKIP() << "others do not wait, or end by themselves";
  const fs::path path = folder_ / "foreign";
  write_with_adios2("BP4", path);
  MPI_Barrier(test::world());
  int refused = 0;
  int read = 0;
  for (std::uintmax_t size = fs::file_size(path / "data.0"); size > 0;
       size -= std::min(size, size / 40 + 9)) {
    MPI_Barrier(test::world());
    if (world_rank() == 0) fs::resize_file(path / "data.0", size);
    MPI_Barrier(test::world());
    auto opened = mpi::agree(comm_, entry_->open(spec(path)));
    if (!opened) {
      EXPECT_EQ(opened.error().code, ErrorCode::corrupt) << opened.error().message();
      ++refused;
      continue;
    }
    Input& input = **opened;
    for (std::uint64_t step = 0; step < 3; ++step)
      EXPECT_EQ(read_whole(input, id_of(input, "T"), step), expected(static_cast<int>(step)));
    EXPECT_EQ(read_whole(input, id_of(input, "rare"), 1), expected(2));
    ok(input.close());
    ++read;
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 20);
}

TEST_P(Adios2, DamagedMetadataOfItsOwnFilesIsNoticed) {
  if (!is_folder()) GTEST_SKIP() << "only folders carry checksums of their metadata";
  const fs::path path = folder_ / "run";
  write_sample(*entry_, spec(path));
  MPI_Barrier(test::world());
  for (const int position : {70, 200, 500}) {
    const auto flip = [&] {
      if (world_rank() == 0) {
        std::fstream file(path / "md.0", std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(position);
        const int byte = file.get();
        file.seekp(position);
        file.put(static_cast<char>(byte ^ 0x10));
      }
      MPI_Barrier(test::world());
    };
    flip();
    const auto opened = entry_->open(spec(path));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
    MPI_Barrier(test::world());
    flip();
  }
  auto opened = entry_->open(spec(path));
  ASSERT_TRUE(ok(opened));
  ok((*opened)->close());
}

TEST_P(Adios2, AFolderOfSomethingElseIsLeftAlone) {
  const fs::path path = folder_ / "precious";
  if (world_rank() == 0) {
    fs::create_directory(path);
    std::ofstream(path / "thesis.txt") << "years of work";
  }
  MPI_Barrier(test::world());
  EXPECT_FALSE(entry_->recognises(path));
  const auto created = entry_->create(spec(path));
  EXPECT_FALSE(created);
  EXPECT_TRUE(fs::exists(path / "thesis.txt"));
}

// A node has four data files, or one for each rank where there are fewer; asked for, any number.
TEST_P(Adios2, RanksOfANodeShareFourDataFiles) {
  if (!is_folder()) GTEST_SKIP() << "one file";
  const auto data_files = [&](const OptionMap& options) {
    const fs::path path = folder_.path() / fmt::format("files{}", options.size());
    auto output = entry_->create(spec(path, options));
    if (!ok(output)) return 0;
    ok((*output)->define({.name = "T", .type = Type::float64, .shape = shape}));
    ok((*output)->reserve(0, 0, 0));
    std::vector<double> memory;
    ok((*output)->write({0, 0}, my_rows(memory, 1)));
    ok((*output)->close());
    comm_.barrier();
    int found = 0;
    for (const auto& entry : fs::directory_iterator(path))
      found += entry.path().filename().string().starts_with("data.") ? 1 : 0;
    return found;
  };
  EXPECT_EQ(data_files({}), std::min(world_size(), 4));
  EXPECT_EQ(data_files({{"aggregators", "1"}}), 1);
}

TEST_P(Adios2, CompressionThatIsNotThereIsRefused) {
  if (GetParam().engine == "HDF5") GTEST_SKIP() << "no such option";
  const fs::path path = folder_ / "run";
  const auto created = entry_->create(spec(path, {{"compression", "blosc"}}));
  if (created) GTEST_SKIP() << "this ADIOS2 has it";
  EXPECT_EQ(created.error().code, ErrorCode::unsupported);
  EXPECT_NE(created.error().cause.find("blosc"), std::string::npos);
}

// What does not become smaller is stored, too; and so are the checksums, in tables of a few bytes.
TEST_P(Adios2, CompressedBlocksComeBackAsTheyWere) {
  if (GetParam().engine == "HDF5") GTEST_SKIP() << "no such option";
  if (!entry_->create(spec(folder_ / "probe", {{"compression", "blosc"}}))) GTEST_SKIP() << "no blosc";
  for (const std::uint64_t rows : {1, 7, 20000}) {
    const Extent whole = {rows * static_cast<std::uint64_t>(world_size())};
    const Box mine = part_of(whole, 0, world_rank(), world_size());
    const std::string path = (folder_.path() / fmt::format("run{}", rows)).string();
    File out = test::session().create(path, {.backend = std::string(GetParam().backend),
                                             .options = {{"compression", "blosc"}},
                                             .checksums = true});
    const auto noise = values_of<std::uint32_t>(whole, mine, 1);
    const std::vector<double> nothing(volume(mine.count));
    out.write("noise", noise, {.shape = whole, .offset = mine.offset, .count = mine.count}).wait_stored();
    out.write("nothing", nothing, {.shape = whole, .offset = mine.offset, .count = mine.count}).wait_stored();
    out.close();
    Reader in = test::session().open(path);
    std::vector<std::uint32_t> back(rows * static_cast<std::uint64_t>(world_size()));
    in.read("noise", back);
    EXPECT_EQ(back, values_of<std::uint32_t>(whole, Box::whole(whole), 1));
    std::vector<double> zeros(back.size(), 1.0);
    in.read("nothing", zeros);
    EXPECT_EQ(zeros, std::vector<double>(back.size()));
    in.close();
  }
}

// One process has HDF5 write without MPI, whatever was asked for.
TEST_P(Adios2, CollectiveTransfer) {
  if (GetParam().engine != "HDF5") GTEST_SKIP() << "no such option";
  const Extent whole = {10};
  const Box mine = part_of(whole, 0, world_rank(), world_size());
  const std::string path = (folder_.path() / "run").string();
  File out = test::session().create(
      path, {.backend = std::string(GetParam().backend), .options = {{"transfer", "collective"}}});
  out.write("v", values_of<double>(whole, mine, 3),
            {.shape = whole, .offset = mine.offset, .count = mine.count})
      .wait_stored();
  out.close();
  Reader in = test::session().open(path);
  std::vector<double> back(10);
  in.read("v", back);
  EXPECT_EQ(back, values_of<double>(whole, Box::whole(whole), 3));
  in.close();
}

INSTANTIATE_TEST_SUITE_P(Engines, Adios2,
                         testing::Values(Format{"adios2-bp4", "BP4"}, Format{"adios2-bp5", "BP5"},
                                         Format{"adios2-hdf5", "HDF5"}),
                         [](const auto& instance) { return instance.param.engine; });

}  // namespace
}  // namespace weir::backends
