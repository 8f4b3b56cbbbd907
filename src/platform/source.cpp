#include "platform/source.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/file.hpp"
#include "platform/host_list.hpp"
#include "platform/hwloc_source.hpp"
#include "platform/platform_json.hpp"
#include "platform/sites.hpp"
#include "platform/slurm_topology.hpp"
#include "platform/xml_source.hpp"

namespace weir {

namespace {

Platform one_node(NodeType type, std::string name) {
  Platform platform{.name = std::move(name)};
  platform.node_types.push_back(std::move(type));
  platform.nodes.push_back({.name = "node1"});
  return platform;
}

Result<Platform> open_xml(const std::string& path) {
  WEIR_ASSIGN(NodeType type, node_type_from_xml_file(path));
  return one_node(std::move(type), std::filesystem::path(path).stem().string());
}

Result<Platform> open_by_name(const std::string& name) {
  if (auto site = find_site(name)) return *site;
  if (name.ends_with(".xml")) return open_xml(name);
  std::error_code error;
  if (name.ends_with(".json") || std::filesystem::exists(name, error)) return load_platform(name);
  std::vector<std::string> known;
  for (const Site& site : sites()) known.emplace_back(site.name);
  return fail(ErrorCode::invalid_argument,
              fmt::format("'{}' is neither a known machine nor a file{}", name, suggest(name, known)),
              "NODESxCORES like 8x48, and .json and .xml files work too");
}

Result<Platform> open_source(const PlatformRequest& request) {
  const int given = (request.platform.empty() ? 0 : 1) + (request.xml.empty() ? 0 : 1) +
                    (request.synthetic.empty() ? 0 : 1);
  if (given > 1)
    return fail(ErrorCode::invalid_argument,
                "only one of a platform, an XML file and a synthetic description can be given");
  if (!request.xml.empty()) return open_xml(request.xml);
  if (!request.synthetic.empty()) {
    WEIR_ASSIGN(NodeType type, node_type_from_synthetic(request.synthetic));
    return one_node(std::move(type), "synthetic");
  }
  return open_by_name(request.platform.empty() ? "this" : request.platform);
}

}  // namespace

Result<Platform> open_platform(const PlatformRequest& request) {
  const int given =
      (request.hosts.empty() ? 0 : 1) + (request.hostfile.empty() ? 0 : 1) + (request.nodes == 0 ? 0 : 1);
  if (given > 1)
    return fail(ErrorCode::invalid_argument,
                "only one of hosts, a host file and a number of nodes can be given");
  WEIR_ASSIGN(Platform platform, open_source(request));
  if (!request.hosts.empty()) {
    WEIR_ASSIGN(const auto hosts, parse_host_list(request.hosts));
    WEIR_TRY(use_hosts(platform, hosts));
  }
  if (!request.hostfile.empty()) {
    WEIR_ASSIGN(const std::string text, read_text(request.hostfile));
    WEIR_ASSIGN(const auto hosts, in(parse_host_file(text), "read", request.hostfile));
    WEIR_TRY(use_hosts(platform, hosts));
  }
  if (request.nodes != 0) WEIR_TRY(resize_nodes(platform, request.nodes));
  if (!request.topology.empty()) {
    WEIR_ASSIGN(const std::string text, read_text(request.topology));
    WEIR_ASSIGN(const auto topology, in(parse_topology(text), "read", request.topology));
    const bool take_nodes = given == 0 && platform.nodes.size() == 1;
    WEIR_TRY(in(use_topology(platform, topology, take_nodes), "use", request.topology));
  }
  WEIR_TRY(check(platform));
  return platform;
}

}  // namespace weir
