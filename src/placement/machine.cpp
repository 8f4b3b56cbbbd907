#include "placement/machine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weir {

namespace {

constexpr int first_network_level = static_cast<int>(Level::network_switch);

std::array<double, level_count> bandwidths(const Platform& platform) {
  std::array<double, level_count> known{};
  for (const Link& link : platform.links) known[static_cast<std::size_t>(link.level)] = link.bytes_per_second;
  // Wider levels first, so that a narrow one without a link takes the next wider; then the other way round.
  const auto fill = [&](int begin, int end) {
    for (int level = end - 2; level >= begin; --level)
      if (known[level] <= 0) known[level] = known[level + 1];
    for (int level = begin + 1; level < end; ++level)
      if (known[level] <= 0) known[level] = known[level - 1];
  };
  fill(0, first_network_level);
  fill(first_network_level, level_count);
  double& node = known[static_cast<std::size_t>(Level::node)];
  double& network = known[static_cast<std::size_t>(Level::machine)];
  const double ratio = default_network_bandwidth / default_node_bandwidth;
  if (node <= 0) node = network > 0 ? network / ratio : default_node_bandwidth;
  if (network <= 0) network = node * ratio;
  fill(0, first_network_level);
  fill(first_network_level, level_count);
  return known;
}

Numbers usable_core_numbers(const NodeType& type) {
  Numbers cores;
  for (std::uint32_t core = 0; core < type.core_count(); ++core) {
    const Numbers& pus = type.cores[core].pus;
    const bool usable = std::any_of(pus.begin(), pus.end(), [&](std::uint32_t pu) {
      return !std::binary_search(type.unusable_pus.begin(), type.unusable_pus.end(), pu);
    });
    if (usable) cores.push_back(core);
  }
  return cores;
}

Result<std::uint64_t> ranks_by_memory(const Platform& platform, const Node& node, std::uint64_t per_rank) {
  const std::uint64_t memory = platform.node_types[node.type].memory_bytes();
  if (memory == 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a limit of memory is set, but the memory of node '{}' is not known", node.name),
                "say it in the platform file (\"memory\"), or limit the ranks of a node instead");
  }
  return memory / per_rank;
}

}  // namespace

Machine::Machine(const Platform& platform) : lookup_(platform) {}

Result<Machine> Machine::of(const Platform& platform, const PlacementLimits& limits) {
  Machine machine(platform);
  for (const NodeType& type : platform.node_types) machine.cores_.push_back(usable_core_numbers(type));
  for (const Node& node : platform.nodes) {
    std::uint64_t capacity = machine.cores_[node.type].size();
    if (node.slots != 0) capacity = std::min<std::uint64_t>(capacity, node.slots);
    if (limits.ranks_per_node != 0) capacity = std::min<std::uint64_t>(capacity, limits.ranks_per_node);
    if (limits.memory_per_rank != 0) {
      WEIR_ASSIGN(const std::uint64_t fit, ranks_by_memory(platform, node, limits.memory_per_rank));
      capacity = std::min(capacity, fit);
    }
    machine.type_of_.push_back(node.type);
    machine.switch_of_.push_back(node.switch_);
    machine.capacity_.push_back(static_cast<std::uint32_t>(capacity));
    machine.largest_ = std::max(machine.largest_, machine.capacity_.back());
    machine.total_ += capacity;
  }
  if (machine.total_ == 0)
    return fail(ErrorCode::invalid_argument, "the limits leave no room for a single rank on any node");

  const auto known = bandwidths(platform);
  for (std::size_t level = 0; level < known.size(); ++level) machine.cost_[level] = 1 / known[level];
  for (int level = 0; level < static_cast<int>(Level::node); ++level) {
    if (known[static_cast<std::size_t>(level)] != known[static_cast<std::size_t>(Level::node)])
      machine.flat_nodes_ = false;
  }
  machine.switched_ =
      machine.seconds_per_byte(Level::network_switch) != machine.seconds_per_byte(Level::machine) &&
      std::any_of(machine.switch_of_.begin(), machine.switch_of_.end(),
                  [](std::uint32_t one) { return one != no_switch; });
  return machine;
}

Machine Machine::limited(std::uint32_t ranks_per_node) const {
  Machine machine = *this;
  machine.largest_ = 0;
  machine.total_ = 0;
  for (std::uint32_t& capacity : machine.capacity_) {
    capacity = std::min(capacity, ranks_per_node);
    machine.largest_ = std::max(machine.largest_, capacity);
    machine.total_ += capacity;
  }
  return machine;
}

double Machine::cheapest_within_node() const {
  return *std::min_element(cost_.begin(), cost_.begin() + first_network_level);
}

double Machine::cheapest_between_nodes() const {
  return switched_ ? *std::min_element(cost_.begin() + first_network_level, cost_.end())
                   : seconds_per_byte(Level::machine);
}

}  // namespace weir
