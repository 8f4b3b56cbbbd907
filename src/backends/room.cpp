#include "backends/room.hpp"

#include "core/file.hpp"

namespace weir::backends {

Status check_room(const mpi::Comm& comm, const std::filesystem::path& path, std::uint64_t my_bytes) {
  // One reduction: the sum of what is needed, less what rank 0 finds free.
  auto missing = static_cast<std::int64_t>(my_bytes);
  if (comm.rank() == 0) missing -= static_cast<std::int64_t>(free_space(path));
  if (comm.sum(missing) <= 0) return {};
  return fail_errno(ENOSPC, "write", path.string());
}

}  // namespace weir::backends
