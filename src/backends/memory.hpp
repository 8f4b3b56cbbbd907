// Files in the memory of the processes, gone when they end: for tests and for trying things out. At close
// every rank receives the whole file, so keep it small.
#pragma once

#include "backends/backend.hpp"

namespace weir::backends {

Entry memory_entry();

}  // namespace weir::backends
