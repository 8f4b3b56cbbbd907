// What is particular to HDF5 files: how other programs see ours, and what we make of theirs, sound and
// broken. What all backends have in common is in the conformance suite.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "backends/hdf5.hpp"
#include "support.hpp"

namespace weir::backends {
namespace {

namespace fs = std::filesystem;

Options options(const OptionMap& given = {}) {
  auto parsed = parse_options("backend 'hdf5'", hdf5_entry().options, given);
  EXPECT_TRUE(parsed);
  return *parsed;
}

const Attribute* find(const Input& file, std::string_view variable, std::string_view name) {
  const auto& all = file.attributes();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Attribute& a) { return a.variable == variable && a.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<VariableId> find(const Input& file, std::string_view name) {
  const auto& all = file.variables();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Variable& v) { return v.name == name; });
  if (found == all.end()) return std::nullopt;
  return static_cast<VariableId>(found - all.begin());
}

template <class T>
std::vector<T> read_all(Input& file, std::string_view name, std::uint64_t slot = 0) {
  const auto id = find(file, name);
  if (!id) return {};
  const Box box = Box::whole(file.variables()[*id].shape);
  std::vector<T> values(volume(box.count));
  const TargetBlock block{box, reinterpret_cast<std::byte*>(values.data())};
  const Status status = file.read({*id, slot, Access::independent}, {&block, 1});
  EXPECT_TRUE(status) << status.error().message();
  return values;
}

// A folder that all ranks share; rank 0 makes files in it that others have to read.
class Hdf5Layout : public ::testing::Test {
 protected:
  fs::path path(const char* name) const { return folder_.path() / name; }
  Result<std::unique_ptr<Output>> create(const fs::path& file, const OptionMap& given = {}) {
    return hdf5_entry().create({file, comm_, options(given)});
  }
  Result<std::unique_ptr<Input>> open(const fs::path& file) {
    comm_.barrier();
    return hdf5_entry().open({file, comm_, options()});
  }
  // Runs `make` on rank 0 with a new file of the plain library.
  template <class Make>
  void make_foreign(const fs::path& file, Make make) {
    if (comm_.rank() == 0) {
      const hid_t id = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      ASSERT_GE(id, 0);
      make(id);
      H5Fclose(id);
    }
    comm_.barrier();
  }

  mpi::Comm comm_ = mpi::Comm::duplicate(test::world());
  test::SharedFolder folder_;
};

void put(hid_t file, const char* name, hid_t type, std::vector<hsize_t> shape, const void* data) {
  const hid_t space = shape.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const hid_t set = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(set, 0) << name;
  if (data != nullptr) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(set);
  H5Pclose(links);
  H5Sclose(space);
}

std::vector<hsize_t> stored_shape(hid_t set) {
  const hid_t space = H5Dget_space(set);
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  H5Sclose(space);
  return shape;
}

std::vector<hsize_t> stored_chunk(hid_t set) {
  const hid_t layout = H5Dget_create_plist(set);
  std::vector<hsize_t> chunk(stored_shape(set).size());
  if (H5Pget_layout(layout) != H5D_CHUNKED) {
    chunk.clear();
  } else {
    H5Pget_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
  }
  H5Pclose(layout);
  return chunk;
}

TEST_F(Hdf5Layout, VariablesAreDataSetsOfTheirNameAndShape) {
  auto out = create(path("layout.h5"));
  ASSERT_TRUE(out);
  const Extent shape = {6, 4};
  ASSERT_TRUE((*out)->define({"a/b/once", Type::float32, shape}));
  ASSERT_TRUE((*out)->define({"steps", Type::complex128, shape, true}));
  for (const std::uint64_t slot : {0, 1, 2}) ASSERT_TRUE((*out)->reserve(1, slot, 10));
  ASSERT_TRUE((*out)->close());
  comm_.barrier();
  if (comm_.rank() != 0) return;

  const hid_t file = H5Fopen(path("layout.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t once = H5Dopen2(file, "/a/b/once", H5P_DEFAULT);
  const hid_t steps = H5Dopen2(file, "/steps", H5P_DEFAULT);
  EXPECT_EQ(stored_shape(once), (std::vector<hsize_t>{6, 4}));
  EXPECT_TRUE(stored_chunk(once).empty());
  EXPECT_EQ(stored_shape(steps), (std::vector<hsize_t>{3, 6, 4}));
  EXPECT_EQ(stored_chunk(steps), (std::vector<hsize_t>{1, 6, 4}));
  const hid_t type = H5Dget_type(steps);
  EXPECT_EQ(H5Tget_class(type), H5T_COMPOUND);
  EXPECT_EQ(H5Tget_member_index(type, "r"), 0);
  EXPECT_EQ(H5Tget_member_index(type, "i"), 1);
  H5Tclose(type);
  H5Dclose(once);
  H5Dclose(steps);
  H5Fclose(file);
}

TEST_F(Hdf5Layout, CompressedDataSetsAreChunkedAndFiltered) {
  auto out = create(path("small.h5"), {{"deflate", "4"}, {"chunk", "4KiB"}});
  ASSERT_TRUE(out);
  const Extent shape = {100, 64};
  ASSERT_TRUE((*out)->define({"T", Type::float64, shape}));
  std::vector<double> values(volume(shape));
  std::iota(values.begin(), values.end(), 0.0);
  const SourceBlock whole{Box::whole(shape), reinterpret_cast<const std::byte*>(values.data())};
  ASSERT_TRUE((*out)->write({0, 0, Access::collective}, {&whole, comm_.rank() == 0 ? 1U : 0U}));
  if (comm_.size() > 1) {
    const Status alone = (*out)->write({0, 0, Access::independent}, {});
    ASSERT_FALSE(alone);
    EXPECT_EQ(alone.error().code, ErrorCode::unsupported);
  }
  ASSERT_TRUE((*out)->close());
  auto in = open(path("small.h5"));
  ASSERT_TRUE(in);
  EXPECT_EQ(read_all<double>(**in, "T"), values);
  EXPECT_LT(fs::file_size(path("small.h5")), values.size() * sizeof(double) / 2);
}

TEST_F(Hdf5Layout, CompressionNeedsCollectiveTransfer) {
  auto out = create(path("never.h5"), {{"deflate", "1"}, {"transfer", "independent"}});
  if (comm_.size() == 1) {
    EXPECT_TRUE(out);
  } else {
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().code, ErrorCode::unsupported);
  }
}

// Collective buffering that reads between the pieces must not write back what its buffer held.
TEST_F(Hdf5Layout, ElementsNobodyWroteAreZero) {
  for (const char* transfer : {"auto", "collective", "independent"}) {
    auto out = create(path("holes.h5"), {{"transfer", transfer}});
    ASSERT_TRUE(out);
    const Extent shape = {101, 64};
    ASSERT_TRUE((*out)->define({"once", Type::int64, shape}));
    ASSERT_TRUE((*out)->define({"steps", Type::int64, shape, true}));
    ASSERT_TRUE((*out)->reserve(1, 0, 0));
    const std::vector<std::int64_t> sevens(101 * 2, 7);
    const SourceBlock block{{{0, 30}, {101, 2}}, reinterpret_cast<const std::byte*>(sevens.data())};
    for (const VariableId variable : {0U, 1U}) {
      ASSERT_TRUE((*out)->write({variable, 0, Access::collective}, {&block, comm_.rank() == 0 ? 1U : 0U}));
    }
    ASSERT_TRUE((*out)->close());
    auto in = open(path("holes.h5"));
    ASSERT_TRUE(in);
    for (const char* name : {"once", "steps"}) {
      const auto values = read_all<std::int64_t>(**in, name);
      EXPECT_EQ(std::count(values.begin(), values.end(), 7), 202) << name << " " << transfer;
      EXPECT_EQ(std::count(values.begin(), values.end(), 0), 101 * 62) << name << " " << transfer;
    }
    comm_.barrier();
  }
}

// Many arrays: metadata grows, moves and is freed between them, and its place must not show through.
TEST_F(Hdf5Layout, FreedMetadataDoesNotShowThrough) {
  auto out = create(path("many.h5"));
  ASSERT_TRUE(out);
  constexpr int arrays = 600;
  for (int i = 0; i < arrays; ++i) {
    const std::string name = fmt::format("group{}/array{}", i % 3, i);
    ASSERT_TRUE((*out)->define({name, Type::uint8, {4096}}));
    for (int a = 0; a < 12; ++a) {
      ASSERT_TRUE((*out)->set_attribute({name, fmt::format("attribute{}", a % 10), std::string(100, 'x')}));
    }
  }
  ASSERT_TRUE((*out)->close());
  auto in = open(path("many.h5"));
  ASSERT_TRUE(in);
  ASSERT_EQ((*in)->variables().size(), std::size_t{arrays});
  for (const Variable& variable : (*in)->variables()) {
    ASSERT_EQ(read_all<std::uint8_t>(**in, variable.name), std::vector<std::uint8_t>(4096)) << variable.name;
  }
}

TEST_F(Hdf5Layout, AttributesOfEveryKind) {
  const std::vector<double> large(20000, 0.5);  // more than the 64 KB of an object header
  const std::vector<AttributeValue> values = {
      std::string(),           std::string("m/s"), std::string("Grüße"),         std::string("a\0b\0", 4),
      std::string(70000, 'x'), Values{},           Values::of(std::span(large)),
  };
  auto out = create(path("attributes.h5"));
  ASSERT_TRUE(out);
  ASSERT_TRUE((*out)->define({"T", Type::int8, {3}}));
  for (const char* owner : {"", "T"}) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Status status = (*out)->set_attribute({owner, fmt::format("a{}", i), values[i]});
      ASSERT_TRUE(status) << status.error().message();
    }
  }
  ASSERT_TRUE((*out)->close());
  auto in = open(path("attributes.h5"));
  ASSERT_TRUE(in);
  EXPECT_EQ((*in)->attributes().size(), 2 * values.size());
  for (const char* owner : {"", "T"}) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Attribute* found = find(**in, owner, fmt::format("a{}", i));
      ASSERT_NE(found, nullptr) << i;
      EXPECT_TRUE(found->value == values[i]) << i;
    }
  }
}

TEST_F(Hdf5Layout, EarliestFormatRefusesLargeAttributes) {
  auto out = create(path("old.h5"), {{"libver", "earliest"}});
  ASSERT_TRUE(out);
  const std::vector<double> large(20000, 0.5);
  const Status status = (*out)->set_attribute({"", "large", Values::of(std::span(large))});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::unsupported);
}

TEST_F(Hdf5Layout, NamesThatHdf5WouldChangeAreRefused) {
  for (const char* name : {"a//b", "/a", "a/", "./a", "."}) {
    auto out = create(path("names.h5"));
    ASSERT_TRUE(out);
    const Status status = (*out)->define({name, Type::int8, {1}});
    ASSERT_FALSE(status) << name;
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
  }
}

TEST_F(Hdf5Layout, ForeignFilesAreRead) {
  make_foreign(path("foreign.h5"), [](hid_t file) {
    const double scalar = 2.5;
    const std::vector<std::int16_t> numbers = {1, -2, 3, -4, 5, -6};
    const char* text = "hello";
    put(file, "deep/er/scalar", H5T_NATIVE_DOUBLE, {}, &scalar);
    const hid_t big_endian = H5Tcopy(H5T_STD_I16BE);
    put(file, "big", big_endian, {2, 3}, nullptr);
    const hid_t set = H5Dopen2(file, "big", H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
    H5Dclose(set);
    const hid_t string = H5Tcopy(H5T_C_S1);
    H5Tset_size(string, H5T_VARIABLE);
    put(file, "text", string, {1}, &text);
    const hid_t group = H5Gopen2(file, "deep/er", H5P_DEFAULT);
    const hsize_t two = 2;
    const std::array<const char*, 2> texts = {"a", "b"};
    const hid_t space = H5Screate_simple(1, &two, nullptr);
    const hid_t single = H5Screate(H5S_SCALAR);
    const hid_t list = H5Acreate2(group, "list", string, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(list, string, texts.data());
    const hid_t unit = H5Acreate2(group, "unit", string, single, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(unit, string, texts.data());
    H5Aclose(list);
    H5Aclose(unit);
    H5Sclose(space);
    H5Sclose(single);
    H5Gclose(group);
    H5Lcreate_soft("/deep", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("/etc/passwd", "/x", file, "external", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file, "/", file, "deep/loop", H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(big_endian);
    H5Tclose(string);
  });
  auto in = open(path("foreign.h5"));
  ASSERT_TRUE(in) << in.error().message();
  ASSERT_EQ((*in)->variables().size(), 2U);
  const auto scalar = find(**in, "deep/er/scalar");
  ASSERT_TRUE(scalar);
  EXPECT_EQ((*in)->variables()[*scalar].shape, Extent{1});
  EXPECT_EQ(read_all<double>(**in, "deep/er/scalar"), std::vector<double>{2.5});
  const auto big = find(**in, "big");
  ASSERT_TRUE(big);
  EXPECT_EQ((*in)->variables()[*big].type, Type::int16);
  EXPECT_EQ(read_all<std::int16_t>(**in, "big"), (std::vector<std::int16_t>{1, -2, 3, -4, 5, -6}));
  // Attributes of groups are read, too, and what Weir cannot read is named.
  ASSERT_EQ((*in)->attributes().size(), 1U);
  EXPECT_EQ((*in)->attributes()[0].variable, "deep/er");
  EXPECT_EQ(std::get<std::string>((*in)->attributes()[0].value), "a");
  std::vector<std::string> others;
  for (const Unreadable& other : (*in)->unreadable())
    others.push_back(other.variable + ":" + other.attribute + " " + other.why);
  EXPECT_THAT(others, testing::UnorderedElementsAre("text: type not supported: text",
                                                    "deep/er:list type not supported: text"));
}

TEST_F(Hdf5Layout, AbsurdShapesAreLeftOut) {
  make_foreign(path("absurd.h5"), [](hid_t file) {
    const std::vector<hsize_t> huge = {hsize_t{1} << 40, hsize_t{1} << 40};
    const std::vector<hsize_t> chunk = {16, 16};
    const hid_t space = H5Screate_simple(2, huge.data(), nullptr);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(layout, 2, chunk.data());
    H5Dclose(H5Dcreate2(file, "huge", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, layout, H5P_DEFAULT));
    H5Pclose(layout);
    H5Sclose(space);
  });
  auto in = open(path("absurd.h5"));
  ASSERT_TRUE(in);
  EXPECT_TRUE((*in)->variables().empty());
}

TEST_F(Hdf5Layout, BrokenFilesAreFailures) {
  make_foreign(path("whole.h5"), [](hid_t file) {
    const std::vector<double> values(10000, 1);
    put(file, "T", H5T_NATIVE_DOUBLE, {10000}, values.data());
  });
  if (comm_.rank() == 0) {
    fs::copy_file(path("whole.h5"), path("short.h5"));
    fs::resize_file(path("short.h5"), 5000);
    std::ofstream(path("text.h5")) << "not an HDF5 file at all";
    std::ofstream(path("empty.h5")).flush();
    std::ofstream(path("signature.h5"), std::ios::binary) << "\x89HDF\r\n\x1a\n" << std::string(600, '\xff');
  }
  for (const char* name : {"short.h5", "text.h5", "empty.h5", "signature.h5"}) {
    auto in = open(path(name));
    ASSERT_FALSE(in) << name;
    EXPECT_EQ(in.error().code, ErrorCode::corrupt) << name << ": " << in.error().message();
  }
  EXPECT_TRUE(is_hdf5_file(path("short.h5")));
  EXPECT_FALSE(is_hdf5_file(path("text.h5")));
  EXPECT_FALSE(is_hdf5_file(folder_.path()));
  auto missing = open(path("missing.h5"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_FALSE(open(folder_.path()));
}

// Every byte of a small file's metadata, damaged in turn: any outcome but a crash.
TEST_F(Hdf5Layout, DamagedMetadataDoesNotCrash) {
  if (comm_.rank() != 0) return;
  const std::vector<std::int32_t> values = {1, 2, 3};
  const fs::path file = path("damaged.h5");
  const hid_t id = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put(id, "a/T", H5T_NATIVE_INT32, {3}, values.data());
  H5Fclose(id);
  std::ifstream stream(file, std::ios::binary);
  const std::string sound((std::istreambuf_iterator<char>(stream)), {});
  for (std::size_t at = 0; at < sound.size(); at += 3) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    std::ofstream(file, std::ios::binary) << damaged;
    auto in = hdf5_entry().open({file, mpi::Comm::serial(), options()});
    if (!in) continue;
    for (VariableId i = 0; i < (*in)->variables().size(); ++i) {
      const Variable& variable = (*in)->variables()[i];
      if (volume(variable.shape) > 1000) continue;
      std::vector<std::byte> room(volume(variable.shape) * size_of(variable.type));
      const TargetBlock block{Box::whole(variable.shape), room.data()};
      (void)(*in)->read({i, 0, Access::independent}, {&block, 1});
    }
  }
}

TEST_F(Hdf5Layout, Adios2LayoutIsRecognised) {
  make_foreign(path("adios2.h5"), [](hid_t file) {
    const double value = 1;
    put(file, "Step0/T", H5T_NATIVE_DOUBLE, {}, &value);
    const hid_t space = H5Screate(H5S_SCALAR);
    H5Aclose(H5Acreate2(file, "NumSteps", H5T_NATIVE_UINT, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
  });
  EXPECT_TRUE(is_adios2_layout(path("adios2.h5")));
  EXPECT_TRUE(open(path("adios2.h5")));  // and can be read as plain HDF5 all the same
}

// One rank destroys its output while the others still hold theirs. The rest of this program, MPI_Finalize and
// exit must neither wait nor crash.
TEST_F(Hdf5Layout, AnOutputCanBeGivenUpByOneRank) {
  auto out = create(path("given-up.h5"));
  ASSERT_TRUE(out);
  ASSERT_TRUE((*out)->define({"T", Type::float64, {100}, true}));
  ASSERT_TRUE((*out)->reserve(0, 0, 0));
  static std::vector<std::unique_ptr<Output>> kept;
  if (comm_.rank() == comm_.size() - 1) {
    out->reset();
  } else {
    kept.push_back(std::move(*out));
  }
  comm_.barrier();
  auto again = create(path("given-up.h5"));
  ASSERT_TRUE(again);
  ASSERT_TRUE((*again)->define({"T", Type::float64, {100}}));
  ASSERT_TRUE((*again)->close());
  auto in = open(path("given-up.h5"));
  ASSERT_TRUE(in);
  EXPECT_EQ(read_all<double>(**in, "T"), std::vector<double>(100));
}

TEST_F(Hdf5Layout, ImpossiblePathsNameTheCause) {
  auto folder = create(folder_.path());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().cause, "Is a directory");
  auto nowhere = create(path("no/such/folder.h5"));
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::not_found);
}

TEST(Hdf5Serial, NeedsNoCommunicator) {
  const fs::path file = fs::temp_directory_path() / fmt::format("weir-hdf5-serial-{}.h5", ::getpid());
  auto out = hdf5_entry().create({file, mpi::Comm::serial(), options()});
  ASSERT_TRUE(out);
  ASSERT_TRUE((*out)->define({"T", Type::int32, {3}}));
  const std::vector<std::int32_t> values = {1, 2, 3};
  const SourceBlock block{{{0}, {3}}, reinterpret_cast<const std::byte*>(values.data())};
  ASSERT_TRUE((*out)->write({0, 0, Access::collective}, {&block, 1}));
  ASSERT_TRUE((*out)->close());
  auto in = hdf5_entry().open({file, mpi::Comm::serial(), options()});
  ASSERT_TRUE(in);
  EXPECT_EQ(read_all<std::int32_t>(**in, "T"), values);
  fs::remove(file);
}

}  // namespace
}  // namespace weir::backends
