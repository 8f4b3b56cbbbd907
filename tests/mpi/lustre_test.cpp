// Files on Lustre, which is pretended.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "aggregation/file_system.hpp"
#include "collective_support.hpp"
#include "pretended_lustre.hpp"

namespace weir::collective {
namespace {

using aggregation::Settings;
using aggregation::Striping;
using test::pretended;

constexpr std::uint64_t KiB = 1U << 10U;
constexpr std::uint64_t MiB = 1U << 20U;

class Lustre : public testing::Test {
 protected:
  void SetUp() override { pretended = {.lustre = true, .attribute = {}}; }
  void TearDown() override { pretended = {}; }

  std::unique_ptr<Collective> open(const Settings& settings) {
    return Collective::create(mpi::Comm::duplicate(MPI_COMM_WORLD), file_.open(), settings).value();
  }

  test::SharedFile file_;
};

void put(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<std::byte>(number >> (8 * i) & 0xFFU);
}

// Of a composite layout of two components, the first up to `border`.
std::vector<std::byte> composite(std::uint64_t border, const Striping& first, const Striping& second) {
  constexpr std::size_t header = 32, entry = 48, plain = 32;
  std::vector<std::byte> bytes(header + 2 * entry);
  put(bytes, 0, 0x0BD60BD0, 4);
  put(bytes, 4, header + 2 * (entry + plain), 4);
  put(bytes, 14, 2, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    put(bytes, header + i * entry + 8, i == 0 ? 0 : border, 8);
    put(bytes, header + i * entry + 16, i == 0 ? border : UINT64_MAX, 8);
    put(bytes, header + i * entry + 24, header + 2 * entry + i * plain, 4);
    put(bytes, header + i * entry + 28, plain, 4);
  }
  for (const Striping& striping : {first, second}) {
    const auto layout = aggregation::lov_for(striping);
    bytes.insert(bytes.end(), layout.begin(), layout.end());
  }
  return bytes;
}

TEST_F(Lustre, TheLayoutOfAFileIsStrongerThanHints) {
  pretended.attribute = aggregation::lov_for({.unit = 128 * KiB, .factor = 4});
  EXPECT_EQ(open({.striping = {.unit = 64 * KiB, .factor = 2}})->settings().striping,
            (Striping{.unit = 128 * KiB, .factor = 4}));
  pretended.attribute.clear();
  EXPECT_EQ(open({.striping = {.unit = 64 * KiB, .factor = 2}})->settings().striping,
            (Striping{.unit = 64 * KiB, .factor = 2}))
      << "the file system does not say";
}

TEST_F(Lustre, ANumberOfTargetsIsEnough) {
  EXPECT_EQ(open({.striping = {.factor = 3}})->settings().striping, (Striping{.unit = MiB, .factor = 3}));
  const auto path = file_.folder() / ("new" + std::to_string(test::rank()));
  EXPECT_TRUE(aggregation::create_striped(path, {.factor = 3}).value());
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(pretended.attribute, aggregation::lov_for({.unit = 0, .factor = 3}));
  EXPECT_FALSE(aggregation::create_striped(path.string() + "2", {}).value());
  EXPECT_FALSE(std::filesystem::exists(path.string() + "2"));
}

TEST_F(Lustre, AFileThatGrowsGoesByTheComponentItReaches) {
  pretended.attribute = composite(4 * MiB, {.unit = MiB, .factor = 1}, {.unit = 64 * KiB, .factor = 2});
  Settings settings = aggregation::parse_configuration("T:agg=1,cb_nodes=4").value();
  settings.team = 1;
  const auto io = open(settings);
  EXPECT_EQ(io->settings().striping.factor, 1U);
  const auto ranks = static_cast<std::uint64_t>(test::ranks());
  constexpr std::uint64_t piece = 1000;
  std::vector<std::uint32_t> factors;
  // The same shape again and again: schedules are kept, but for those of another component.
  for (const std::uint64_t begin : {0 * MiB, MiB, 8 * MiB, 9 * MiB, 2 * MiB}) {
    aggregation::RowBuilder rows;
    for (std::uint64_t i = static_cast<std::uint64_t>(test::rank()); i < 300 * ranks; i += ranks)
      rows.add(begin + i * piece, piece);
    Request request{.file = rows.take(), .memory = {}};
    std::vector<std::byte> data(300 * piece);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::uint64_t row = i / piece * ranks + static_cast<std::uint64_t>(test::rank());
      data[i] = test::byte_at(begin + row * piece + i % piece, 1);
    }
    request.memory = {{.offset = reinterpret_cast<std::uintptr_t>(data.data()), .length = data.size()}};
    const Outcome outcome = io->write(request);
    ASSERT_TRUE(outcome.status) << outcome.status.error().message();
    factors.push_back(io->settings().striping.factor);
    ASSERT_NE(io->last_decision(), nullptr);
    ASSERT_TRUE(io->last_decision()->domains);
    EXPECT_EQ(io->last_decision()->domains->kind(),
              factors.back() == 2 ? aggregation::DomainKind::cyclic : aggregation::DomainKind::aligned);
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<std::byte> found(300 * ranks * piece);
    ASSERT_EQ(::pread(file_.descriptor(), found.data(), found.size(), static_cast<off_t>(begin)),
              static_cast<ssize_t>(found.size()));
    for (std::uint64_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], test::byte_at(begin + i, 1)) << "byte " << begin + i;
  }
  EXPECT_THAT(factors, testing::ElementsAre(1, 1, 2, 2, 1));
  EXPECT_EQ(io->accounting().schedules, 2U) << "one for each component";
}

}  // namespace
}  // namespace weir::collective
