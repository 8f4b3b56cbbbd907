// The cores of a node that ranks may run on.
//
// Threads: plain functions of their arguments.
#pragma once

#include "platform/platform.hpp"

namespace weir {

// The usable hardware threads of each core that has at least `threads` of them, in the order of cores.
// REQUIRES: check(type).
std::vector<Numbers> usable_cores(const NodeType& type, std::uint32_t threads = 1);

// Fails if the mapping is hyperthread and no core has two hardware threads to use. REQUIRES: check(type).
Status check_threads_for(std::string_view mapping, const NodeType& type, std::string_view node);

}  // namespace weir
