#include "mapping_options.hpp"

#include <fmt/format.h>

#include "command_words.hpp"
#include "plan/mapping_plan.hpp"

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
  command
      .add_option("--nodes", platform.nodes,
                  "That many nodes, used evenly; with --node-size filled one after the other")
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

namespace {

bool says_nodes(const PlatformRequest& request) {
  return request.nodes != 0 || !request.hosts.empty() || !request.hostfile.empty();
}

bool is_this_machine(const PlatformRequest& request) {
  return request.platform.empty() || request.platform == "this";
}

}  // namespace

Result<Platform> platform_for(const MappingArguments& arguments) {
  WEIR_ASSIGN(Platform platform, in(open_platform(arguments.platform), "find the machine"));
  const PlatformRequest& request = arguments.platform;
  if (!is_this_machine(request) && !says_nodes(request) && platform.nodes.size() == 1 &&
      arguments.layout.compute != 0) {
    WEIR_ASSIGN(const std::uint32_t needed, nodes_needed(arguments.layout, platform));
    if (needed > 1) WEIR_TRY(resize_nodes(platform, needed));
  }
  return platform;
}

Result<Plan> plan_for(const MappingArguments& arguments) {
  LayoutRequest layout = arguments.layout;
  WEIR_TRY(in(find_mapping(layout.mapping), "--mapping"));
  layout.spread = says_nodes(arguments.platform);  // who names nodes wants all of them
  layout.overfull = is_this_machine(arguments.platform);
  WEIR_ASSIGN(const Platform platform, platform_for(arguments));
  return plan_mapping(layout, platform);
}

std::string words_of(const MappingArguments& arguments) {
  const LayoutRequest& layout = arguments.layout;
  const PlatformRequest& platform = arguments.platform;
  std::string words;
  if (!layout.mapping.empty()) words += " --mapping " + layout.mapping;
  if (layout.compute != 0) words += fmt::format(" -n {}", layout.compute);
  if (layout.compute_per_server != 1) words += fmt::format(" --ratio {}", layout.compute_per_server);
  if (layout.own_nodes) words += " --own-nodes";
  if (layout.node_size != 0) words += fmt::format(" --node-size {}", layout.node_size);
  if (platform.nodes != 0) words += fmt::format(" --nodes {}", platform.nodes);
  for (const auto& [name, value] : {std::pair{"--hosts", platform.hosts},
                                    {"--hostfile", platform.hostfile},
                                    {"--topology", platform.topology},
                                    {"--platform", platform.platform}}) {
    if (!value.empty()) words += fmt::format(" {} {}", name, shell_quoted(value));
  }
  return words.empty() ? words : words.substr(1);
}

std::string mappings_help() {
  std::string text = "Mappings:\n";
  for (const Mapping& mapping : mappings()) text += fmt::format("  {:<15}{}\n", mapping.name, mapping.what);
  return text;
}

}  // namespace weir::cli
