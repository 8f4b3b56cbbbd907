#include "platform/lookup.hpp"

#include <algorithm>

namespace weir {

NodeLookup::NodeLookup(const NodeType& type) {
  const std::uint32_t cores = type.core_count();
  pus_of_.reserve(cores);
  for (std::uint32_t core = 0; core < cores; ++core) {
    pus_of_.push_back(type.cores[core].pus);
    for (const std::uint32_t pu : pus_of_.back()) {
      if (pu >= core_of_.size()) {
        core_of_.resize(pu + 1, absent);
        usable_.resize(pu + 1, 0);
      }
      core_of_[pu] = core;
      usable_[pu] = 1;
    }
  }
  for (const std::uint32_t pu : type.unusable_pus) usable_[pu] = 0;

  package_of_.assign(cores, 0);
  numa_of_.assign(cores, 0);
  enclosing_.resize(cores);
  const auto enclose = [&](const CoreSpan& span, Level level) {
    for (std::uint32_t i = 0; i < span.count; ++i) enclosing_[span.first + i].push_back({span, level});
  };
  for (std::uint32_t i = 0; i < type.packages.size(); ++i) {
    const CoreSpan& span = type.packages[i].cores;
    std::fill_n(package_of_.begin() + span.first, span.count, i);
    enclose(span, Level::package);
  }
  std::vector<std::uint32_t> narrowest(cores, UINT32_MAX);
  for (std::uint32_t i = 0; i < type.numa_domains.size(); ++i) {
    const CoreSpan& span = type.numa_domains[i].cores;
    for (std::uint32_t core = span.first; core < span.first + span.count; ++core) {
      if (span.count >= narrowest[core]) continue;
      narrowest[core] = span.count;
      numa_of_[core] = i;
    }
    enclose(span, Level::numa);
  }
  for (const Cache& cache : type.caches) {
    if (cache.cores.count > 1) enclose(cache.cores, Level::cache);
  }
  for (auto& list : enclosing_) {
    std::sort(list.begin(), list.end(), [](const Enclosing& a, const Enclosing& b) {
      return std::pair(a.cores.count, a.level) < std::pair(b.cores.count, b.level);
    });
  }
}

std::optional<std::uint32_t> NodeLookup::core_of(std::uint32_t pu) const {
  if (pu >= core_of_.size() || core_of_[pu] == absent) return std::nullopt;
  return core_of_[pu];
}

Numbers NodeLookup::siblings(std::uint32_t pu) const {
  const auto core = core_of(pu);
  if (!core) return {};
  Numbers others = pus_of_[*core];
  std::erase(others, pu);
  return others;
}

bool NodeLookup::usable(std::uint32_t pu) const {
  return pu < usable_.size() && usable_[pu] != 0;
}

Level NodeLookup::common_level(std::uint32_t core_a, std::uint32_t core_b) const {
  if (core_a == core_b) return Level::core;
  for (const Enclosing& part : enclosing_[core_a]) {
    if (part.cores.contains(core_b)) return part.level;
  }
  return Level::node;
}

PlatformLookup::PlatformLookup(const Platform& platform) {
  for (const NodeType& type : platform.node_types) types_.emplace_back(type);
  type_of_.reserve(platform.nodes.size());
  switch_of_.reserve(platform.nodes.size());
  for (const Node& node : platform.nodes) {
    type_of_.push_back(node.type);
    switch_of_.push_back(node.switch_);
  }
}

Level PlatformLookup::common_level(CorePlace a, CorePlace b) const {
  if (a.node == b.node) return node(a.node).common_level(a.core, b.core);
  return switch_of_[a.node] != no_switch && switch_of_[a.node] == switch_of_[b.node] ? Level::network_switch
                                                                                     : Level::machine;
}

}  // namespace weir
