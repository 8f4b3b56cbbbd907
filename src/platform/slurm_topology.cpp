#include "platform/slurm_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "platform/host_list.hpp"

namespace weir {

namespace {

template <class... Arguments>
tl::unexpected<Failure> wrong(std::size_t line, fmt::format_string<Arguments...> format,
                              Arguments&&... arguments) {
  return fail(ErrorCode::corrupt,
              fmt::format("line {}: {}", line, fmt::format(format, std::forward<Arguments>(arguments)...)));
}

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

Result<std::vector<std::string>> names_in(std::string_view list, std::size_t line) {
  auto hosts = parse_host_list(list);
  if (!hosts) return wrong(line, "{}", hosts.error().cause);
  std::vector<std::string> names;
  names.reserve(hosts->size());
  for (Host& host : *hosts) names.push_back(std::move(host.name));
  return names;
}

Result<TopologySwitch> parse_line(std::string_view text, std::size_t number) {
  TopologySwitch one;
  constexpr std::string_view blanks = " \t\r";
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      return wrong(number, "'{}' is not of the form Key=value", word.substr(0, 40));
    const std::string key = lowered(word.substr(0, equals));
    const std::string_view value = word.substr(equals + 1);
    if (key == "switchname") {
      if (!is_host_name(value)) return wrong(number, "'{}' is not a name for a switch", value.substr(0, 40));
      one.name = value;
    } else if (key == "nodes") {
      WEIR_ASSIGN(one.nodes, names_in(value, number));
    } else if (key == "switches") {
      WEIR_ASSIGN(one.switches, names_in(value, number));
    } else if (key != "linkspeed" && key != "level") {
      return wrong(number, "unknown key '{}'{}", word.substr(0, equals),
                   suggest(key, {"SwitchName", "Nodes", "Switches", "LinkSpeed"}));
    }
  }
  if (one.name.empty()) return wrong(number, "SwitchName is missing");
  return one;
}

using Index = std::unordered_map<std::string, std::size_t>;

Result<Index> index_of(const std::vector<TopologySwitch>& topology) {
  Index index;
  for (std::size_t i = 0; i < topology.size(); ++i)
    if (!index.emplace(topology[i].name, i).second)
      return fail(ErrorCode::corrupt, fmt::format("two switches are named '{}'", topology[i].name));
  return index;
}

// By switch, the one it is plugged into; its own number: none.
Result<std::vector<std::size_t>> parents_of(const std::vector<TopologySwitch>& topology, const Index& index) {
  std::vector<std::size_t> parent(topology.size());
  for (std::size_t i = 0; i < topology.size(); ++i) parent[i] = i;
  for (std::size_t i = 0; i < topology.size(); ++i) {
    for (const std::string& name : topology[i].switches) {
      const auto found = index.find(name);
      if (found == index.end())
        return fail(ErrorCode::corrupt,
                    fmt::format("switch '{}' names '{}', which does not exist", topology[i].name, name));
      if (found->second == i || parent[found->second] != found->second)
        return fail(ErrorCode::corrupt,
                    fmt::format("switch '{}' is plugged into more than one, or itself", name));
      parent[found->second] = i;
    }
  }
  return parent;
}

// Parents before children. Shorter than the topology if there is a cycle.
std::vector<std::size_t> top_down(const std::vector<TopologySwitch>& topology, const Index& index,
                                  const std::vector<std::size_t>& parent) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < topology.size(); ++i)
    if (parent[i] == i) order.push_back(i);
  for (std::size_t next = 0; next < order.size(); ++next)
    for (const std::string& name : topology[order[next]].switches) order.push_back(index.at(name));
  return order;
}

}  // namespace

Result<std::vector<TopologySwitch>> parse_topology(std::string_view text) {
  if (text.size() > largest_topology)
    return fail(ErrorCode::corrupt, fmt::format("a topology of more than {} bytes", largest_topology));
  std::vector<TopologySwitch> topology;
  std::size_t number = 0, names = 0;
  std::string joined;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    content = content.substr(0, content.find('#'));
    const std::size_t last = content.find_last_not_of(" \t\r");
    content = content.substr(0, last == std::string_view::npos ? 0 : last + 1);
    const bool goes_on = content.ends_with('\\') && !text.empty();
    if (content.ends_with('\\')) content.remove_suffix(1);
    joined += content;
    if (goes_on) {
      joined += ' ';
      continue;
    }
    if (joined.find_first_not_of(" \t\r") != std::string::npos) {
      WEIR_ASSIGN(TopologySwitch one, parse_line(joined, number));
      names += one.nodes.size() + one.switches.size();
      if (topology.size() >= most_switches || names > std::size_t{2} * most_nodes)
        return wrong(number, "more than {} switches or {} nodes", most_switches, most_nodes);
      topology.push_back(std::move(one));
    }
    joined.clear();
  }
  if (topology.empty()) return fail(ErrorCode::corrupt, "there is no switch in it");
  WEIR_ASSIGN(const Index index, index_of(topology));
  WEIR_ASSIGN(const auto parent, parents_of(topology, index));
  if (top_down(topology, index, parent).size() != topology.size())
    return fail(ErrorCode::corrupt, "the switches are plugged into each other in a circle");
  Index nodes;
  for (std::size_t i = 0; i < topology.size(); ++i) {
    for (const std::string& node : topology[i].nodes) {
      const auto [at, added] = nodes.emplace(node, i);
      if (!added)
        return fail(ErrorCode::corrupt, fmt::format("node '{}' is on switch '{}' and on '{}'", node,
                                                    topology[at->second].name, topology[i].name));
    }
  }
  return topology;
}

Status use_topology(Platform& platform, const std::vector<TopologySwitch>& topology, bool take_nodes) {
  WEIR_ASSIGN(const Index index, index_of(topology));
  WEIR_ASSIGN(const auto parent, parents_of(topology, index));
  const std::vector<std::size_t> order = top_down(topology, index, parent);
  std::vector<std::uint32_t> place(topology.size(), no_switch);
  platform.switches.clear();
  std::unordered_map<std::string_view, std::uint32_t> switch_of;
  for (const std::size_t i : order) {
    place[i] = static_cast<std::uint32_t>(platform.switches.size());
    platform.switches.push_back(
        {.name = topology[i].name, .parent = parent[i] == i ? no_switch : place[parent[i]]});
    for (const std::string& node : topology[i].nodes) switch_of.emplace(node, place[i]);
  }
  if (take_nodes) {
    std::vector<Host> hosts;
    for (const TopologySwitch& one : topology)
      for (const std::string& node : one.nodes) hosts.push_back({.name = node});
    if (hosts.empty()) return fail(ErrorCode::corrupt, "there is no node in the topology");
    WEIR_TRY(use_hosts(platform, hosts));
  }
  for (Node& node : platform.nodes) {
    const auto found = switch_of.find(node.name);
    if (found == switch_of.end())
      return fail(ErrorCode::invalid_argument, fmt::format("node '{}' is not in the topology", node.name),
                  "name the hosts as Slurm does, or use the topology of their cluster");
    node.switch_ = found->second;
  }
  return {};
}

}  // namespace weir
