// weir platform: what the machine is.
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "platform/platform_json.hpp"
#include "platform/render.hpp"
#include "platform/sites.hpp"
#include "platform/source.hpp"

namespace weir::cli {

namespace {

struct ShowArguments {
  PlatformRequest request;
  std::string source;
  bool json = false;
};

Status show(ShowArguments arguments) {
  if (!arguments.source.empty()) {
    if (!arguments.request.platform.empty()) {
      return fail(ErrorCode::invalid_argument, "the machine is given twice: as SOURCE and with --platform");
    }
    arguments.request.platform = arguments.source;
  }
  WEIR_ASSIGN(const Platform platform, open_platform(arguments.request));
  if (arguments.json) {
    fmt::print("{}\n", platform_to_json(platform).dump(2));
  } else {
    fmt::print("{}", render(platform));
  }
  return {};
}

}  // namespace

void add_platform_command(CLI::App& app, Context& context) {
  CLI::App* platform =
      app.add_subcommand("platform", "Show the machine: nodes, cores, hardware threads, memory, storage");
  platform->require_subcommand(1);

  CLI::App* sub =
      platform->add_subcommand("show", "Draw a machine, or print it as JSON that --platform takes");
  const auto arguments = std::make_shared<ShowArguments>();
  PlatformRequest& request = arguments->request;
  std::string machines = "Machines known by name:\n";
  for (const Site& site : sites()) machines += fmt::format("  {:<10}{}\n", site.name, site.what);

  sub->add_option("source", arguments->source,
                  "A known machine, NODESxCORES[xTHREADS] such as 8x48, or a .json or .xml file (default: "
                  "this machine)")
      ->option_text("SOURCE");
  sub->add_option("--platform", request.platform, "The same as SOURCE")->option_text("NAME|FILE");
  sub->add_option("--xml", request.xml, "A file saved with `lstopo --of xml`, whatever its name")
      ->option_text("FILE");
  sub->add_option("--synthetic", request.synthetic, "A description in hwloc's words, as for `lstopo -i`")
      ->option_text("TEXT");
  sub->add_option("--hosts", request.hosts,
                  "The nodes: a,b[1-3,07-09],c[0-1]n[2-5], with slots a:16 (a Slurm node list works)")
      ->option_text("LIST");
  sub->add_option("--hostfile", request.hostfile,
                  "The nodes, a line each: `node1 slots=4` (Open MPI) or `node1:4` (MPICH)")
      ->option_text("FILE");
  sub->add_option("--nodes", request.nodes, "That many nodes of the machine's type")
      ->option_text("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{most_nodes}));
  sub->add_flag("--json", arguments->json, "Print JSON: edit it, and give it back with --platform");
  sub->footer(machines +
              "\n"
              "Examples:\n"
              "  weir platform show                             the machine we run on\n"
              "  weir platform show archer2 --nodes 4           four nodes of ARCHER2\n"
              "  weir platform show 8x48 --json > cluster.json  a description to edit\n"
              "  weir platform show cluster.json\n"
              "  weir platform show --hosts \"$SLURM_JOB_NODELIST\" --platform archer2\n"
              "  lstopo --of xml > node.xml; weir platform show node.xml\n"
              "  weir platform show --synthetic 'pack:2 numa:2 core:8 pu:2'");
  sub->callback([arguments, &context] { context.exit_code = report(show(*arguments)); });
}

}  // namespace weir::cli
