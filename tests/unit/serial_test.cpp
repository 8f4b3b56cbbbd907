// One process, MPI never initialised: the tools and login-node scripts work this way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "backends/backend.hpp"
#include "core/types.hpp"
#include "files/input_file.hpp"
#include "files/names.hpp"
#include "weir/weir.hpp"

namespace weir {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Serial : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/weir-serial-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write_sample(const std::string& backend, bool checksums = false) {
    const std::string path = (folder_ / "file").string();
    File out = session_.create(path, {.backend = backend, .checksums = checksums});
    for (int step = 0; step < 2; ++step) {
      out.write("T", std::vector<double>{1.0 + step, 2, 3, 4, 5, 6}, {.shape = {2, 3}, .step = step}).wait();
    }
    out.set_attribute("title", "sample");
    out.close();
    return path;
  }
  fs::path folder_;
  Session session_ = Session::serial();
};

std::vector<std::string> serial_file_backends() {
  std::vector<std::string> names;
  for (const backends::Entry& entry : backends::table()) {
    if (entry.missing.empty() && entry.stores_files && !entry.needs_mpi && entry.name != "faulty")
      names.emplace_back(entry.name);
  }
  return names;
}

TEST_P(Serial, WritesAndReads) {
  Reader in = session_.open(write_sample(GetParam()));
  std::vector<double> row(3);
  in.read("T", row, {.offset = {1, 0}, .count = {1, 3}, .step = 1});
  EXPECT_EQ(row, (std::vector<double>{4, 5, 6}));
  in.read("T", row, {.offset = {0, 0}, .count = {1, 3}, .step = 1});
  EXPECT_EQ(row, (std::vector<double>{2, 2, 3}));
  in.close();
}

// Whatever is cut off or overwritten: an error or the right data, never a crash and never silence where
// checksums are.
TEST_P(Serial, DamagedFilesAreNoticed) {
  const fs::path original = write_sample(GetParam(), true);
  std::vector<fs::path> parts;
  if (fs::is_directory(original)) {
    for (const auto& entry : fs::recursive_directory_iterator(original)) {
      if (entry.is_regular_file()) parts.push_back(fs::relative(entry.path(), original));
    }
  } else {
    parts.emplace_back();
  }
  const fs::path copy = folder_ / "copy";
  const auto check_copy = [&]() -> std::string {
    const auto file = files::InputFile::open(mpi::Comm::serial(), copy.string(), GetParam(), {});
    if (!file) return file.error().message();
    if (!(*file)->has_checksums("T")) return "no checksums";
    const auto verdict = (*file)->verify("T", 1 << 20, [](std::uint64_t) {});
    if (!verdict) return verdict.error().message();
    return verdict->damaged.empty() ? "" : verdict->damaged[0];
  };
  const auto fresh_copy = [&] {
    fs::remove_all(copy);
    fs::copy(original, copy, fs::copy_options::recursive);
    if (fs::exists(original.string() + ".json")) {
      fs::copy(original.string() + ".json", copy.string() + ".json", fs::copy_options::overwrite_existing);
    }
  };
  fresh_copy();
  EXPECT_EQ(check_copy(), "");
  for (const fs::path& part : parts) {
    const fs::path target = part.empty() ? copy : copy / part;
    for (const double keep : {0.0, 0.3, 0.6, 0.95}) {
      fresh_copy();
      const auto size = fs::file_size(target);
      if (size < 16) continue;
      fs::resize_file(target, static_cast<std::uintmax_t>(static_cast<double>(size) * keep));
      if (part.filename() == "profiling.json" || part.filename() == "mmd.0") continue;
      EXPECT_NE(check_copy(), "") << target << " cut to " << keep;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Serial, testing::ValuesIn(serial_file_backends()),
                         [](const auto& backend) {
                           std::string name = backend.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class SerialSession : public Serial {};
INSTANTIATE_TEST_SUITE_P(Once, SerialSession, testing::Values(""));

std::string failure_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no failure";
}

TEST_P(SerialSession, BadPathsAndNamesAreExplained) {
  const std::string folder = folder_.string();
  EXPECT_THAT(failure_of([&] { session_.create(folder + "/no/such/f.dat"); }),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(failure_of([&] { session_.create(folder, {.backend = "posix"}); }),
              HasSubstr("not of a folder"));
  EXPECT_THAT(failure_of([&] { session_.create("", {.backend = "posix"}); }),
              HasSubstr("not the name of a file"));
  EXPECT_THAT(failure_of([&] { session_.create("/dev/null", {.backend = "posix"}); }),
              HasSubstr("/dev/null"));
  EXPECT_THAT(failure_of([&] { session_.create(folder + "/f", {.backend = "hdf6"}); }),
              HasSubstr("did you mean 'hdf5'"));
  EXPECT_THAT(failure_of([&] { session_.create(folder + "/f", {.backend = "mpiio"}); }),
              HasSubstr("needs MPI"));
  EXPECT_THAT(failure_of([&] {
                session_.create(folder + "/f", {.backend = "posix", .options = {{"algnment", "3"}}});
              }),
              HasSubstr("did you mean 'alignment'"));
  EXPECT_THAT(failure_of([&] { session_.open(folder + "/none"); }), HasSubstr("No such file"));
  std::ofstream(folder_ / "foreign") << "just some text";
  EXPECT_THAT(failure_of([&] { session_.open(folder + "/foreign"); }), HasSubstr("no backend recognises"));
  std::ofstream(folder_ / "foreign.json") << "{}";
  EXPECT_THAT(failure_of([&] { session_.open(folder + "/foreign"); }), HasSubstr("foreign.json"));
}

TEST_P(SerialSession, PlainFileIsExactlyTheBytes) {
  const std::string path = (folder_ / "plain.dat").string();
  File out = session_.create(path);
  const std::vector<float> data = {1, 2, 3, 4};
  out.write("v", data, {.shape = {4}}).wait();
  out.close();
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(bytes.size(), 16U);
  EXPECT_EQ(std::memcmp(bytes.data(), data.data(), 16), 0);
}

TEST_P(SerialSession, UsingAClosedFile) {
  const std::string path = (folder_ / "f.dat").string();
  File out = session_.create(path);
  out.close();
  EXPECT_THAT(failure_of([&] { out.close(); }), HasSubstr("closed"));
  EXPECT_THAT(failure_of([&] { out.write("v", std::vector<int>{1}, {.shape = {1}}).wait(); }),
              HasSubstr("closed"));
}

TEST_P(SerialSession, LimitsOfAFormatAreKnownBeforehand) {
  for (const char* backend : {"posix", "hdf5", "adios2-bp4", "adios2-bp5", "adios2-hdf5"}) {
    if (!backends::find(backend)) continue;
    const std::string path = (folder_ / "limits").string() + backend;
    File out = session_.create(path, {.backend = backend});
    out.write("T", std::vector<double>{-0.0}, {.shape = {1}}).wait();
    int refused = 0;
    const auto attempt = [&](const std::function<void()>& body) {
      try {
        body();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
        ++refused;
      }
    };
    attempt([&] { out.set_attribute("long", std::string(100000, 'x')); });
    attempt([&] { out.set_attribute(std::string(150, 'n'), "x"); });
    attempt([&] { out.write(std::string(100, 'v'), std::vector<int>{1}, {.shape = {1}}).wait(); });
    EXPECT_THAT(failure_of([&] { out.set_attribute("bytes", "a\xff"); }), HasSubstr("UTF-8"));
    const double negative_zero = -0.0;
    out.set_attribute("nz", Type::float64, &negative_zero, 1);
    out.close();  // whatever was refused, the file is whole
    Reader in = session_.open(path);
    EXPECT_EQ(in.attributes().size() + in.variables().size(), 5U - static_cast<std::size_t>(refused))
        << backend;
    for (const Attribute& attribute : in.attributes()) {
      if (attribute.name != "nz") continue;
      EXPECT_EQ(attribute.elements, Values::of<double>(std::span(&negative_zero, 1)).bytes) << backend;
    }
    in.close();
  }
}

TEST_P(SerialSession, AFileThatIsGivenUpLeavesNothing) {
  File out = session_.create((folder_ / "f.dat").string());
  out.write("T", std::vector<double>{1, 2, 3}, {.shape = {3}}).wait();
  out.give_up();
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_THAT(failure_of([&] { out.close(); }), HasSubstr("given up"));
  out.give_up();
}

TEST_P(SerialSession, MovedAndSerialHandles) {
  File out = session_.create((folder_ / "f.dat").string());
  File other = std::move(out);
  EXPECT_THAT(failure_of([&] { out.close(); }), HasSubstr("moved"));
  other.close();
  EXPECT_THAT(failure_of([&] { (void)session_.compute(); }), HasSubstr("serial"));
  EXPECT_THROW((void)session_.allocate<double>(SIZE_MAX / 8 + 2), std::bad_alloc);
  EXPECT_THROW((void)session_.allocate<double>(std::size_t{1} << 43U), std::bad_alloc) << "64 TiB";
}

TEST_P(SerialSession, RenamedFiles) {
  const auto expect_sample = [&](const std::string& path) {
    std::vector<double> data(6);
    Reader in = session_.open(path);
    in.read("T", data, {.step = 1});
    EXPECT_EQ(data, (std::vector<double>{2, 2, 3, 4, 5, 6}));
    in.close();
  };
  fs::create_directory(folder_ / "theirs");
  std::ofstream(folder_ / "theirs" / "thesis") << "mine";
  std::string elsewhere = "/dev/shm/weir-serial-XXXXXX";
  for (const std::string& backend : serial_file_backends()) {
    const std::string path = write_sample(backend);
    const std::string other = (folder_ / "other").string();
    rename_file(path, other);
    EXPECT_FALSE(fs::exists(path) || fs::exists(path + ".json")) << backend;
    expect_sample(other);
    rename_file(other, other);
    EXPECT_THAT(failure_of([&] { rename_file(other, (folder_ / "theirs").string()); }), HasSubstr("theirs"));
    EXPECT_TRUE(fs::exists(folder_ / "theirs" / "thesis"));
    expect_sample(other);
    if (elsewhere.ends_with("X") && ::mkdtemp(elsewhere.data()) == nullptr) continue;
    rename_file(other, elsewhere + "/f");
    EXPECT_FALSE(fs::exists(other) || fs::exists(other + ".json")) << backend;
    expect_sample(elsewhere + "/f");
    fs::remove_all(elsewhere + "/f");
    fs::remove(elsewhere + "/f.json");
  }
  fs::remove_all(elsewhere);
}

TEST_P(SerialSession, FlippedBytesFailVerification) {
  const std::string path = write_sample("posix", true);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8);
    file.put('x');
  }
  const auto file = files::InputFile::open(mpi::Comm::serial(), path, "", {});
  ASSERT_TRUE(file);
  const auto verdict = (*file)->verify("T", 1024, [](std::uint64_t) {});
  ASSERT_TRUE(verdict);
  ASSERT_EQ(verdict->damaged.size(), 1U);
  EXPECT_THAT(verdict->damaged[0], HasSubstr("variable 'T', step 0, block offset [0, 0] count [2, 3]"));
}

TEST_P(SerialSession, EveryDamagedBlockIsCounted) {
  const std::string path = (folder_ / "many.dat").string();
  Session session = Session::serial();
  File out = session.create(path, {.checksums = true});
  constexpr std::uint64_t blocks = 150;
  for (std::uint64_t i = 0; i < blocks; ++i)
    out.write("T", std::vector<double>(1, 1.0), {.shape = {blocks}, .offset = {i}, .count = {1}}).wait();
  out.close();
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    file.seekp(static_cast<std::streamoff>(8 * i));
    file.put('x');
  }
  file.close();
  const auto input = files::InputFile::open(mpi::Comm::serial(), path, "", {});
  ASSERT_TRUE(input);
  const auto verdict = (*input)->verify("T", 1024, [](std::uint64_t) {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->damaged_blocks, blocks);
  EXPECT_EQ(verdict->damaged.size(), 100U);
}

// Measures everything above the storage; nothing of it can be read.
TEST(Null, TakesEverythingAndKeepsNothing) {
  Session session = Session::serial();
  const fs::path path = fs::temp_directory_path() / "weir-null-test.dat";
  File out = session.create(path.string(), {.backend = "null", .checksums = true});
  const std::vector<double> data(12, 1.0);
  for (int step = 0; step < 3; ++step) out.write("T", data, {.shape = {3, 4}, .step = step}).wait_stored();
  out.reserve("v", Type::float64, {12});
  out.write("v", data, {.independent = true}).wait_stored();
  out.set_variable_attribute("T", "unit", "K");
  out.close();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_THROW(session.open(path.string(), {.backend = "null"}), Error);
}

TEST(Names, OnlyThoseEveryFormatCanStore) {
  for (const char* good : {"T", "fields/T", "a b", "ü", "T.1"}) EXPECT_TRUE(files::check_name(good)) << good;
  for (const char* bad :
       {"", "/T", "T/", "a//b", ".", "a/../b", "weir/x", "a\nb", "weir", "a\xff", "\xed\xa0\x80", "\xc0\x80"})
    EXPECT_FALSE(files::check_name(bad)) << bad;
  EXPECT_FALSE(files::check_name(std::string(256, 'x')));
}

}  // namespace
}  // namespace weir
