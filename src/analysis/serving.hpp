// From a job to the I/O nodes and storage targets that served it, by the site's rule:
//
//   z-link   I/O zoning, as on the K computer: the I/O nodes that differ from a compute node of the job only
//   in Z all      every server serves every job table    the node table names the servers of each compute
//   node
//
// Where a store has no I/O nodes at all (a laptop, `weir run`), the job's own nodes are looked at instead.
//
// Threads: a finder is not changed by its const functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/job.hpp"
#include "store/node.hpp"

namespace weir::analysis {

struct Serving {
  std::string rule;                  // in words
  bool own_nodes = false;            // no servers are known: `servers` are the job's own nodes
  std::vector<store::Node> servers;  // I/O nodes in the order of the node table
  std::vector<std::string> targets;  // of all servers
  std::vector<std::string> notes;    // what could not be told, and why
};

class ServerFinder {
 public:
  // All nodes of the store, compute nodes included, in table order.
  ServerFinder(std::vector<store::Node> nodes, std::optional<store::Topology> topology);

  Serving serving(const store::Job& job) const;

  // Places in io_nodes() of the servers of a job, ascending. Empty where the job's own nodes are looked at.
  std::vector<std::uint32_t> servers(const store::Job& job) const;
  const std::vector<store::Node>& io_nodes() const { return io_nodes_; }
  const std::optional<store::Topology>& topology() const { return topology_; }

 private:
  enum class Rule { z_link, all, table };
  Rule rule_ = Rule::all;
  std::vector<std::string> notes_;
  std::optional<store::Topology> topology_;
  std::vector<store::Node> io_nodes_;
  // z-link: where a compute node stands without its Z, and which I/O nodes stand there. table: a compute
  // node's list of servers.
  std::unordered_map<std::string, std::uint32_t> column_of_;
  std::vector<std::vector<std::uint32_t>> servers_in_;
};

// Where targets stand in a picture: columns are places in the machine (all coordinates but the last ones that
// servers of one place share), rows the targets there. The paper's job has 16 x 12.
struct TargetGrid {
  std::vector<std::string> columns, rows;  // labels
  std::vector<std::string> targets;        // targets[row * columns + column]; empty: none there
};
TargetGrid target_grid(const Serving& serving);

}  // namespace weir::analysis
