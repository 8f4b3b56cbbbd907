// Room on the file system, asked before a collective call: one that fails on some ranks leaves the others waiting inside the
// storage library, so nobody should begin one that is bound to fail.
#pragma once

#include <filesystem>

#include "mpi/comm.hpp"

namespace weir::backends {

// COLLECTIVE. Fails on every rank alike if the file system of `path` has no room for what all ranks are about to write.
Status check_room(const mpi::Comm& comm, const std::filesystem::path& path, std::uint64_t my_bytes);

}  // namespace weir::backends
