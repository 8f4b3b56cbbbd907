#include "store/node_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace weir::store {

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

#define WEIR_NODE_COLUMNS "name, role, coordinates, rack, targets, servers"

Result<Node> node_of(const Row& row) {
  Node node;
  node.name = row.text(0);
  const auto role = node_role(row.bytes(1));
  bool good = role.has_value();
  node.role = role.value_or(NodeRole::compute);
  for (const std::string& word : words_of(row.bytes(2))) {
    std::int32_t number = 0;
    good = good && std::from_chars(word.data(), word.data() + word.size(), number).ec == std::errc();
    node.coordinates.push_back(number);
  }
  node.rack = row.text(3);
  node.targets = words_of(row.bytes(4));
  node.servers = words_of(row.bytes(5));
  if (!good)
    return fail(ErrorCode::corrupt, fmt::format("the row of node '{}' cannot be read", node.name),
                "import the node table again");
  return node;
}

}  // namespace

Status write_nodes(Database& database, std::span<const Node> nodes) {
  for (const Node& node : nodes) {
    WEIR_TRY(check(node));
    const std::string coordinates = fmt::format("{}", fmt::join(node.coordinates, " ")),
                      targets = fmt::format("{}", fmt::join(node.targets, " ")),
                      servers = fmt::format("{}", fmt::join(node.servers, " "));
    WEIR_TRY(database.run(
        "INSERT INTO weir_nodes (" WEIR_NODE_COLUMNS
        ") VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO UPDATE SET role = excluded.role, "
        "coordinates = "
        "excluded.coordinates, rack = excluded.rack, targets = excluded.targets, servers = excluded.servers",
        {std::string_view(node.name), to_string(node.role), std::string_view(coordinates),
         std::string_view(node.rack), std::string_view(targets), std::string_view(servers)}));
  }
  return {};
}

Result<std::vector<Node>> read_nodes(Database& database, const NodeQuery& query) {
  std::vector<Node> nodes;
  const auto take = [&](const Row& row) -> Status {
    WEIR_ASSIGN(Node node, node_of(row));
    if (query.roles.empty() ||
        std::find(query.roles.begin(), query.roles.end(), node.role) != query.roles.end())
      nodes.push_back(std::move(node));
    return {};
  };
  if (!query.names.empty()) {
    for (const std::string& name : query.names)
      WEIR_TRY(database.run("SELECT " WEIR_NODE_COLUMNS " FROM weir_nodes WHERE name = $1",
                            {std::string_view(name)}, take));
    return nodes;
  }
  if (query.roles.empty()) {
    WEIR_TRY(database.run("SELECT " WEIR_NODE_COLUMNS " FROM weir_nodes ORDER BY id", {}, take));
    return nodes;
  }
  // The role is indexed: of a large machine the servers are few.
  std::vector<std::pair<std::int64_t, Node>> numbered;
  for (const NodeRole role : query.roles) {
    WEIR_TRY(database.run("SELECT " WEIR_NODE_COLUMNS ", id FROM weir_nodes WHERE role = $1",
                          {to_string(role)}, [&](const Row& row) -> Status {
                            WEIR_ASSIGN(Node node, node_of(row));
                            numbered.emplace_back(row.integer(6), std::move(node));
                            return {};
                          }));
  }
  std::sort(numbered.begin(), numbered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [id, node] : numbered) nodes.push_back(std::move(node));
  return nodes;
}

Status write_topology(Database& database, const Topology& topology) {
  WEIR_TRY(check(topology));
  const std::string text = to_json(topology).dump(-1, ' ', false, Json::error_handler_t::replace);
  return database.run(
      "INSERT INTO weir_meta (name, value) VALUES ('topology', $1) ON CONFLICT (name) DO UPDATE SET value = "
      "excluded.value",
      {std::string_view(text)});
}

Result<std::optional<Topology>> read_topology(Database& database) {
  std::optional<std::string> text;
  WEIR_TRY(
      database.run("SELECT value FROM weir_meta WHERE name = 'topology'", {}, [&](const Row& row) -> Status {
        text = row.text(0);
        return {};
      }));
  if (!text) return std::optional<Topology>();
  WEIR_ASSIGN(const Json json, parse_json(*text));
  WEIR_ASSIGN(Topology topology, topology_from_json(json));
  return std::optional<Topology>(std::move(topology));
}

}  // namespace weir::store
