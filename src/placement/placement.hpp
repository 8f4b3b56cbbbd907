// Placement: on which node each rank runs, and on which hardware threads of it, as a plain value.
//
// Made by: place.hpp. Told to launchers by: emit.hpp. Threads: plain value.
#pragma once

#include <string>
#include <vector>

#include "placement/number_lists.hpp"

namespace weir {

struct Placement {
  std::vector<std::string>
      hosts;           // names of the nodes that node_of numbers; empty: the platform's nodes in their order
  Numbers node_of;     // by rank; empty: the launcher decides
  NumberLists pus_of;  // by rank, the hardware threads (OS numbers) it is bound to; empty: no binding
  bool oversubscribe = false;  // ranks may share a hardware thread, and a node may hold more ranks than slots
  bool operator==(const Placement&) const = default;
};

}  // namespace weir
