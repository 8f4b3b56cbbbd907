#include "plan/plan_json.hpp"

#include <algorithm>

#include "core/file.hpp"
#include "platform/host_list.hpp"

namespace weir {

namespace {

Result<Numbers> read_numbers(const JsonObject& object, const std::string& key,
                             std::size_t at_most = longest_numbers) {
  if (!object.has(key)) return Numbers{};
  WEIR_ASSIGN(const std::string text, object.text(key));
  auto numbers = parse_numbers(text, at_most);
  if (!numbers)
    return fail(ErrorCode::corrupt, fmt::format("'{}.{}': {}", object.where(), key, numbers.error().cause));
  return numbers;
}

// The values under `key` cut into lists by the lengths under `length_key`; without lengths each list holds
// one value.
Result<NumberLists> read_lists(const JsonObject& object, const std::string& key,
                               const std::string& length_key) {
  WEIR_ASSIGN(const Numbers values, read_numbers(object, key));
  WEIR_ASSIGN(Numbers lengths, read_numbers(object, length_key));
  if (!object.has(length_key)) lengths.assign(values.size(), 1);
  NumberLists lists;
  lists.reserve(lengths.size());
  std::size_t next = 0;
  for (const std::uint32_t length : lengths) {
    if (length > values.size() - next) break;
    lists.add(std::span(values).subspan(next, length));
    next += length;
  }
  if (lists.size() != lengths.size() || next != values.size()) {
    return fail(ErrorCode::corrupt, fmt::format("'{}.{}' does not add up to the {} numbers of '{}'",
                                                object.where(), length_key, values.size(), key));
  }
  return lists;
}

void write_numbers(Json& json, const char* key, const Numbers& numbers) {
  if (!numbers.empty()) json[key] = format_numbers(numbers);
}

void write_lists(Json& json, const char* key, const char* length_key, const NumberLists& lists) {
  if (lists.empty()) return;
  json[key] = format_numbers(lists.values());
  Numbers lengths;
  lengths.reserve(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i)
    lengths.push_back(static_cast<std::uint32_t>(lists[i].size()));
  const bool ones =
      std::all_of(lengths.begin(), lengths.end(), [](std::uint32_t length) { return length == 1; });
  if (!ones) json[length_key] = format_numbers(lengths);
}

Result<std::uint32_t> read_count(const JsonObject& object, const std::string& key, std::uint32_t most) {
  WEIR_ASSIGN(const std::uint64_t value, object.size(key));
  if (value <= most) return static_cast<std::uint32_t>(value);
  const std::string place = object.where().empty() ? key : object.where() + "." + key;
  return fail(ErrorCode::corrupt, fmt::format("'{}' is {}, more than {}", place, value, most));
}

// Calls read(object) for the object under `key`, if there is one.
template <class Read>
Status read_part(const JsonObject& root, const std::string& key, const std::vector<std::string>& keys,
                 Read read) {
  if (!root.has(key)) return {};
  WEIR_ASSIGN(const Json* value, root.any(key));
  WEIR_ASSIGN(const JsonObject object, JsonObject::of(*value, key));
  WEIR_TRY(object.only(keys));
  return read(object);
}

Status read_roles(const JsonObject& root, Roles& roles) {
  return read_part(root, "roles", {"mapping", "servers", "server_of"},
                   [&](const JsonObject& object) -> Status {
                     if (object.has("mapping")) {
                       WEIR_ASSIGN(roles.mapping, object.text("mapping"));
                     }
                     WEIR_ASSIGN(roles.servers, read_numbers(object, "servers", most_ranks));
                     WEIR_ASSIGN(roles.server_of, read_numbers(object, "server_of", most_ranks));
                     return {};
                   });
}

Status read_placement(const JsonObject& root, Placement& placement) {
  const std::vector<std::string> keys = {"hosts", "nodes", "pus", "pus_per_rank", "oversubscribe"};
  return read_part(root, "placement", keys, [&](const JsonObject& object) -> Status {
    if (object.has("hosts")) {
      WEIR_ASSIGN(const std::string text, object.text("hosts"));
      const auto hosts = parse_host_list(text);
      if (!hosts) return fail(ErrorCode::corrupt, "'placement.hosts': " + hosts.error().cause);
      for (const Host& host : *hosts) placement.hosts.push_back(host.name);
    }
    WEIR_ASSIGN(placement.node_of, read_numbers(object, "nodes", most_ranks));
    WEIR_ASSIGN(placement.pus_of, read_lists(object, "pus", "pus_per_rank"));
    if (object.has("oversubscribe")) {
      WEIR_ASSIGN(placement.oversubscribe, object.boolean("oversubscribe"));
    }
    return {};
  });
}

Status read_aggregators(const JsonObject& root, Aggregators& aggregators) {
  const std::vector<std::string> keys = {"ranks", "targets", "targets_per_rank"};
  return read_part(root, "aggregators", keys, [&](const JsonObject& object) -> Status {
    WEIR_ASSIGN(aggregators.ranks, read_numbers(object, "ranks", most_ranks));
    WEIR_ASSIGN(aggregators.targets_of, read_lists(object, "targets", "targets_per_rank"));
    return {};
  });
}

Status read_throttle(const JsonObject& root, Throttle& throttle) {
  return read_part(root, "throttle", {"requests_per_target"}, [&](const JsonObject& object) -> Status {
    if (object.has("requests_per_target")) {
      WEIR_ASSIGN(throttle.requests_per_target, read_count(object, "requests_per_target", UINT32_MAX));
    }
    return {};
  });
}

Status read_backend(const JsonObject& root, BackendChoice& backend) {
  return read_part(root, "backend", {"name", "options"}, [&](const JsonObject& object) -> Status {
    WEIR_ASSIGN(backend.name, object.text("name"));
    if (!object.has("options")) return {};
    WEIR_ASSIGN(const Json* value, object.any("options"));
    WEIR_ASSIGN(const JsonObject options, JsonObject::of(*value, "backend.options"));
    for (const auto& item : value->items()) {
      WEIR_ASSIGN(backend.options[item.key()], options.text(item.key()));
    }
    return {};
  });
}

}  // namespace

Json plan_to_json(const Plan& plan) {
  const Plan defaults;
  Json json{{"weir_plan", plan_format_version}};
  if (plan.ranks != 0) json["ranks"] = plan.ranks;
  if (plan.mode != defaults.mode) json["mode"] = to_string(plan.mode);
  if (plan.roles != defaults.roles) {
    Json& roles = json["roles"];
    roles["mapping"] = plan.roles.mapping;
    write_numbers(roles, "servers", plan.roles.servers);
    write_numbers(roles, "server_of", plan.roles.server_of);
  }
  if (plan.placement != defaults.placement) {
    Json& placement = json["placement"];
    placement = Json::object();
    if (!plan.placement.hosts.empty()) placement["hosts"] = format_host_list(plan.placement.hosts);
    write_numbers(placement, "nodes", plan.placement.node_of);
    write_lists(placement, "pus", "pus_per_rank", plan.placement.pus_of);
    if (plan.placement.oversubscribe) placement["oversubscribe"] = true;
  }
  if (plan.aggregators != defaults.aggregators) {
    Json& aggregators = json["aggregators"];
    aggregators = Json::object();
    write_numbers(aggregators, "ranks", plan.aggregators.ranks);
    write_lists(aggregators, "targets", "targets_per_rank", plan.aggregators.targets_of);
  }
  if (plan.throttle != defaults.throttle)
    json["throttle"]["requests_per_target"] = plan.throttle.requests_per_target;
  if (plan.backend != defaults.backend) {
    json["backend"]["name"] = plan.backend.name;
    for (const auto& [name, value] : plan.backend.options) json["backend"]["options"][name] = value;
  }
  return json;
}

Result<Plan> plan_from_json(const Json& json) {
  WEIR_ASSIGN(const JsonObject root, JsonObject::of(json, ""));
  if (!root.has("weir_plan")) return fail(ErrorCode::corrupt, "'weir_plan' is missing: this is not a plan");
  WEIR_ASSIGN(const std::uint64_t version, root.size("weir_plan"));
  if (version != plan_format_version) {
    return fail(ErrorCode::unsupported,
                fmt::format("'weir_plan' is {}; this Weir reads version {}", version, plan_format_version),
                version > plan_format_version ? "use a newer Weir" : "");
  }
  WEIR_TRY(
      root.only({"weir_plan", "ranks", "mode", "roles", "placement", "aggregators", "throttle", "backend"}));
  Plan plan;
  if (root.has("ranks")) {
    WEIR_ASSIGN(plan.ranks, read_count(root, "ranks", most_ranks));
  }
  if (root.has("mode")) {
    WEIR_ASSIGN(const std::string name, root.text("mode"));
    WEIR_ASSIGN(plan.mode, in(parse_mode(name), "read 'mode'"));
  }
  WEIR_TRY(read_roles(root, plan.roles));
  WEIR_TRY(read_placement(root, plan.placement));
  WEIR_TRY(read_aggregators(root, plan.aggregators));
  WEIR_TRY(read_throttle(root, plan.throttle));
  WEIR_TRY(read_backend(root, plan.backend));
  WEIR_TRY(check(plan));
  return plan;
}

Result<Plan> load_plan(const std::filesystem::path& path) {
  WEIR_ASSIGN(const Json json, load_json(path));
  return in(plan_from_json(json), "read", path.string());
}

Status save_plan(const Plan& plan, const std::filesystem::path& path) {
  WEIR_TRY(in(check(plan), "check the plan", path.string()));
  return write_text_atomically(path,
                               plan_to_json(plan).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace weir
