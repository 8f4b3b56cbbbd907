#include "store/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "platform/host_list.hpp"

namespace weir::store {

namespace {

constexpr std::array<std::string_view, 4> role_names = {"compute", "boot-io", "global-io", "local-io"};
const std::vector<std::string> serving_rules = {"z-link", "all", "table"};
constexpr std::size_t most_parts = 4096;  // dimensions, links, targets of a node

}  // namespace

std::string_view to_string(NodeRole role) {
  return role_names.at(static_cast<std::size_t>(role));
}

std::optional<NodeRole> node_role(std::string_view name) {
  const auto found = std::find(role_names.begin(), role_names.end(), name);
  if (found == role_names.end()) return std::nullopt;
  return static_cast<NodeRole>(found - role_names.begin());
}

Status check(const Node& node) {
  const auto wrong = [&](std::string cause) {
    return fail(ErrorCode::invalid_argument, fmt::format("node '{}': {}", node.name.substr(0, 128), cause));
  };
  if (!is_host_name(node.name)) return wrong("this is no host name");
  if (node.coordinates.size() > 16) return wrong("more than 16 coordinates");
  if (node.targets.size() > most_parts || node.servers.size() > most_parts)
    return wrong(fmt::format("more than {} targets or servers", most_parts));
  if (node.rack.size() > 256) return wrong("the name of its rack is too long");
  for (const auto* list : {&node.targets, &node.servers}) {
    for (const std::string& name : *list) {
      // A blank separates them in the table.
      if (name.empty() || name.size() > 256 || name.find_first_of(" \t\r\n") != std::string::npos)
        return wrong(fmt::format("'{}' is no name of a target or server", name.substr(0, 64)));
    }
  }
  return {};
}

Status check(const Topology& topology) {
  const auto wrong = [](std::string cause) {
    return fail(ErrorCode::invalid_argument, "topology: " + cause);
  };
  if (topology.name.empty() || topology.name.size() > 256) return wrong("its name has 1 to 256 characters");
  if (topology.dimensions.size() > 16) return wrong("more than 16 dimensions");
  for (const Dimension& dimension : topology.dimensions) {
    if (dimension.extent < 1) return wrong(fmt::format("dimension '{}' has no extent", dimension.name));
  }
  if (topology.links.size() > most_parts) return wrong("too many links");
  const auto quantity = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!quantity(topology.link_bytes_per_second) || !quantity(topology.clock_hz))
    return wrong("link_bytes_per_second and clock_hz are numbers of 0 or more");
  if (std::find(serving_rules.begin(), serving_rules.end(), topology.serving_rule) == serving_rules.end())
    return wrong(fmt::format("unknown rule '{}'{}", topology.serving_rule,
                             suggest(topology.serving_rule, serving_rules)));
  return {};
}

Json to_json(const Topology& topology) {
  Json dimensions = Json::array();
  for (const Dimension& dimension : topology.dimensions)
    dimensions.push_back(
        {{"name", dimension.name}, {"extent", dimension.extent}, {"wraps", dimension.wraps}});
  return {{"name", topology.name},         {"dimensions", dimensions},
          {"links", topology.links},       {"link_bytes_per_second", topology.link_bytes_per_second},
          {"clock_hz", topology.clock_hz}, {"serving_rule", topology.serving_rule}};
}

Result<Topology> topology_from_json(const Json& json) {
  Topology topology;
  WEIR_ASSIGN(const JsonObject object, JsonObject::of(json, "topology"));
  WEIR_TRY(object.only({"name", "dimensions", "links", "link_bytes_per_second", "clock_hz", "serving_rule"}));
  WEIR_ASSIGN(topology.name, object.text("name"));
  if (object.has("dimensions")) {
    WEIR_ASSIGN(const Json* const dimensions, object.array("dimensions"));
    for (const Json& entry : *dimensions) {
      WEIR_ASSIGN(const JsonObject part,
                  JsonObject::of(entry, fmt::format("dimensions[{}]", topology.dimensions.size())));
      WEIR_TRY(part.only({"name", "extent", "wraps"}));
      Dimension dimension;
      WEIR_ASSIGN(dimension.name, part.text("name"));
      WEIR_ASSIGN(const std::uint64_t extent, part.size("extent"));
      if (extent > INT32_MAX)
        return fail(ErrorCode::invalid_argument, fmt::format("{}: the extent is too large", part.where()));
      dimension.extent = static_cast<std::int32_t>(extent);
      if (part.has("wraps")) {
        WEIR_ASSIGN(dimension.wraps, part.boolean("wraps"));
      }
      topology.dimensions.push_back(std::move(dimension));
    }
  }
  if (object.has("links")) {
    WEIR_ASSIGN(const Json* const links, object.array("links"));
    for (const Json& link : *links) {
      if (!link.is_string()) return fail(ErrorCode::invalid_argument, "links: each of them is a name");
      topology.links.push_back(link.get<std::string>());
    }
  }
  if (object.has("link_bytes_per_second")) {
    WEIR_ASSIGN(topology.link_bytes_per_second, object.number("link_bytes_per_second"));
  }
  if (object.has("clock_hz")) {
    WEIR_ASSIGN(topology.clock_hz, object.number("clock_hz"));
  }
  if (object.has("serving_rule")) {
    WEIR_ASSIGN(topology.serving_rule, object.text("serving_rule"));
  }
  WEIR_TRY(check(topology));
  return topology;
}

}  // namespace weir::store
