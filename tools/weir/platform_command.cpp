// weir platform: what the machine is.
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#ifdef WEIR_WITH_MPI
#include "platform_measure.hpp"
#endif
#include "platform/platform_json.hpp"
#include "platform/render.hpp"
#include "platform/sites.hpp"
#include "platform/source.hpp"
#include "terminal.hpp"

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
    fmt::print("{}\n", pretty(platform_to_json(platform)));
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
  sub->add_option("--topology", request.topology,
                  "Switches: Slurm's topology.conf, or what `scontrol show topology` prints")
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
              "  weir platform show archer2 --topology /etc/slurm/topology.conf\n"
              "  lstopo --of xml > node.xml; weir platform show node.xml\n"
              "  weir platform show --synthetic 'pack:2 numa:2 core:8 pu:2'");
  sub->callback([arguments, &context] { context.exit_code = report(show(*arguments)); });

#ifdef WEIR_WITH_MPI
  CLI::App* measure = platform->add_subcommand(
      "measure", "Measure bandwidth and latency between cores, packages and nodes, as a platform file");
  const auto how = std::make_shared<MeasureArguments>();
  measure->add_option("-o,--output", how->output, "Write the platform here (default: only print)")
      ->option_text("FILE");
  measure->add_option("-n,--ranks", how->ranks, "Ranks to start here (default: as many as are useful)")
      ->option_text("N")
      ->check(CLI::Range(2U, 1024U));
  measure->add_option("--largest", how->largest, "The largest message")
      ->option_text("SIZE")
      ->capture_default_str();
  measure->add_option("--seconds", how->seconds, "Time for each size and pair")
      ->option_text("S")
      ->check(CLI::Range(0.001, 10.0))
      ->capture_default_str();
  measure->add_flag("--json", how->json, "Print every figure as JSON");
  measure->footer(
      "Started alone, it starts ranks on this machine. Started by a launcher, it measures between the ranks "
      "it finds: two\n"
      "on a node at least, on several nodes for the network.\n"
      "\n"
      "Examples:\n"
      "  weir platform measure -o node.json\n"
      "  mpirun --map-by node -n 8 weir platform measure -o cluster.json\n"
      "  srun --nodes=2 --ntasks-per-node=4 weir platform measure -o cluster.json\n"
      "  tools/vcluster run --mpi openmpi -n 4 -- weir platform measure -o cluster.json");
  measure->callback([how, &context] { context.exit_code = report(measure_platform(*how)); });
#endif
}

}  // namespace weir::cli
