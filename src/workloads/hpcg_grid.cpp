#include "workloads/hpcg_grid.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/share.hpp"

namespace weir::workloads {

namespace {

constexpr std::array<char, 3> axes = {'x', 'y', 'z'};

std::size_t direction_number(const Index3& direction) {
  return static_cast<std::size_t>((direction[2] + 1) * 9 + (direction[1] + 1) * 3 + direction[0] + 1);
}

// The points of ours that lie at the side in this direction: {first, count} along one axis.
std::pair<std::int64_t, std::int64_t> side(std::int64_t local, std::int64_t direction) {
  if (direction == 0) return {0, local};
  return {direction < 0 ? 0 : local - 1, 1};
}

bool divides(const Index3& points, const Index3& ranks, bool of_whole_grid, int levels) {
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t unit = std::int64_t{1} << (levels - 1);
    if (points[d] % unit != 0) return false;
    if (of_whole_grid && points[d] / unit < ranks[d]) return false;
  }
  return true;
}

}  // namespace

Index3 factor_ranks(int ranks) {
  Index3 best = {1, 1, ranks};
  for (std::int64_t x = 1; x * x * x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (std::int64_t y = x; x * y * y <= ranks; ++y) {
      if (ranks / x % y != 0) continue;
      const Index3 found = {x, y, ranks / x / y};
      if (found[2] - found[0] < best[2] - best[0]) best = found;
    }
  }
  return best;
}

GridPart GridPart::coarser() const {
  GridPart part = *this;
  for (std::size_t d = 0; d < 3; ++d) {
    part.global[d] /= 2;
    part.first[d] /= 2;
    part.local[d] /= 2;
  }
  --part.levels;
  return part;
}

Result<GridPart> make_grid(const Index3& points, bool of_whole_grid, int rank, int ranks) {
  constexpr std::int64_t most = std::int64_t{1} << 30;  // rows are numbered in 32 bits, surface included
  GridPart part;
  part.ranks = factor_ranks(ranks);
  part.place = {rank % part.ranks[0], rank / part.ranks[0] % part.ranks[1],
                rank / part.ranks[0] / part.ranks[1]};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t needed = of_whole_grid ? part.ranks[d] : 1;
    if (points[d] < needed || points[d] > most) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("a grid of {} points in {} cannot be shared by {} ranks ({} x {} x {})",
                              points[d], axes[d], ranks, part.ranks[0], part.ranks[1], part.ranks[2]),
                  fmt::format("use from {} to {} points", needed, most));
    }
  }
  part.levels = most_grid_levels;
  while (!divides(points, part.ranks, of_whole_grid, part.levels)) --part.levels;
  const std::int64_t unit = std::int64_t{1} << (part.levels - 1);
  for (std::size_t d = 0; d < 3; ++d) {
    if (of_whole_grid) {
      part.global[d] = points[d];
      const auto [first, count] =
          share_of(static_cast<std::uint64_t>(points[d] / unit), static_cast<std::uint64_t>(part.place[d]),
                   static_cast<std::uint64_t>(part.ranks[d]));
      part.first[d] = static_cast<std::int64_t>(first) * unit;
      part.local[d] = static_cast<std::int64_t>(count) * unit;
    } else {
      part.global[d] = points[d] * part.ranks[d];
      part.first[d] = points[d] * part.place[d];
      part.local[d] = points[d];
    }
  }
  // Three factors below 2^30 each: two of them cannot overflow, and then the third is compared.
  if (part.local[0] * part.local[1] > most / part.local[2]) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} x {} x {} points on one rank are more than {}", part.local[0], part.local[1],
                            part.local[2], most),
                "use a smaller grid or more ranks");
  }
  return part;
}

Halo::Halo(const GridPart& part) : part_(part) {
  in_direction_.fill(-1);
  std::int64_t place = part.points();
  for (std::int64_t dz = -1; dz <= 1; ++dz) {
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      for (std::int64_t dx = -1; dx <= 1; ++dx) {
        const Index3 direction = {dx, dy, dz};
        Index3 there = part.place;
        bool exists = direction != Index3{0, 0, 0};
        for (std::size_t d = 0; d < 3; ++d) {
          there[d] += direction[d];
          exists = exists && there[d] >= 0 && there[d] < part.ranks[d];
        }
        if (!exists) continue;
        Neighbour neighbour;
        neighbour.rank = static_cast<int>((there[2] * part.ranks[1] + there[1]) * part.ranks[0] + there[0]);
        const auto [x0, nx] = side(part.local[0], dx);
        const auto [y0, ny] = side(part.local[1], dy);
        const auto [z0, nz] = side(part.local[2], dz);
        for (std::int64_t z = z0; z < z0 + nz; ++z) {
          for (std::int64_t y = y0; y < y0 + ny; ++y) {
            for (std::int64_t x = x0; x < x0 + nx; ++x)
              neighbour.send.push_back(static_cast<std::int32_t>(part.row({x, y, z})));
          }
        }
        neighbour.receive_first = place;
        neighbour.receive_count = nx * ny * nz;
        place += neighbour.receive_count;
        in_direction_[direction_number(direction)] = static_cast<std::int32_t>(neighbours_.size());
        neighbours_.push_back(std::move(neighbour));
      }
    }
  }
  points_ = place - part.points();
}

std::int64_t Halo::place_of(const Index3& at) const {
  Index3 direction = {0, 0, 0};
  for (std::size_t d = 0; d < 3; ++d) {
    if (at[d] < 0) direction[d] = -1;
    if (at[d] >= part_.local[d]) direction[d] = 1;
  }
  if (direction == Index3{0, 0, 0}) return part_.row(at);
  const std::int32_t number = in_direction_[direction_number(direction)];
  if (number < 0) return -1;
  // Along an axis that the surface is crossed in there is one layer of points, else as many as ours.
  std::int64_t place = 0;
  for (std::size_t d = 3; d-- > 0;) {
    if (direction[d] == 0) place = place * part_.local[d] + at[d];
  }
  return neighbours_[static_cast<std::size_t>(number)].receive_first + place;
}

}  // namespace weir::workloads
