// The workloads on several ranks: HPCG must solve the same problem however many share it, and both must write
// what they computed, through every backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "backends/backend.hpp"
#include "support.hpp"
#include "workloads/hpcg.hpp"
#include "workloads/memcpy_rate.hpp"
#include "workloads/plain_writer.hpp"
#include "workloads/share.hpp"
#include "workloads/stream.hpp"

namespace weir::workloads {
namespace {

using test::SharedFolder;
using test::world_rank;
using test::world_size;

std::vector<std::string> file_backends() {
  std::vector<std::string> names;
  for (const backends::Entry& entry : backends::table()) {
    if (entry.missing.empty() && entry.stores_files && entry.name != "faulty") names.emplace_back(entry.name);
  }
  return names;
}

std::vector<double> solve(const GridPart& part, MPI_Comm comm, HpcgSolver::Outcome& outcome) {
  std::vector<double> matrix(static_cast<std::size_t>(part.points()) * stencil_points);
  HpcgSolver solver(part, comm, matrix);
  // Not the constant solution, which a wrong exchange could leave alone.
  std::vector<double> b = solver.right_hand_side(1.0);
  std::size_t i = 0;
  for (std::int64_t z = 0; z < part.local[2]; ++z) {
    for (std::int64_t y = 0; y < part.local[1]; ++y) {
      for (std::int64_t x = 0; x < part.local[0]; ++x, ++i)
        b[i] += std::sin(
            static_cast<double>(part.first[0] + x + 7 * (part.first[1] + y) + 31 * (part.first[2] + z)));
    }
  }
  std::vector<double> x(b.size(), 0.0);
  outcome = solver.solve(b, x, 500, 1e-12);
  return x;
}

class HpcgShapes : public testing::TestWithParam<std::pair<Index3, bool>> {};

TEST_P(HpcgShapes, TheSolutionIsThatOfOneRank) {
  const auto [points, of_whole_grid] = GetParam();
  const auto part = make_grid(points, of_whole_grid, world_rank(), world_size());
  ASSERT_TRUE(part) << part.error().message();
  HpcgSolver::Outcome outcome;
  const std::vector<double> shared = solve(*part, test::world(), outcome);
  EXPECT_LE(outcome.relative(), 1e-12);

  const auto whole = make_grid(part->global, true, 0, 1);
  ASSERT_TRUE(whole);
  HpcgSolver::Outcome alone_outcome;
  const std::vector<double> alone = solve(*whole, MPI_COMM_SELF, alone_outcome);
  EXPECT_NEAR(outcome.first_residual, alone_outcome.first_residual, 1e-9 * alone_outcome.first_residual);
  std::size_t i = 0;
  for (std::int64_t z = 0; z < part->local[2]; ++z) {
    for (std::int64_t y = 0; y < part->local[1]; ++y) {
      for (std::int64_t x = 0; x < part->local[0]; ++x, ++i) {
        const auto there = static_cast<std::size_t>(
            whole->row({part->first[0] + x, part->first[1] + y, part->first[2] + z}));
        ASSERT_NEAR(shared[i], alone[there], 1e-9) << x << " " << y << " " << z;
      }
    }
  }
}

TEST_P(HpcgShapes, MatrixAndPreconditionerAreSymmetricAndConverge) {
  const auto [points, of_whole_grid] = GetParam();
  Session& session = test::session();
  const auto part = make_grid(points, of_whole_grid, world_rank(), world_size());
  ASSERT_TRUE(part) << part.error().message();
  HpcgProblem problem(session, *part, false);
  const auto found = validate_hpcg(session, problem);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_LE(found->symmetry.matrix, 1);
  EXPECT_LE(found->symmetry.preconditioner, 1);
  EXPECT_LT(found->error, 1e-6);
  // The preconditioner earns its keep.
  std::vector<double> x(problem.solver().rows(), 0.0);
  const auto plain = problem.solver().solve(problem.solver().right_hand_side(1.0), x, 500, 1e-10, false);
  if (part->levels == most_grid_levels) {
    EXPECT_LT(found->solve.iterations, plain.iterations);
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, HpcgShapes,
                         testing::Values(std::pair{Index3{8, 8, 8}, false},
                                         std::pair{Index3{16, 8, 8}, false},
                                         std::pair{Index3{24, 16, 56}, true},
                                         std::pair{Index3{9, 11, 13}, true},
                                         std::pair{Index3{6, 5, 7}, false}));

TEST(Hpcg, ValidationNoticesAWrongMatrix) {
  const auto part = make_grid({8, 8, 8}, false, world_rank(), world_size());
  Session& session = test::session();
  HpcgProblem problem(session, *part, false);
  // Off the diagonal, on one rank only.
  if (world_rank() == world_size() - 1) const_cast<double&>(problem.matrix()[100 * stencil_points + 3]) = -2;
  EXPECT_FALSE(validate_hpcg(session, problem));
}

TEST(Hpcg, WritesMatrixAndSolutionThroughEveryBackend) {
  const SharedFolder folder;
  Session& session = test::session();
  const auto part = make_grid({8, 8, 8}, false, world_rank(), world_size());
  for (const std::string& backend : file_backends()) {
    for (const bool weir_arrays : {false, true}) {
      HpcgProblem problem(session, *part, weir_arrays);
      const HpcgSettings settings{.sets = 3,
                                  .iterations = 4,
                                  .tests = weir_arrays,
                                  .weir_arrays = weir_arrays,
                                  .path = folder / ("hpcg-" + backend),
                                  .backend = backend};
      HpcgSolutions kept;
      const HpcgTimes times = run_hpcg(session, problem, settings, &kept);
      EXPECT_GT(times.compute, 0);
      EXPECT_GT(times.traffic, 0);
      EXPECT_GE(times.wall, times.compute);
      ASSERT_EQ(kept.size(), 3U);
      EXPECT_NE(kept[0], kept[2]);
      const Status right = verify_hpcg(session, problem, settings, kept);
      EXPECT_TRUE(right) << backend << ": " << right.error().message();
      // What is not in the file is noticed, on every rank.
      if (world_rank() == 0) kept[1][5] += 1e-9;
      EXPECT_FALSE(verify_hpcg(session, problem, settings, kept)) << backend;
    }
  }
}

StreamSettings stream_settings(const SharedFolder& folder, const std::string& backend) {
  return {.elements = 10'007,
          .loops = 7,
          .write_every = 3,
          .path = folder / ("stream-" + backend),
          .backend = backend};
}

TEST(Stream, WritesItsArraysThroughEveryBackend) {
  const SharedFolder folder;
  Session& session = test::session();
  for (const std::string& backend : file_backends()) {
    for (const bool weir_arrays : {false, true}) {
      for (const bool tests : {false, true}) {
        StreamSettings settings = stream_settings(folder, backend);
        settings.weir_arrays = weir_arrays;
        settings.tests = tests;
        EXPECT_EQ(settings.writes(Kernel::copy), 3);
        StreamArrays arrays(session, settings.elements);
        const StreamTimes times = run_stream(session, arrays, settings);
        EXPECT_GT(times.compute(), 0);
        EXPECT_GE(times.wall, times.send);
        const Status right = verify_stream(session, settings);
        EXPECT_TRUE(right) << backend << ": " << right.error().message();
        // Files of another run are noticed.
        StreamSettings other = settings;
        other.write_every = 2;
        EXPECT_FALSE(verify_stream(session, other)) << backend;
        other = settings;
        other.loops = 6;  // loops 0 and 3 are there; so is 6
        EXPECT_FALSE(verify_stream(session, other)) << backend;
      }
    }
  }
}

TEST(Stream, NoticesAChangedElement) {
  const SharedFolder folder;
  Session& session = test::session();
  StreamSettings settings = stream_settings(folder, "posix");
  StreamArrays arrays(session, settings.elements);
  run_stream(session, arrays, settings);
  MPI_Barrier(test::world());
  if (world_rank() == 0) {
    std::FILE* file = std::fopen(settings.path.c_str(), "r+b");
    ASSERT_NE(file, nullptr);
    std::fseek(file, 100'000, SEEK_SET);  // within the file, which has 12 arrays of 80 kB
    const double wrong = 17;
    std::fwrite(&wrong, sizeof wrong, 1, file);
    std::fclose(file);
  }
  MPI_Barrier(test::world());
  const Status found = verify_stream(session, settings);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), testing::HasSubstr("stream-posix"));
}

TEST(Stream, PlainStreamAndMemcpyAreMeasured) {
  Session& session = test::session();
  const StreamSettings settings{.elements = 1'000'003, .loops = 3};
  StreamArrays arrays(session, settings.elements);
  const StreamTimes times = run_plain_stream(session, arrays, settings);
  for (const double seconds : times.kernels) EXPECT_GT(seconds, 0);
  EXPECT_EQ(times.send, 0);
  EXPECT_GT(memcpy_rate(session.compute(), arrays.a, arrays.c), 0);
  EXPECT_EQ(arrays.a, arrays.c);
  int prepared = 0;
  EXPECT_GT(memcpy_rate(session.compute(), arrays.a, arrays.c, [&] { ++prepared; }), 0);
  EXPECT_EQ(prepared, 6);
}

// Each array once in so many loops, after its own kernel, and never much closer to the next than need be.
TEST(Stream, SpreadsItsWritesEvenly) {
  EXPECT_EQ(spread_writes(1), (std::array{0, 0, 0, 0}));
  EXPECT_EQ(spread_writes(3), (std::array{0, 2, 1, 0})) << "at 0, 3, 6 and 9 of 12 kernels";
  EXPECT_EQ(spread_writes(5), (std::array{0, 1, 2, 3}));
  for (int every = 1; every < 50; ++every) {
    const std::array<int, 4> loops = spread_writes(every);
    std::vector<int> places;
    for (int kernel = 0; kernel < 4; ++kernel) {
      EXPECT_GE(loops[static_cast<std::size_t>(kernel)], 0);
      EXPECT_LT(loops[static_cast<std::size_t>(kernel)], every);
      places.push_back(4 * loops[static_cast<std::size_t>(kernel)] + kernel);
    }
    std::sort(places.begin(), places.end());
    places.push_back(4 * every + places.front());
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      EXPECT_GE(places[i + 1] - places[i], every - 3) << every;
      EXPECT_LE(places[i + 1] - places[i], every + 3) << every;
    }
  }
}

// The places where plain STREAM would write are those where STREAM writes.
TEST(Stream, SomebodyElseWritesBesidePlainStream) {
  const SharedFolder folder;
  Session& session = test::session();
  const StreamSettings settings{.elements = 10'007, .loops = 11, .write_every = 5, .spread = true};
  StreamArrays arrays(session, settings.elements);
  const std::string path = folder / ("plain-writer-" + std::to_string(world_rank()));
  for (const bool to_disk : {false, true}) {
    PlainWriter writer({.path = path,
                        .bytes = arrays.a.size() * sizeof(double),
                        .copies = !to_disk,
                        .to_disk = to_disk,
                        .cores = {}});
    int writes = 0;
    run_plain_stream(session, arrays, settings, [&] {
      writer.write();
      ++writes;
    });
    EXPECT_EQ(writes, 3 + 3 * 2) << "copy in loops 0, 5 and 10, the others twice";
    const Status finished = writer.finish();
    EXPECT_TRUE(finished) << finished.error().message();
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  PlainWriter nowhere(
      {.path = "/no/such/folder/file", .bytes = 1, .copies = false, .to_disk = false, .cores = {}});
  nowhere.write();
  EXPECT_FALSE(nowhere.finish());
}

// More ranks than elements: some have nothing to compute and nothing to write.
TEST(Stream, LetsRanksHaveNothing) {
  const SharedFolder folder;
  Session& session = test::session();
  StreamSettings settings = stream_settings(folder, "posix");
  settings.elements = 2;
  for (const bool weir_arrays : {false, true}) {
    settings.weir_arrays = weir_arrays;
    StreamArrays arrays(session, settings.elements);
    run_stream(session, arrays, settings);
    EXPECT_TRUE(verify_stream(session, settings));
  }
}

TEST(Stream, AMissingFolderIsAnErrorOnEveryRank) {
  Session& session = test::session();
  StreamSettings settings{.elements = 100, .path = "/no/such/folder/stream", .backend = "posix"};
  StreamArrays arrays(session, settings.elements);
  EXPECT_THROW(run_stream(session, arrays, settings), Error);
  EXPECT_FALSE(verify_stream(session, settings));
}

}  // namespace
}  // namespace weir::workloads
