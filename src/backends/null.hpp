// Accepts everything and stores nothing: what is left is the cost of Weir itself.
#pragma once

#include "backends/backend.hpp"

namespace weir::backends {

Entry null_entry();

}  // namespace weir::backends
