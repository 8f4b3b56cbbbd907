#include "platform/platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "platform/host_list.hpp"

namespace weir {

namespace {

constexpr std::array<std::string_view, level_count> level_names = {"core", "cache",  "numa",   "package",
                                                                   "node", "switch", "machine"};

tl::unexpected<Failure> broken(std::string what) {
  return fail(ErrorCode::invalid_argument, std::move(what));
}

Status check_span(const NodeType& type, const CoreSpan& span, std::string_view what, std::size_t index) {
  if (span.count == 0) return broken(fmt::format("{} {} has no core", what, index));
  if (span.first >= type.core_count() || span.count > type.core_count() - span.first) {
    return broken(fmt::format("{} {} covers cores {} to {}, but there are only {} cores", what, index,
                              span.first, std::uint64_t{span.first} + span.count - 1, type.core_count()));
  }
  return {};
}

Status check_pus(const NodeType& type) {
  if (type.cores.empty()) return broken("it has no cores");
  if (type.cores.size() > most_cores) return broken(fmt::format("it has more than {} cores", most_cores));
  std::unordered_map<std::uint32_t, std::uint32_t> core_of;
  for (std::uint32_t core = 0; core < type.core_count(); ++core) {
    const Numbers& pus = type.cores[core].pus;
    if (pus.empty()) return broken(fmt::format("core {} has no hardware thread", core));
    if (pus.size() > most_threads_per_core) {
      return broken(fmt::format("core {} has more than {} hardware threads", core, most_threads_per_core));
    }
    for (const std::uint32_t pu : pus) {
      if (pu > largest_pu)
        return broken(fmt::format("hardware thread {} of core {} is above {}", pu, core, largest_pu));
      const auto [other, is_new] = core_of.emplace(pu, core);
      if (!is_new) {
        return broken(
            fmt::format("hardware thread {} belongs to core {} and to core {}", pu, other->second, core));
      }
    }
  }
  for (std::size_t i = 0; i < type.unusable_pus.size(); ++i) {
    const std::uint32_t pu = type.unusable_pus[i];
    if (!core_of.contains(pu)) return broken(fmt::format("unusable hardware thread {} does not exist", pu));
    if (i > 0 && type.unusable_pus[i - 1] >= pu)
      return broken("the unusable hardware threads are not in ascending order");
  }
  return {};
}

Status check_parts(const NodeType& type) {
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < type.packages.size(); ++i) {
    WEIR_TRY(check_span(type, type.packages[i].cores, "package", i));
    if (type.packages[i].cores.first != next)
      return broken(fmt::format("package {} does not start at core {}", i, next));
    next += type.packages[i].cores.count;
  }
  if (next != type.core_count()) return broken(fmt::format("core {} is in no package", next));

  std::set<std::uint32_t> numbers;
  std::vector<char> covered(type.core_count(), 0);
  std::uint64_t near = 0;
  for (std::size_t i = 0; i < type.numa_domains.size(); ++i) {
    const NumaDomain& domain = type.numa_domains[i];
    WEIR_TRY(check_span(type, domain.cores, "NUMA domain", i));
    if (!numbers.insert(domain.os_number).second)
      return broken(fmt::format("two NUMA domains have number {}", domain.os_number));
    near += domain.cores.count;
    if (near > most_domains_near_core * type.cores.size()) {
      return broken(fmt::format("its cores are in more than {} NUMA domains each", most_domains_near_core));
    }
    std::fill_n(covered.begin() + domain.cores.first, domain.cores.count, char{1});
  }
  const auto bare = std::find(covered.begin(), covered.end(), 0);
  if (bare != covered.end())
    return broken(fmt::format("core {} is in no NUMA domain", bare - covered.begin()));

  for (std::size_t i = 0; i < type.caches.size(); ++i) {
    const Cache& cache = type.caches[i];
    WEIR_TRY(check_span(type, cache.cores, "cache", i));
    if (cache.level < 1 || cache.level > 9)
      return broken(fmt::format("cache {} has level {}; it can be 1 to 9", i, cache.level));
    if (i == 0 || type.caches[i - 1].level < cache.level) continue;
    const Cache& before = type.caches[i - 1];
    if (before.level > cache.level) return broken("the caches are not in order of their level");
    if (before.cores.first + before.cores.count > cache.cores.first) {
      return broken(fmt::format("two caches of level {} overlap at core {}", cache.level, cache.cores.first));
    }
  }
  return {};
}

Status check_rate(double rate, const std::string& what) {
  if (std::isfinite(rate) && rate >= 0) return {};
  return broken(fmt::format("{} is not a number of 0 or more", what));
}

Status check_network(const Platform& platform) {
  if (platform.switches.size() > most_switches)
    return broken(fmt::format("it has more than {} switches", most_switches));
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < platform.switches.size(); ++i) {
    const Switch& one = platform.switches[i];
    if (!is_host_name(one.name)) return broken(fmt::format("'{}' is not a name for a switch", one.name));
    if (!names.insert(one.name).second) return broken(fmt::format("two switches are named '{}'", one.name));
    if (one.parent != no_switch && one.parent >= i) {
      return broken(fmt::format("the parent of switch '{}' does not come before it", one.name));
    }
  }
  std::set<Level> levels;
  for (const Link& link : platform.links) {
    const std::string what = fmt::format("the link at level '{}'", to_string(link.level));
    WEIR_TRY(check_rate(link.bytes_per_second, "the bandwidth of " + what));
    WEIR_TRY(check_rate(link.latency_seconds, "the latency of " + what));
    if (!levels.insert(link.level).second) return broken(what + " is given twice");
  }
  return {};
}

Status check_storage(const Platform& platform) {
  if (platform.storage.size() > most_targets)
    return broken(fmt::format("it has more than {} storage targets", most_targets));
  std::unordered_set<std::string_view> names;
  for (const StorageTarget& target : platform.storage) {
    if (!is_host_name(target.name))
      return broken(fmt::format("'{}' is not a name for a storage target", target.name));
    if (!names.insert(target.name).second)
      return broken(fmt::format("two storage targets are named '{}'", target.name));
    WEIR_TRY(check_rate(target.read_bytes_per_second, "the read rate of " + target.name));
    WEIR_TRY(check_rate(target.write_bytes_per_second, "the write rate of " + target.name));
  }
  return {};
}

}  // namespace

std::string_view to_string(Level level) {
  return level_names.at(static_cast<std::size_t>(level));
}

Result<Level> parse_level(std::string_view name) {
  const auto found = std::find(level_names.begin(), level_names.end(), name);
  if (found != level_names.end()) return static_cast<Level>(found - level_names.begin());
  return broken(
      fmt::format("unknown level '{}'{}", name, suggest(name, {level_names.begin(), level_names.end()})));
}

std::uint32_t NodeType::pu_count() const {
  std::uint32_t count = 0;
  for (const Core& core : cores) count += static_cast<std::uint32_t>(core.pus.size());
  return count;
}

std::uint64_t NodeType::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const NumaDomain& domain : numa_domains) bytes += domain.memory_bytes;
  return bytes;
}

Numbers NodeType::all_pus() const {
  Numbers pus;
  for (const Core& core : cores) pus.insert(pus.end(), core.pus.begin(), core.pus.end());
  std::sort(pus.begin(), pus.end());
  return pus;
}

Numbers NodeType::usable_pus() const {
  const Numbers all = all_pus();
  Numbers usable;
  std::set_difference(all.begin(), all.end(), unusable_pus.begin(), unusable_pus.end(),
                      std::back_inserter(usable));
  return usable;
}

namespace {

template <class Count>
std::uint64_t sum_over_nodes(const Platform& platform, Count count) {
  std::vector<std::uint64_t> of_type;
  for (const NodeType& type : platform.node_types) of_type.push_back(count(type));
  std::uint64_t sum = 0;
  for (const Node& node : platform.nodes) sum += of_type[node.type];
  return sum;
}

}  // namespace

std::uint64_t Platform::core_count() const {
  return sum_over_nodes(*this, [](const NodeType& type) { return type.core_count(); });
}
std::uint64_t Platform::pu_count() const {
  return sum_over_nodes(*this, [](const NodeType& type) { return type.pu_count(); });
}
std::uint64_t Platform::memory_bytes() const {
  return sum_over_nodes(*this, [](const NodeType& type) { return type.memory_bytes(); });
}

const Link* Platform::link(Level level) const {
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const Link& link) { return link.level == level; });
  return found == links.end() ? nullptr : &*found;
}

Status check(const NodeType& type) {
  WEIR_TRY(check_pus(type));
  return check_parts(type);
}

Status check(const Platform& platform) {
  if (platform.node_types.empty()) return broken("the platform has no node type");
  std::unordered_set<std::string_view> type_names;
  for (const NodeType& type : platform.node_types) {
    if (!is_host_name(type.name)) return broken(fmt::format("'{}' is not a name for a node type", type.name));
    if (!type_names.insert(type.name).second)
      return broken(fmt::format("two node types are named '{}'", type.name));
    WEIR_TRY(in(check(type), fmt::format("node type '{}'", type.name)));
  }
  if (platform.nodes.empty()) return broken("the platform has no node");
  if (platform.nodes.size() > most_nodes)
    return broken(fmt::format("the platform has more than {} nodes", most_nodes));
  WEIR_TRY(check_network(platform));
  std::unordered_set<std::string_view> names;
  for (const Node& node : platform.nodes) {
    if (!is_host_name(node.name)) return broken(fmt::format("'{}' is not a name for a node", node.name));
    if (!names.insert(node.name).second) return broken(fmt::format("two nodes are named '{}'", node.name));
    if (node.type >= platform.node_types.size())
      return broken(fmt::format("node '{}' has an unknown type", node.name));
    if (node.slots > most_slots)
      return broken(fmt::format("node '{}' has more than {} slots", node.name, most_slots));
    if (node.switch_ != no_switch && node.switch_ >= platform.switches.size()) {
      return broken(fmt::format("node '{}' is at an unknown switch", node.name));
    }
  }
  return check_storage(platform);
}

Result<NodeType> make_node_type(const RegularNode& shape) {
  const auto divides = [&](std::uint32_t parts) { return parts > 0 && shape.cores % parts == 0; };
  const auto uneven = [&](std::uint32_t parts, std::string_view what) {
    return broken(fmt::format("{} {} do not divide {} cores evenly", parts, what, shape.cores));
  };
  if (shape.cores == 0 || shape.cores > most_cores) {
    return broken(fmt::format("a node of {} cores; it can have 1 to {}", shape.cores, most_cores));
  }
  if (shape.threads_per_core == 0 || shape.threads_per_core > most_threads_per_core) {
    return broken(fmt::format("{} threads a core; there can be 1 to {}", shape.threads_per_core,
                              most_threads_per_core));
  }
  if (!divides(shape.packages)) return uneven(shape.packages, "packages");
  if (!divides(shape.numa_domains)) return uneven(shape.numa_domains, "NUMA domains");

  NodeType type{.name = shape.name, .model = shape.model};
  type.cores.resize(shape.cores);
  for (std::uint32_t core = 0; core < shape.cores; ++core) {
    for (std::uint32_t thread = 0; thread < shape.threads_per_core; ++thread) {
      type.cores[core].pus.push_back(thread * shape.cores + core);
    }
  }
  const std::uint32_t package_cores = shape.cores / shape.packages;
  for (std::uint32_t i = 0; i < shape.packages; ++i)
    type.packages.push_back({{i * package_cores, package_cores}});
  const std::uint32_t numa_cores = shape.cores / shape.numa_domains;
  for (std::uint32_t i = 0; i < shape.numa_domains; ++i) {
    type.numa_domains.push_back({i, shape.memory_bytes / shape.numa_domains, {i * numa_cores, numa_cores}});
  }
  for (const auto& cache : shape.caches) {
    if (!divides(cache.cores))
      return uneven(cache.cores, fmt::format("cores to a cache of level {}", cache.level));
    for (std::uint32_t first = 0; first < shape.cores; first += cache.cores) {
      type.caches.push_back({cache.level, cache.bytes, {first, cache.cores}});
    }
  }
  std::stable_sort(type.caches.begin(), type.caches.end(),
                   [](const Cache& a, const Cache& b) { return a.level < b.level; });
  WEIR_TRY(check(type));
  return type;
}

namespace {

// "nid000009" -> "nid000010"; a name without a number at its end gets one.
std::string name_after(const std::string& name) {
  std::string next = name;
  for (std::size_t i = next.size(); i > 0 && next[i - 1] >= '0' && next[i - 1] <= '9'; --i) {
    if (next[i - 1] != '9') {
      ++next[i - 1];
      return next;
    }
    next[i - 1] = '0';
  }
  const std::size_t digits = next.size() - (next.find_last_not_of("0123456789") + 1);
  next.insert(next.size() - digits, 1, '1');
  return next;
}

}  // namespace

Status resize_nodes(Platform& platform, std::uint64_t count) {
  if (count == 0 || count > most_nodes)
    return broken(fmt::format("{} nodes; there can be 1 to {}", count, most_nodes));
  if (platform.node_types.size() != 1 && count > platform.nodes.size()) {
    return broken(fmt::format("the platform has {} types of nodes, so it cannot be extended to {} nodes",
                              platform.node_types.size(), count));
  }
  platform.nodes.reserve(count);
  if (count < platform.nodes.size()) platform.nodes.resize(count);
  while (platform.nodes.size() < count) {
    Node node = platform.nodes.back();
    node.name = name_after(node.name);
    platform.nodes.push_back(std::move(node));
  }
  return check(platform);
}

Status use_hosts(Platform& platform, const std::vector<Host>& hosts) {
  std::unordered_map<std::string_view, const Node*> known;
  for (const Node& node : platform.nodes) known.emplace(node.name, &node);
  std::vector<Node> nodes;
  for (const Host& host : hosts) {
    const auto found = known.find(host.name);
    if (found == known.end() && platform.node_types.size() != 1) {
      return broken(
          fmt::format("host '{}' is not in the platform, which has {} types of nodes to choose from",
                      host.name, platform.node_types.size()));
    }
    Node node = found == known.end() ? Node{.name = host.name} : *found->second;
    if (host.slots != 0) node.slots = host.slots;
    nodes.push_back(std::move(node));
  }
  platform.nodes = std::move(nodes);
  return check(platform);
}

}  // namespace weir
