#include "placement/cores.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weir {

std::vector<Numbers> usable_cores(const NodeType& type, std::uint32_t threads) {
  std::vector<Numbers> cores;
  for (const Core& core : type.cores) {
    Numbers pus;
    for (const std::uint32_t pu : core.pus) {
      if (!std::binary_search(type.unusable_pus.begin(), type.unusable_pus.end(), pu)) pus.push_back(pu);
    }
    if (pus.size() >= threads && !pus.empty()) cores.push_back(std::move(pus));
  }
  return cores;
}

Status check_threads_for(std::string_view mapping, const NodeType& type, std::string_view node) {
  if (mapping != "hyperthread" || !usable_cores(type, 2).empty()) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("mapping 'hyperthread' needs two hardware threads a core, but node '{}' has one", node),
      "use mapping 'consecutive' or 'oversubscribe'");
}

}  // namespace weir
