// Nodes as rows, and the topology. Threads: plain functions over a Database; those that write expect a
// transaction.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "store/database.hpp"
#include "store/store.hpp"

namespace weir::store {

Status write_nodes(Database& database, std::span<const Node> nodes);
Result<std::vector<Node>> read_nodes(Database& database, const NodeQuery& query);
Status write_topology(Database& database, const Topology& topology);
Result<std::optional<Topology>> read_topology(Database& database);

}  // namespace weir::store
