// Where a rank's part of the HPCG grid lies, and whom it exchanges its surface with. Pure: no MPI.
//
// Points are numbered x fastest. A vector holds this rank's points, then those received from its neighbours.
//
// Threads: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/error.hpp"

namespace weir::workloads {

using Index3 = std::array<std::int64_t, 3>;  // x, y, z

inline constexpr int most_grid_levels = 4;

// `ranks` as a product of three factors as close to each other as can be, the largest last (z).
Index3 factor_ranks(int ranks);

// One rank's box of one level of the grid.
struct GridPart {
  Index3 ranks = {1, 1, 1};   // the grid of ranks
  Index3 place = {0, 0, 0};   // of this rank in it
  Index3 global = {0, 0, 0};  // points of the whole grid
  Index3 first = {0, 0, 0};   // of this rank's points
  Index3 local = {0, 0, 0};   // points of this rank
  int levels = 1;             // this one and the coarser ones; the same on every rank

  std::int64_t points() const { return local[0] * local[1] * local[2]; }
  std::int64_t row(const Index3& at) const { return (at[2] * local[1] + at[1]) * local[0] + at[0]; }
  GridPart coarser() const;  // every second point. REQUIRES: levels > 1
};

// `points` are those of each rank (weak scaling) or of the whole grid (strong). Every rank's sizes are
// multiples of 2^(levels-1), with as many levels, up to four, as that allows. The failure says which size
// does not do.
Result<GridPart> make_grid(const Index3& points, bool of_whole_grid, int rank, int ranks);

// A neighbour, with the points that go to it and the place of those that come from it. Both sides list the
// points of their common surface in the order z, y, x.
struct Neighbour {
  int rank = 0;
  std::vector<std::int32_t> send;  // rows of ours
  std::int64_t receive_first = 0;  // in the vector
  std::int64_t receive_count = 0;
};

// The surface of one level: up to 26 neighbours.
class Halo {
 public:
  explicit Halo(const GridPart& part);
  const std::vector<Neighbour>& neighbours() const { return neighbours_; }
  std::int64_t points() const { return points_; }  // received altogether

  // The place in a vector of a point at most one step outside this rank's box; -1: outside the whole grid.
  std::int64_t place_of(const Index3& at) const;

 private:
  GridPart part_;
  std::vector<Neighbour> neighbours_;
  std::array<std::int32_t, 27> in_direction_ = {};  // into neighbours_, or -1
  std::int64_t points_ = 0;
};

}  // namespace weir::workloads
