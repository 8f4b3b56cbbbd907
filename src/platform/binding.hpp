// Where this process may run, on the machine it runs on.
//
// Threads: reentrant; binding concerns all threads that the process has at that moment, and those they start.
// HWLOC_XMLFILE and HWLOC_SYNTHETIC do not matter here: a process can only be bound on the real machine.
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.hpp"

namespace weir {

// Keeps this process on these hardware threads (OS numbers). Fails, and changes nothing, if one of them does
// not exist or may not be used. LOCAL.
Status bind_this_process(const std::vector<std::uint32_t>& pus);

// Whether a launcher (or a batch system, or taskset) has already narrowed this process to fewer hardware
// threads than the node offers us; what the cgroup keeps from the whole job does not count. False if it
// cannot be told. LOCAL.
bool launcher_bound();

}  // namespace weir
