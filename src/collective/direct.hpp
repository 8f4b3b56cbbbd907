// Without two-phase I/O: a rank's own pieces between its own memory and the file.
//
// Threads: one at a time per FileIo. LOCAL.
#pragma once

#include "aggregation/pieces.hpp"
#include "collective/file_io.hpp"
#include "collective/memory_stream.hpp"

namespace weir::collective {

// The first bytes of `memory` are those of the first piece, and so on.
Status transfer(FileIo& file, FileIo::Direction direction, const aggregation::Rows& pieces,
                const MemoryStream& memory);

}  // namespace weir::collective
