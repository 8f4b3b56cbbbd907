// One cycle of one aggregator at the file: what its sources put into messages goes to the file, or the other
// way round. Large pieces go without another copy; small ones are put into file order first. Small gaps that
// nobody of the call writes are written back as they were, if the schedule says so.
//
// Threads: one at a time per CycleIo; that may be a worker of its owner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "collective/file_io.hpp"
#include "collective/schedule.hpp"

namespace weir::collective {

// Of one call.
struct Terms {
  std::int64_t shift = 0;  // of file offsets, against those of the schedule
  // This call has the file for itself, and may fill gaps; from there on they are zeros.
  std::optional<std::uint64_t> zeros_from;
};

class CycleIo {
 public:
  explicit CycleIo(FileIo& file) : file_(file) {}

  // `parts`: where the part of each source is in memory, in the order of schedule.sources.
  Status run(FileIo::Direction direction, Schedule& schedule, std::uint32_t cycle,
             std::span<std::byte* const> parts, const Terms& terms);

 private:
  struct Window;
  Status in_pieces(FileIo::Direction direction, const Window& window);
  Status write_sorted(const Window& window);
  Status write(std::span<const FileIo::Piece> pieces, const Window& window);
  Status read_sorted(const Window& window);
  std::byte* scratch(std::uint64_t bytes);

  FileIo& file_;
  std::unique_ptr<std::byte[]> scratch_;
  std::uint64_t scratch_bytes_ = 0;
};

}  // namespace weir::collective
