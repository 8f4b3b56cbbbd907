#include "platform/sites.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "platform/host_list.hpp"
#include "platform/hwloc_source.hpp"

namespace weir {

namespace {

constexpr std::uint64_t KiB = 1024;
constexpr std::uint64_t MiB = 1024 * KiB;
constexpr std::uint64_t GiB = 1024 * MiB;

Result<Platform> one_node(std::string name, std::string host, const RegularNode& shape) {
  Platform platform{.name = std::move(name)};
  WEIR_ASSIGN(NodeType type, make_node_type(shape));
  platform.node_types.push_back(std::move(type));
  platform.nodes.push_back({.name = std::move(host)});
  return platform;
}

// HPE Cray EX: two AMD EPYC 7742. The second thread of core c is c + 128.
Result<Platform> archer2() {
  WEIR_ASSIGN(Platform platform,
              one_node("archer2", "nid000001",
                       {.model = "AMD EPYC 7742",
                        .cores = 128,
                        .threads_per_core = 2,
                        .packages = 2,
                        .numa_domains = 8,
                        .memory_bytes = 256 * GiB,
                        .caches = {{1, 32 * KiB, 1}, {2, 512 * KiB, 1}, {3, 16 * MiB, 4}}}));
  for (int i = 0; i < 12; ++i)
    platform.storage.push_back({.name = fmt::format("ost{}", i)});  // of each of its file systems
  return platform;
}

// HPE Apollo 70: two Marvell ThunderX2 of 32 cores with four threads. The firmware numbers a package after
// the other, and in it the first threads of all cores before the second ones: threads 0, 32, 64 and 96 are
// core 0.
Result<Platform> fulhame() {
  WEIR_ASSIGN(Platform platform,
              one_node("fulhame", "fulhame1",
                       {.model = "Marvell ThunderX2",
                        .cores = 64,
                        .threads_per_core = 4,
                        .packages = 2,
                        .numa_domains = 2,
                        .memory_bytes = 256 * GiB,
                        .caches = {{1, 32 * KiB, 1}, {2, 256 * KiB, 1}, {3, 32 * MiB, 32}}}));
  auto& cores = platform.node_types[0].cores;
  for (std::uint32_t core = 0; core < cores.size(); ++core) {
    for (std::uint32_t thread = 0; thread < 4; ++thread)
      cores[core].pus[thread] = core / 32 * 128 + thread * 32 + core % 32;
  }
  return platform;
}

// The K computer's compute node: one SPARC64 VIIIfx, eight cores on a shared second-level cache.
Result<Platform> k() {
  WEIR_ASSIGN(Platform platform, one_node("k", "k00001",
                                          {.model = "SPARC64 VIIIfx",
                                           .cores = 8,
                                           .memory_bytes = 16 * GiB,
                                           .caches = {{1, 32 * KiB, 1}, {2, 6 * MiB, 8}}}));
  platform.links = {{.level = Level::machine, .bytes_per_second = 5e9}};  // a Tofu link, one direction
  return platform;
}

// The cluster of the SetMatch paper: 16 nodes of four 12-core Opterons, DDR InfiniBand; bandwidths as
// measured there.
Result<Platform> crill() {
  WEIR_ASSIGN(Platform platform, one_node("crill", "crill001",
                                          {.model = "AMD Opteron (Magny-Cours)",
                                           .cores = 48,
                                           .packages = 4,
                                           .numa_domains = 4,
                                           .memory_bytes = 64 * GiB}));
  platform.links = {{.level = Level::node, .bytes_per_second = 5800e6},
                    {.level = Level::machine, .bytes_per_second = 2100e6}};
  return platform;
}

Result<Platform> this_machine() {
  char host[256] = "localhost";
  if (::gethostname(host, sizeof host - 1) != 0 || !is_host_name(host))
    std::string_view("localhost").copy(host, sizeof host);
  Platform platform{.name = "this"};
  WEIR_ASSIGN(NodeType type, node_type_of_this_machine());
  platform.node_types.push_back(std::move(type));
  platform.nodes.push_back({.name = host});
  WEIR_TRY(check(platform));
  return platform;
}

// "8x48" and "8x48x2"; none if the text is not of this form.
std::optional<Numbers> parse_shape(std::string_view text) {
  Numbers numbers;
  for (;;) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    numbers.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
  if (numbers.size() < 2 || numbers.size() > 3) return std::nullopt;
  return numbers;
}

Result<Platform> uniform(std::string_view name, const Numbers& shape) {
  WEIR_ASSIGN(Platform platform,
              one_node(std::string(name), "node1",
                       {.cores = shape[1], .threads_per_core = shape.size() == 3 ? shape[2] : 1}));
  WEIR_TRY(resize_nodes(platform, shape[0]));
  return platform;
}

}  // namespace

const std::vector<Site>& sites() {
  static const std::vector<Site> list = {
      {"this", "the machine we run on, as hwloc sees it"},
      {"archer2", "HPE Cray EX node: 2 x 64 cores, 2 threads a core"},
      {"fulhame", "HPE Apollo 70 node: 2 x 32 cores, 4 threads a core"},
      {"k", "compute node of the K computer: 8 cores"},
      {"crill", "node of the SetMatch paper's cluster: 4 x 12 cores"},
  };
  return list;
}

std::optional<Result<Platform>> find_site(std::string_view name) {
  if (name == "this") return this_machine();
  if (name == "archer2") return archer2();
  if (name == "fulhame") return fulhame();
  if (name == "k") return k();
  if (name == "crill") return crill();
  if (const auto shape = parse_shape(name)) return uniform(name, *shape);
  return std::nullopt;
}

}  // namespace weir
