#include "platform/platform_json.hpp"

#include <unordered_map>

#include "core/file.hpp"
#include "platform/host_list.hpp"
#include "platform/node_type_json.hpp"

namespace weir {

namespace {

using NameIndex = std::unordered_map<std::string, std::uint32_t>;

// Calls read(object) for each object in the list under `key`; no such key is an empty list.
template <class Read>
Status for_each_object(const JsonObject& parent, const std::string& key, Read read) {
  if (!parent.has(key)) return {};
  WEIR_ASSIGN(const Json* list, parent.array(key));
  for (std::size_t i = 0; i < list->size(); ++i) {
    WEIR_ASSIGN(const JsonObject object, JsonObject::of((*list)[i], fmt::format("{}[{}]", key, i)));
    WEIR_TRY(read(object));
  }
  return {};
}

// Under `key` stands one of the names in `index`; `fallback` where the key is absent.
Result<std::uint32_t> read_reference(const JsonObject& object, const std::string& key, const NameIndex& index,
                                     std::uint32_t fallback) {
  if (!object.has(key)) return fallback;
  WEIR_ASSIGN(const std::string name, object.text(key));
  const auto found = index.find(name);
  if (found != index.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, unused] : index) {
    if (names.size() < 20) names.push_back(known);
  }
  return fail(ErrorCode::corrupt, fmt::format("'{}.{}' names '{}', which does not exist{}", object.where(),
                                              key, name, suggest(name, names)));
}

Result<double> read_rate(const JsonObject& object, const std::string& key) {
  if (!object.has(key)) return 0;
  return object.number(key);
}

Result<std::vector<Host>> read_hosts(const JsonObject& object, const std::string& key) {
  WEIR_ASSIGN(const std::string text, object.text(key));
  auto hosts = parse_host_list(text);
  if (!hosts)
    return fail(ErrorCode::corrupt, fmt::format("'{}.{}': {}", object.where(), key, hosts.error().cause));
  return hosts;
}

tl::unexpected<Failure> too_many(const JsonObject& object, std::string_view what) {
  return fail(ErrorCode::corrupt,
              fmt::format("'{}' brings the platform to more than {} {}", object.where(), most_nodes, what));
}

Status read_nodes(const JsonObject& root, const NameIndex& types, const NameIndex& switches,
                  Platform& platform) {
  return for_each_object(root, "nodes", [&](const JsonObject& object) -> Status {
    WEIR_TRY(object.only({"hosts", "type", "slots", "switch"}));
    if (types.size() > 1 && !object.has("type")) {
      return fail(ErrorCode::corrupt,
                  fmt::format("'{}.type' is missing; there are several node types", object.where()));
    }
    Node node;
    WEIR_ASSIGN(node.type, read_reference(object, "type", types, 0));
    WEIR_ASSIGN(node.switch_, read_reference(object, "switch", switches, no_switch));
    if (object.has("slots")) {
      WEIR_ASSIGN(const std::uint64_t slots, object.size("slots"));
      if (slots > most_slots)
        return fail(ErrorCode::corrupt, fmt::format("'{}.slots' is above {}", object.where(), most_slots));
      node.slots = static_cast<std::uint32_t>(slots);
    }
    WEIR_ASSIGN(const auto hosts, read_hosts(object, "hosts"));
    if (platform.nodes.size() + hosts.size() > most_nodes) return too_many(object, "nodes");
    for (const Host& host : hosts) {
      platform.nodes.push_back(node);
      platform.nodes.back().name = host.name;
      if (host.slots != 0) platform.nodes.back().slots = host.slots;
    }
    return {};
  });
}

Status read_storage(const JsonObject& root, Platform& platform) {
  return for_each_object(root, "storage", [&](const JsonObject& object) -> Status {
    WEIR_TRY(object.only({"targets", "server", "read_bytes_per_second", "write_bytes_per_second"}));
    StorageTarget target;
    if (object.has("server")) {
      WEIR_ASSIGN(target.server, object.text("server"));
    }
    WEIR_ASSIGN(target.read_bytes_per_second, read_rate(object, "read_bytes_per_second"));
    WEIR_ASSIGN(target.write_bytes_per_second, read_rate(object, "write_bytes_per_second"));
    WEIR_ASSIGN(const auto names, read_hosts(object, "targets"));
    if (platform.storage.size() + names.size() > most_targets) return too_many(object, "storage targets");
    for (const Host& name : names) {
      platform.storage.push_back(target);
      platform.storage.back().name = name.name;
    }
    return {};
  });
}

Status read_switches(const JsonObject& root, NameIndex& switches, Platform& platform) {
  return for_each_object(root, "switches", [&](const JsonObject& object) -> Status {
    WEIR_TRY(object.only({"name", "parent"}));
    Switch one;
    WEIR_ASSIGN(one.name, object.text("name"));
    WEIR_ASSIGN(one.parent, read_reference(object, "parent", switches, no_switch));
    switches.emplace(one.name, static_cast<std::uint32_t>(platform.switches.size()));
    platform.switches.push_back(std::move(one));
    return {};
  });
}

Status read_links(const JsonObject& root, Platform& platform) {
  return for_each_object(root, "links", [&](const JsonObject& object) -> Status {
    WEIR_TRY(object.only({"level", "bytes_per_second", "latency_seconds"}));
    WEIR_ASSIGN(const std::string level, object.text("level"));
    Link link;
    WEIR_ASSIGN(link.level, parse_level(level));
    WEIR_ASSIGN(link.bytes_per_second, read_rate(object, "bytes_per_second"));
    WEIR_ASSIGN(link.latency_seconds, read_rate(object, "latency_seconds"));
    platform.links.push_back(link);
    return {};
  });
}

Json write_nodes(const Platform& platform) {
  Json list = Json::array();
  for (std::size_t i = 0; i < platform.nodes.size();) {
    const Node& first = platform.nodes[i];
    std::vector<std::string> names;
    for (; i < platform.nodes.size(); ++i) {
      const Node& node = platform.nodes[i];
      if (node.type != first.type || node.slots != first.slots || node.switch_ != first.switch_) break;
      names.push_back(node.name);
    }
    Json group{{"hosts", format_host_list(names)}};
    if (platform.node_types.size() > 1) group["type"] = platform.node_types[first.type].name;
    if (first.slots != 0) group["slots"] = first.slots;
    if (first.switch_ != no_switch) group["switch"] = platform.switches[first.switch_].name;
    list.push_back(std::move(group));
  }
  return list;
}

Json write_storage(const Platform& platform) {
  Json list = Json::array();
  for (std::size_t i = 0; i < platform.storage.size();) {
    StorageTarget first = platform.storage[i];
    std::vector<std::string> names;
    for (; i < platform.storage.size(); ++i) {
      first.name = platform.storage[i].name;
      if (!(platform.storage[i] == first)) break;
      names.push_back(first.name);
    }
    Json group{{"targets", format_host_list(names)}};
    if (!first.server.empty()) group["server"] = first.server;
    if (first.read_bytes_per_second != 0) group["read_bytes_per_second"] = first.read_bytes_per_second;
    if (first.write_bytes_per_second != 0) group["write_bytes_per_second"] = first.write_bytes_per_second;
    list.push_back(std::move(group));
  }
  return list;
}

}  // namespace

Json platform_to_json(const Platform& platform) {
  Json json{{"weir_platform", platform_format_version}};
  if (!platform.name.empty()) json["name"] = platform.name;
  json["node_types"] = Json::array();
  for (const NodeType& type : platform.node_types) json["node_types"].push_back(node_type_to_json(type));
  json["nodes"] = write_nodes(platform);
  for (const Switch& one : platform.switches) {
    Json entry{{"name", one.name}};
    if (one.parent != no_switch) entry["parent"] = platform.switches[one.parent].name;
    json["switches"].push_back(std::move(entry));
  }
  for (const Link& link : platform.links) {
    json["links"].push_back({{"level", to_string(link.level)},
                             {"bytes_per_second", link.bytes_per_second},
                             {"latency_seconds", link.latency_seconds}});
  }
  if (!platform.storage.empty()) json["storage"] = write_storage(platform);
  return json;
}

Result<Platform> platform_from_json(const Json& json) {
  WEIR_ASSIGN(const JsonObject root, JsonObject::of(json, ""));
  if (!root.has("weir_platform")) {
    return fail(ErrorCode::corrupt, "'weir_platform' is missing: this is not a description of a platform");
  }
  WEIR_ASSIGN(const std::uint64_t version, root.size("weir_platform"));
  if (version != platform_format_version) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("'weir_platform' is {}; this Weir reads version {}", version, platform_format_version),
        version > platform_format_version ? "use a newer Weir" : "");
  }
  WEIR_TRY(root.only({"weir_platform", "name", "node_types", "nodes", "switches", "links", "storage"}));
  Platform platform;
  if (root.has("name")) {
    WEIR_ASSIGN(platform.name, root.text("name"));
  }
  NameIndex types, switches;
  WEIR_ASSIGN(const Json* list, root.array("node_types"));
  std::uint64_t cores = 0;
  for (std::size_t i = 0; i < list->size(); ++i) {
    WEIR_ASSIGN(NodeType type, node_type_from_json((*list)[i], fmt::format("node_types[{}]", i)));
    cores += type.core_count();
    if (cores > most_cores_of_all_types) {
      return fail(ErrorCode::corrupt,
                  fmt::format("the node types have more than {} cores together", most_cores_of_all_types));
    }
    types.emplace(type.name, static_cast<std::uint32_t>(i));
    platform.node_types.push_back(std::move(type));
  }
  WEIR_TRY(read_switches(root, switches, platform));
  WEIR_TRY(read_nodes(root, types, switches, platform));
  WEIR_TRY(read_links(root, platform));
  WEIR_TRY(read_storage(root, platform));
  WEIR_TRY(check(platform));
  return platform;
}

Result<Platform> load_platform(const std::filesystem::path& path) {
  WEIR_ASSIGN(const Json json, load_json(path));
  return in(platform_from_json(json), "read", path.string());
}

Status save_platform(const Platform& platform, const std::filesystem::path& path) {
  return write_text_atomically(
      path, platform_to_json(platform).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace weir
