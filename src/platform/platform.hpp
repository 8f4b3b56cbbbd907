// Platform: what the machine is, as a plain value. Nodes share their types, so ten thousand equal nodes are
// one type and a list of names. Cores are numbered 0, 1, ... within a node, in the order of the hardware tree
// (hwloc's logical order): a package, a NUMA domain and a cache therefore each cover a contiguous span of
// cores. Hardware threads (PUs) carry the numbers that the operating system gives them, the ones that
// launchers and affinity masks use.
//
// Sources: source.hpp. Text form: platform_json.hpp. Drawing: render.hpp. Fast queries: lookup.hpp.
// Threads: plain values; functions only read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "platform/numbers.hpp"

namespace weir {

struct Host;  // host_list.hpp

// What two places share at the closest. `core` stands for two threads of one core or the same thread.
enum class Level : std::uint8_t { core, cache, numa, package, node, network_switch, machine };
inline constexpr int level_count = 7;
std::string_view to_string(Level level);  // "core", "cache", "numa", "package", "node", "switch", "machine"
Result<Level> parse_level(std::string_view name);

// Limits of a node; check() keeps them, and so do all sources.
inline constexpr std::uint32_t most_cores = 65'536;
inline constexpr std::uint32_t most_cores_of_all_types = 1'048'576;
inline constexpr std::uint32_t most_threads_per_core = 64;
inline constexpr std::uint32_t most_domains_near_core = 16;  // on average
inline constexpr std::uint32_t largest_pu = 1'048'575;
inline constexpr std::uint32_t most_nodes = 1'000'000;
inline constexpr std::uint32_t most_switches = 1'000'000;
inline constexpr std::uint32_t most_targets = 1'000'000;

struct CoreSpan {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool contains(std::uint32_t core) const { return core >= first && core - first < count; }
  bool operator==(const CoreSpan&) const = default;
};

struct Core {
  Numbers pus;  // the numbers of its hardware threads, first thread first
  bool operator==(const Core&) const = default;
};

struct Package {
  CoreSpan cores;
  bool operator==(const Package&) const = default;
};

struct NumaDomain {
  std::uint32_t os_number = 0;
  std::uint64_t memory_bytes = 0;  // 0: not known
  CoreSpan cores;                  // those it is near to; more than one domain can be near to a core
  bool operator==(const NumaDomain&) const = default;
};

// A data or unified cache; instruction caches are left out.
struct Cache {
  std::uint32_t level = 0;
  std::uint64_t bytes = 0;  // 0: not known
  CoreSpan cores;
  bool operator==(const Cache&) const = default;
};

struct NodeType {
  std::string name;
  std::string model;  // of the processor; may be empty
  std::vector<Core> cores;
  std::vector<Package> packages;         // in order, together all cores
  std::vector<NumaDomain> numa_domains;  // every core is in at least one
  std::vector<Cache> caches;             // by level, then by first core; those of one level do not overlap
  Numbers unusable_pus;                  // ascending; there, but not allowed to us (cgroup, affinity mask)
  bool operator==(const NodeType&) const = default;

  std::uint32_t core_count() const { return static_cast<std::uint32_t>(cores.size()); }
  std::uint32_t pu_count() const;
  std::uint64_t memory_bytes() const;
  Numbers all_pus() const;     // ascending
  Numbers usable_pus() const;  // ascending
};

inline constexpr std::uint32_t no_switch = UINT32_MAX;

struct Node {
  std::string name;
  std::uint32_t type = 0;             // into Platform::node_types
  std::uint32_t slots = 0;            // ranks that may run there; 0: as many as it has cores
  std::uint32_t switch_ = no_switch;  // into Platform::switches
  bool operator==(const Node&) const = default;
};

// Links between two places whose closest common level is `level`, as a measurement gives them.
struct Link {
  Level level = Level::node;
  double bytes_per_second = 0;
  double latency_seconds = 0;
  bool operator==(const Link&) const = default;
};

struct Switch {
  std::string name;
  std::uint32_t parent = no_switch;  // into Platform::switches, before this one
  bool operator==(const Switch&) const = default;
};

// One place where bytes go to rest: an object storage target, a disk.
struct StorageTarget {
  std::string name;
  std::string server;                // the file server in front of it; may be empty
  double read_bytes_per_second = 0;  // 0: not known
  double write_bytes_per_second = 0;
  bool operator==(const StorageTarget&) const = default;
};

struct Platform {
  std::string name;
  std::vector<NodeType> node_types;
  std::vector<Node> nodes;
  std::vector<Switch> switches;
  std::vector<Link> links;  // at most one a level
  std::vector<StorageTarget> storage;
  bool operator==(const Platform&) const = default;

  const NodeType& type_of(std::uint32_t node) const { return node_types[nodes[node].type]; }
  std::uint64_t core_count() const;  // of all nodes
  std::uint64_t pu_count() const;
  std::uint64_t memory_bytes() const;
  const Link* link(Level level) const;  // null: not known
};

// The invariants stated above; the first one that does not hold is the failure.
Status check(const NodeType& type);
Status check(const Platform& platform);

// A node of equal parts. Hardware threads are numbered as Linux mostly does: the first thread of every core,
// then the second.
struct RegularNode {
  std::string name = "compute";
  std::string model;
  std::uint32_t cores = 1;
  std::uint32_t threads_per_core = 1;
  std::uint32_t packages = 1;      // divides cores
  std::uint32_t numa_domains = 1;  // divides cores
  std::uint64_t memory_bytes = 0;  // of the node
  struct CacheShape {
    std::uint32_t level;
    std::uint64_t bytes;
    std::uint32_t cores;  // that share one; divides cores
  };
  std::vector<CacheShape> caches;
};
Result<NodeType> make_node_type(const RegularNode& shape);

// Makes it `count` nodes: the first ones stay, further ones are like the last and named on from it
// (nid000001, nid000002, ...).
Status resize_nodes(Platform& platform, std::uint64_t count);

// The nodes become these hosts, in this order. A host that the platform knows keeps its type and switch;
// others need a platform of a single node type.
Status use_hosts(Platform& platform, const std::vector<Host>& hosts);

}  // namespace weir
