#include "backends/room.hpp"

#include "core/file.hpp"

namespace weir::backends {

Totals totals(const mpi::Comm& comm, const std::filesystem::path& path, std::uint64_t my_elements,
              std::size_t element_size) {
  const std::uint64_t seen_by_rank_0 = comm.rank() == 0 ? free_space(path) : 0;
  const auto all =
      comm.sum({static_cast<std::int64_t>(my_elements), static_cast<std::int64_t>(seen_by_rank_0)});
  const auto elements = static_cast<std::uint64_t>(all[0]);
  const auto free = static_cast<std::uint64_t>(all[1]);
  return {.elements = elements, .fits = elements <= free / element_size, .free = free};
}

Status check_room(const mpi::Comm& comm, const std::filesystem::path& path, std::uint64_t my_bytes) {
  if (totals(comm, path, my_bytes, 1).fits) return {};
  return fail_errno(ENOSPC, "write", path.string());
}

}  // namespace weir::backends
