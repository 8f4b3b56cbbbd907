// Machines that Weir knows by name. Each has one node; resize_nodes() gives more.
//
// Threads: reentrant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/platform.hpp"

namespace weir {

struct Site {
  std::string_view name;
  std::string_view what;  // one line, for --help
};
const std::vector<Site>& sites();

// The machine of this name; none: no such name. "this" asks hwloc. "8x48" is 8 nodes of 48 cores, "8x48x2"
// with 2 threads a core.
std::optional<Result<Platform>> find_site(std::string_view name);

}  // namespace weir
