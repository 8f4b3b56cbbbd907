// Problems that the tests of placement algorithms share.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "pattern/application_matrix.hpp"
#include "pattern/shuffle.hpp"
#include "pattern/stated.hpp"
#include "placement/forecast.hpp"
#include "platform/sites.hpp"

namespace weir {

inline Platform cluster(std::uint32_t nodes, std::uint32_t cores) {
  return **find_site(std::to_string(nodes) + "x" + std::to_string(cores));
}

// A problem with everything it refers to.
struct Problem {
  Platform platform;
  std::optional<Machine> machine;
  pattern::SparseMatrix recorded;
  std::optional<pattern::SparseMatrix> cartesian, shuffle;
  PlacementProblem value;

  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  Problem(Platform of, pattern::SparseMatrix matrix, const PlacementLimits& limits = {})
      : platform(std::move(of)), recorded(std::move(matrix)) {
    auto made = Machine::of(platform, limits);
    EXPECT_TRUE(made) << made.error().message();
    machine.emplace(std::move(*made));
    value = {.machine = &*machine, .ranks = static_cast<std::uint32_t>(recorded.rows), .recorded = &recorded};
  }
  Problem(Platform of, const pattern::Pattern& pattern, std::vector<std::uint64_t> grid = {},
          const PlacementLimits& limits = {})
      : Problem(std::move(of), pattern::application_matrix(pattern), limits) {
    const auto& table = pattern.files[0].writes;
    shuffle = pattern::shuffle(pattern, table, pattern::even_domains(pattern, table, machine->nodes()));
    value.shuffle = &*shuffle;
    if (grid.empty()) return;
    cartesian = *pattern::cartesian_matrix({.processes = std::move(grid)});
    value.cartesian = &*cartesian;
  }

  // The algorithm's placement, whose invariants hold.
  Placed place(std::string_view algorithm) const {
    const auto choice = parse_algorithm(algorithm);
    EXPECT_TRUE(choice) << choice.error().message();
    auto placed = weir::place(value, *choice);
    EXPECT_TRUE(placed) << algorithm << ": " << placed.error().message();
    if (!placed) return {};
    const Status fine = check(placed->assignment, *machine, value.ranks);
    EXPECT_TRUE(fine) << algorithm << ": " << fine.error().message();
    return *placed;
  }
  Forecast forecast_of(std::string_view algorithm) const { return forecast(value, place(algorithm)); }
};

inline pattern::Pattern tile(std::uint64_t rows, std::uint64_t columns, std::uint64_t seed = 0) {
  return *pattern::state(
      pattern::Cartesian{.processes = {rows, columns}, .block = {48, 32}, .element = 64, .seed = seed});
}
inline pattern::Pattern cube(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t seed = 0) {
  return *pattern::state(
      pattern::Cartesian{.processes = {a, b, c}, .block = {16, 16, 16}, .element = 64, .seed = seed});
}
inline pattern::Pattern block_tridiagonal(std::uint64_t ranks, std::uint64_t points) {
  return *pattern::state(pattern::BlockTridiagonal{.ranks = ranks, .points = points});
}

// Rings of `length` ranks each, strongly joined, and one another weakly, in a line; ranks in a seeded order.
inline pattern::SparseMatrix rings(std::uint32_t count, std::uint32_t length, std::uint64_t seed) {
  const auto rank_at = pattern::permutation(std::uint64_t{count} * length, seed);
  std::vector<pattern::Triple> pairs;
  for (std::uint32_t ring = 0; ring < count; ++ring) {
    for (std::uint32_t i = 0; i < length; ++i)
      pairs.push_back({rank_at[ring * length + i], rank_at[ring * length + (i + 1) % length], 100});
    if (ring + 1 < count) pairs.push_back({rank_at[ring * length], rank_at[(ring + 1) * length], 1});
  }
  return pattern::from_pairs(std::uint64_t{count} * length, pairs);
}

}  // namespace weir
