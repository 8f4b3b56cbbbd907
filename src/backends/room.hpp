// What all ranks are about to write, and whether there is room for it: asked before a collective call. One
// that fails on some ranks leaves the others waiting inside the storage library, so nobody should begin one
// that is bound to fail.
#pragma once

#include <filesystem>

#include "mpi/comm.hpp"

namespace weir::backends {

struct Totals {
  std::uint64_t elements = 0;  // of all ranks together
  bool fits = true;            // on the file system, as rank 0 sees it
  std::uint64_t free = 0;      // bytes there
};

// COLLECTIVE, one reduction.
Totals totals(const mpi::Comm& comm, const std::filesystem::path& path, std::uint64_t my_elements,
              std::size_t element_size);

// COLLECTIVE. Fails on every rank alike if the file system of `path` has no room for what all ranks are about
// to write.
Status check_room(const mpi::Comm& comm, const std::filesystem::path& path, std::uint64_t my_bytes);

}  // namespace weir::backends
