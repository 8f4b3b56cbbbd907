// Patterns that need no recording: those of the workloads, stated by their parameters.
//
// Threads: plain functions of their arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "pattern/pattern.hpp"

namespace weir::pattern {

// A permutation of the numbers below `ranks`, the same for the same seed on every machine: position[rank].
// Seed 0 leaves every rank where it is.
std::vector<std::uint32_t> permutation(std::uint64_t ranks, std::uint64_t seed);

// Blocks of a global array of 1 to 3 (and more) dimensions, slowest first. Ranks are numbered in C order; a
// seed reorders them inside the communicator (modified Tile I/O).
struct Cartesian {
  std::vector<std::uint64_t> processes;  // {16, 16}
  std::vector<std::uint64_t> block;      // elements of a rank: {64, 64}
  std::uint64_t element = 1024;          // bytes
  std::uint64_t seed = 0;
};

// BT's diagonal multi-partition: q * q ranks, each with q cells of a cube of `points` per side, one in each
// layer; `steps` such arrays one after the other. Cells differ by one point where q does not divide the cube.
struct BlockTridiagonal {
  std::uint64_t ranks = 16;    // a square
  std::uint64_t points = 64;   // of the cube's side
  std::uint64_t element = 40;  // five doubles
  std::uint64_t steps = 1;
  std::uint64_t seed = 0;
};

// IOR: `segments` times a block of each rank. Segmented: a rank's block is contiguous; strided: ranks take
// turns with every transfer.
struct Ior {
  std::uint64_t ranks = 1;
  std::uint64_t transfer = std::uint64_t{256} << 10U;
  std::uint64_t block = std::uint64_t{1} << 20U;
  std::uint64_t segments = 1;
  bool strided = false;
  std::uint64_t seed = 0;
};

// HPIO: ranks take turns with regions, and each region is followed by a gap.
struct Hpio {
  std::uint64_t ranks = 1;
  std::uint64_t regions = 1024;
  std::uint64_t region = 5992;
  std::uint64_t spacing = 256;
  std::uint64_t seed = 0;
};

// One file, written; fails for zero or overflowing parameters, or ranks that make no grid.
Result<Pattern> state(const Cartesian& grid);
Result<Pattern> state(const BlockTridiagonal& bt);
Result<Pattern> state(const Ior& ior);
Result<Pattern> state(const Hpio& hpio);

// What one rank touches, without the pattern of all of them. REQUIRES: state() accepts the parameters.
std::vector<Access> accesses_of(const Cartesian& grid, std::uint64_t position);
std::vector<Access> accesses_of(const BlockTridiagonal& bt, std::uint64_t position);
std::vector<Access> accesses_of(const Ior& ior, std::uint64_t position);
std::vector<Access> accesses_of(const Hpio& hpio, std::uint64_t position);

}  // namespace weir::pattern
