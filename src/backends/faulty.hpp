// Another backend with faults on demand: errors, delays, data that is silently lost. For testing programs and
// Weir itself.
#pragma once

#include "backends/backend.hpp"

namespace weir::backends {

Entry faulty_entry();

}  // namespace weir::backends
