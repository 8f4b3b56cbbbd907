// Beyond 32 bits: a block of more than 2 GiB, and an array of more than 2^31 elements, through every backend
// that stores files.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/backend.hpp"
#include "support.hpp"

namespace weir::test {
namespace {

std::vector<std::string> file_backends() {
  std::vector<std::string> names;
  for (const backends::Entry& entry : backends::table()) {
    if (entry.missing.empty() && entry.stores_files && entry.name != "faulty") names.emplace_back(entry.name);
  }
  return names;
}

class Large : public testing::TestWithParam<std::string> {};

TEST_P(Large, MoreThanTwoToThe31ElementsAndTwoGiBPerRank) {
  const SharedFolder folder;
  Session& session = test::session();
  const std::string extension = GetParam().find("hdf5") != std::string::npos ? "f.h5"
                                : GetParam().starts_with("adios2")           ? "f.bp"
                                                                             : "f.dat";
  // 2^31 + 2^29 bytes on one rank; with two, 2^32 + 2^30 elements of one byte in all.
  const std::uint64_t mine = (1ULL << 31U) + (1ULL << 29U);
  const Extent shape = {mine * static_cast<std::uint64_t>(world_size())};
  const std::uint64_t first = mine * static_cast<std::uint64_t>(world_rank());
  std::vector<std::uint8_t> data(mine);
  for (std::uint64_t i = 0; i < mine; ++i)
    data[i] = static_cast<std::uint8_t>((first + i) * 2654435761U >> 13U);
  const std::vector<std::uint8_t> expected_tail(data.end() - 1000, data.end());
  File out = session.create(folder / extension, {.backend = GetParam()});
  out.write("v", data, {.shape = shape, .offset = {first}, .count = {mine}}).wait_stored();
  out.close();
  Reader in = session.open(folder / extension, {.backend = GetParam()});
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  in.read("v", data, {.offset = {first}, .count = {mine}});
  in.close();
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < mine; ++i)
    wrong += data[i] != static_cast<std::uint8_t>((first + i) * 2654435761U >> 13U) ? 1 : 0;
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(std::vector<std::uint8_t>(data.end() - 1000, data.end()), expected_tail);
}

INSTANTIATE_TEST_SUITE_P(Backends, Large, testing::ValuesIn(file_backends()), [](const auto& backend) {
  std::string name = backend.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace weir::test
