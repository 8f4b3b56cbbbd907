// `weir demo`: the same array through every storage backend, by several MPI ranks, verified and timed.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace weir::cli {

struct DemoSettings {
  int ranks = 4;
  std::uint64_t bytes = 64U << 20U;  // of the array, per step
  int steps = 3;
  std::string folder;
  bool keep = false;  // else each file is removed once read, so that its unwritten data does not slow the
                      // next backend
  bool json = false;
};

// One rank of it; MPI is initialised and finalised inside. Rank 0 prints.
Status run_demo_rank(const DemoSettings& settings);

}  // namespace weir::cli
