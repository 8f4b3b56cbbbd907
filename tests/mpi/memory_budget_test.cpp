// What collective I/O takes of memory is the stated budget, whatever the size of the file.
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "collective_support.hpp"

namespace weir::collective {
namespace {

constexpr std::uint64_t MiB = 1U << 20U;

// Of this process, from the kernel's own books.
std::uint64_t memory_of(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kib = 0;
    if (word == what + ":" && status >> kib) return kib << 10U;
  }
  return 0;
}

// From then on VmHWM is the most that the process has had since.
bool forget_the_most() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

// What a write and a read of a file of so many bytes, in small pieces of all ranks, take beyond the data
// itself.
std::uint64_t growth_of(Collective& io, std::uint64_t file_bytes) {
  const auto ranks = static_cast<std::uint64_t>(test::ranks());
  constexpr std::uint64_t piece = 4096;
  aggregation::RowBuilder rows;
  for (std::uint64_t at = static_cast<std::uint64_t>(test::rank()) * piece; at < file_bytes;
       at += ranks * piece)
    rows.add(at, piece);
  Request request{.file = rows.take(), .memory = {}};
  std::vector<std::byte> data(aggregation::total_bytes(request.file), std::byte{7});
  request.memory = {{.offset = reinterpret_cast<std::uintptr_t>(data.data()), .length = data.size()}};
  forget_the_most();
  const std::uint64_t before = memory_of("VmRSS");
  EXPECT_TRUE(io.write(request).status);
  std::fill(data.begin(), data.end(), std::byte{0});
  EXPECT_TRUE(io.read(request).status);
  EXPECT_TRUE(std::all_of(data.begin(), data.end(), [](std::byte byte) { return byte == std::byte{7}; }));
  return memory_of("VmHWM") - std::min(before, memory_of("VmHWM"));
}

TEST(MemoryBudget, HoldsWhateverTheSizeOfTheFile) {
  int can = forget_the_most() && memory_of("VmHWM") > 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (can == 0) GTEST_SKIP() << "the kernel does not say how much memory a process has had";
  // Two nodes of two ranks, one aggregator on each.
  aggregation::Settings settings = aggregation::parse_configuration("T:rr=1,cb_nodes=2").value();
  settings.team = 2;
  settings.buffer = MiB;
  const std::uint64_t budget = aggregation::aggregator_memory(settings) + node_memory(settings, 1);
  constexpr std::uint64_t of_the_mpi_library = 16 * MiB;
  for (const std::uint64_t file_bytes : {64 * MiB, 256 * MiB}) {
    const test::SharedFile file;
    const auto io = Collective::create(mpi::Comm::duplicate(MPI_COMM_WORLD), file.open(), settings).value();
    const std::uint64_t growth = growth_of(*io, file_bytes);
    EXPECT_LE(growth, budget + of_the_mpi_library) << "a file of " << file_bytes / MiB << " MiB";
    if (io->last_decision()->number_of(static_cast<std::uint32_t>(test::rank())) != UINT32_MAX) {
      EXPECT_GT(growth, settings.buffer) << "nothing is seen here";
    }
  }
}

}  // namespace
}  // namespace weir::collective
