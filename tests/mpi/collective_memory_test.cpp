// Collective I/O on a rank that has no memory left: nobody waits for it for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "collective/collective.hpp"
#include "collective_support.hpp"

namespace {
std::atomic<std::size_t> too_much = SIZE_MAX;  // bytes that cannot be had any more
}

// Not inline: compilers take malloc() and delete, or new and free(), for a mistake where they see both.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (bytes < too_much)
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace weir::collective {
namespace {

constexpr std::uint64_t piece = 512, buffer = 1U << 20U;

// Every rank has a node for itself, and pieces for all aggregators.
struct Writer {
  test::SharedFile file;
  std::unique_ptr<Collective> collective;
  std::vector<std::byte> data;

  Writer() {
    const aggregation::Settings settings{.algorithm = aggregation::Algorithm::two_phase,
                                         .aggregators = static_cast<std::uint32_t>(test::ranks()),
                                         .buffer = buffer,
                                         .team = 1};
    collective = Collective::create(mpi::Comm::duplicate(MPI_COMM_WORLD), file.open(), settings).value();
  }
  // So many pieces of each rank, in turns.
  Request request(std::uint64_t pieces) {
    const auto ranks = static_cast<std::uint64_t>(test::ranks());
    const auto rank = static_cast<std::uint64_t>(test::rank());
    data.assign(pieces * piece, static_cast<std::byte>('a' + rank));
    aggregation::RowBuilder places, memory;
    for (std::uint64_t i = 0; i < pieces; ++i) places.add((i * ranks + rank) * piece, piece);
    memory.add(reinterpret_cast<std::uintptr_t>(data.data()), data.size());
    return {.file = places.take(), .memory = memory.take()};
  }
};

TEST(CollectiveMemory, AnAggregatorWithoutMemoryForItsBuffersFailsOnAllRanks) {
  if (test::ranks() == 1) GTEST_SKIP() << "nothing comes from other nodes";
  Writer writer;
  constexpr std::uint64_t few = 4, many = buffer / piece;
  ASSERT_TRUE(writer.collective->write(writer.request(few)).status);
  const Request large = writer.request(many);
  if (test::rank() == test::ranks() - 1) too_much = buffer / 2;
  const Outcome outcome = writer.collective->write(large);
  ASSERT_FALSE(outcome.status);
  EXPECT_EQ(outcome.status.error().code, ErrorCode::no_memory);
  EXPECT_EQ(outcome.status.error().rank, test::ranks() - 1);
  // What there was memory for before goes on, and so does the rest once there is.
  EXPECT_TRUE(writer.collective->write(writer.request(few)).status);
  too_much = SIZE_MAX;
  ASSERT_TRUE(writer.collective->write(writer.request(many)).status);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string text = read_text(writer.file.path()).value();
  ASSERT_EQ(text.size(), many * piece * static_cast<std::uint64_t>(test::ranks()));
  for (std::size_t i = 0; i < text.size(); ++i)
    ASSERT_EQ(text[i], static_cast<char>('a' + i / piece % static_cast<std::size_t>(test::ranks())));
}

// Run by itself: it ends the job.
TEST(CollectiveMemory, DISABLED_ARankThatCannotGoOnEndsTheJob) {
  Writer writer;
  const Request request = writer.request(4);
  ASSERT_TRUE(writer.collective->write(request).status);
  // Nobody tidies up after the end of a job: ranks have the file open, and need it no more.
  std::error_code ignored;
  if (test::rank() == 0) std::filesystem::remove_all(writer.file.folder(), ignored);
  if (test::rank() == test::ranks() - 1) too_much = 0;
  writer.collective->write(request);
  FAIL() << "a call without one of the ranks came to an end";
}

}  // namespace
}  // namespace weir::collective
