// Plain files: arrays one after another as bytes in C order, and FILE.json beside them that says what is
// where. A file with one variable, one step and no checksums is exactly its bytes. Two ways to write the
// same format:
//   posix  every rank writes its own runs by pwrite(2); needs no MPI
//   mpiio  MPI-IO, collective or independent
#pragma once

#include "backends/backend.hpp"

namespace weir::backends {

Entry posix_entry();
Entry mpiio_entry();

}  // namespace weir::backends
