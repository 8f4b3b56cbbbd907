// Node types from the hwloc library: the machine we run on, and hwloc's synthetic descriptions.
//
// Threads: reentrant.
#pragma once

#include <string_view>

#include "platform/platform.hpp"

namespace weir {

// This machine, whole: what cgroup or affinity mask keep from us is in unusable_pus. HWLOC_XMLFILE and
// HWLOC_SYNTHETIC are obeyed.
Result<NodeType> node_type_of_this_machine();

// "pack:2 numa:4 l3:4 core:4 pu:2(indexes=2*128:1*2)", as lstopo -i takes it. At most 4096 characters and
// 4096 hardware threads. Unlike hwloc, which ignores indexes that it cannot use, this fails on them.
Result<NodeType> node_type_from_synthetic(std::string_view description);

}  // namespace weir
