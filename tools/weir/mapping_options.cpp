#include "mapping_options.hpp"

#include <fmt/format.h>

namespace weir::cli {

void add_mapping_options(CLI::App& command, MappingArguments& arguments) {
  LayoutRequest& layout = arguments.layout;
  PlatformRequest& platform = arguments.platform;
  command.add_option("--mapping", layout.mapping, "Where the I/O happens; see below")->option_text("MAPPING");
  command
      .add_option("-n,--compute", layout.compute,
                  "Compute ranks; I/O servers come on top (default: as many as the nodes have room for)")
      ->option_text("N")
      ->check(CLI::Range(std::uint32_t{1}, most_ranks));
  command
      .add_option("--ratio", layout.compute_per_server, "Compute ranks per server; need not divide anything")
      ->option_text("K")
      ->check(CLI::Range(std::uint32_t{1}, most_ranks))
      ->capture_default_str();
  command.add_flag("--own-nodes", layout.own_nodes, "Servers on nodes of their own");
  command
      .add_option(
          "--node-size", layout.node_size,
          "Cores to use of each node, and the pairing that iocomp calls NODESIZE (default: found out)")
      ->option_text("S")
      ->check(CLI::Range(std::uint32_t{1}, most_cores));
  command.add_option("--nodes", platform.nodes, "That many nodes, used evenly")
      ->option_text("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{most_nodes}));
  command.add_option("--hosts", platform.hosts, "The nodes: a,b[1-3,07-09] (a Slurm node list works)")
      ->option_text("LIST");
  command.add_option("--hostfile", platform.hostfile, "The nodes, a line each")->option_text("FILE");
  command.add_option("--topology", platform.topology, "Switches of the nodes: Slurm's topology.conf")
      ->option_text("FILE");
  command
      .add_option("--platform", platform.platform,
                  "The machine: a known name, NODESxCORES[xTHREADS], or a .json or .xml file (default: this "
                  "machine)")
      ->option_text("NAME|FILE");
}

Result<Platform> platform_for(const MappingArguments& arguments) {
  WEIR_ASSIGN(Platform platform, in(open_platform(arguments.platform), "find the machine"));
  const PlatformRequest& request = arguments.platform;
  const bool nodes_said = request.nodes != 0 || !request.hosts.empty() || !request.hostfile.empty();
  const bool by_name = !request.platform.empty() && request.platform != "this";
  if (by_name && !nodes_said && platform.nodes.size() == 1 && arguments.layout.compute != 0) {
    WEIR_ASSIGN(const std::uint32_t needed, nodes_needed(arguments.layout, platform));
    if (needed > 1) WEIR_TRY(resize_nodes(platform, needed));
  }
  return platform;
}

std::string mappings_help() {
  std::string text = "Mappings:\n";
  for (const Mapping& mapping : mappings()) text += fmt::format("  {:<15}{}\n", mapping.name, mapping.what);
  return text;
}

}  // namespace weir::cli
