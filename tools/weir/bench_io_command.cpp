// The options of the I/O workloads of `weir bench`.
#include "bench_io_command.hpp"

#include <memory>

#include "bench_io.hpp"

namespace weir::cli {

namespace {

void add_shape_options(CLI::App& command, IoArguments& arguments) {
  const std::string& name = arguments.workload;
  if (name.starts_with("tile")) {
    command.add_option("--grid", arguments.grid,
                       "Tiles in y and x, one a rank: 4x4 (default: as square as can be)");
    command.add_option("--tile", arguments.tile, "Elements of a tile in y and x")->capture_default_str();
    command.add_option("--element", arguments.element, "Bytes of an element")->capture_default_str();
  }
  if (name == "tile-modified")
    command.add_option("--permute", arguments.permute, "Seed of the order of ranks inside the communicator")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
  if (name == "btio") {
    command.add_option("--points", arguments.points, "Points of the cube's side")->capture_default_str();
    command.add_option("--element", arguments.element, "Bytes of a point (default: 40)");
    command.add_option("--steps", arguments.steps, "Steps that are written, one call each")
        ->capture_default_str();
  }
  if (name == "ior") {
    command.add_option("-t,--transfer", arguments.transfer, "Bytes of one call")->capture_default_str();
    command.add_option("-b,--block", arguments.block, "Bytes of a rank in one segment")
        ->capture_default_str();
    command.add_option("-s,--segments", arguments.segments, "Segments")->capture_default_str();
    command.add_flag("--strided", arguments.strided,
                     "Ranks take turns with every transfer (else: with every block)");
    command.add_flag("-c,--collective", arguments.collective, "Collective calls; the only ones there are");
  }
  if (name == "hpio") {
    command.add_option("--regions", arguments.regions, "Regions of a rank")->capture_default_str();
    command.add_option("--region", arguments.region, "Bytes of a region")->capture_default_str();
    command.add_option("--spacing", arguments.spacing, "Bytes between regions")->capture_default_str();
  }
}

void add_run_options(CLI::App& command, IoArguments& arguments) {
  command
      .add_option("-n,--ranks", arguments.ranks,
                  "Ranks (default: every core of the cluster; 4 on this machine)")
      ->check(CLI::Range(1, 4096));
  command.add_option("--vcluster", arguments.vcluster,
                     "Run on a virtual cluster of NODESxCORES, made for this run (root; docs/vcluster.md)");
  command.add_option("--rate", arguments.rate, "Rate of each link of the virtual cluster")
      ->capture_default_str();
  command.add_option(
      "--mappings", arguments.mappings,
      "Place the ranks by each of these, and compare: all, or names of 'weir plan' (byslot, bynode, mpipp, "
      "setmatch, joint, ...). Needs --vcluster");
  command
      .add_option("--algorithm", arguments.algorithm,
                  "With --mappings: two-phase (even file domains) or segmented (dynamic segmentation: a "
                  "group's aggregator takes "
                  "what its ranks touch)")
      ->capture_default_str()
      ->check(CLI::IsMember({"two-phase", "segmented"}));
  command.add_option(
      "--configs", arguments.configs,
      "Collective I/O configurations: original (the MPI library's), weir (left to itself), "
      "bare (every rank reads and writes its own pieces by system calls, and waits for nobody), "
      "T:agg=1,rr=1,req=4 (two-phase), S:... (segmented), N:... (neither). Keys: agg, rr, req, cb_nodes, "
      "buffer, unit, factor, domains");
  command.add_option("--against", arguments.against, "Also measure the MPI library's own: ompio, romio");
  command
      .add_option("--repeats", arguments.repeats, "Rounds; each launches every row once, in another order")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command.add_option("--samples", arguments.samples, "Measurements in each launch, after one to warm up")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command.add_flag(
      "--verify,!--no-verify", [&arguments](std::int64_t count) { arguments.no_verify = count < 0; },
      "Compare every byte with what should be there, through ordinary system calls (default)");
  command.add_flag(
      "--same-file", arguments.same_file,
      "Remove the file that was written before one is made to be read, and not in the end: ranks "
      "that share cores may be moved between them by that, and read in that state");
  command.add_option("--json", arguments.json, "Store everything that was measured in this file");
  command.add_option("--csv", arguments.csv, "Store a line for each row and measurement in this file");
  command.add_option("--plot", arguments.plot, "Draw PREFIX.png and PREFIX.svg")->type_name("PREFIX");
  command.add_option("--folder", arguments.folder, "Where to write (default: the temporary folder)");
  command.add_option("--as-rank", arguments.as_rank)->group("");
}

void add_one(CLI::App& bench, Context& context, const std::string& name, const std::string& what,
             const std::string& example) {
  auto* command = bench.add_subcommand(name, what);
  auto arguments = std::make_shared<IoArguments>();
  arguments->workload = name;
  if (name == "btio") arguments->element = "40";
  add_shape_options(*command, *arguments);
  add_run_options(*command, *arguments);
  command->footer("Examples:\n" + example);
  command->callback([arguments, &context] {
    context.exit_code =
        report(arguments->as_rank.empty() ? bench_io(*arguments) : run_io_rank(arguments->as_rank));
  });
}

}  // namespace

void add_io_benches(CLI::App& bench, Context& context) {
  add_one(bench, context, "tile", "Tile I/O: a grid of tiles of one file, written and read collectively",
          "  weir bench tile --vcluster 4x4 --mappings all --json tile.json\n"
          "  weir bench tile -n 4 --against ompio,romio");
  add_one(bench, context, "tile-modified", "Tile I/O with the ranks reordered inside the communicator",
          "  weir bench tile-modified --vcluster 4x4 --mappings all --json out.json --plot modified\n"
          "  weir bench tile-modified --vcluster 4x4 --mappings byslot,bynode,joint --rate 1gbit");
  add_one(bench, context, "btio", "BT-I/O: the diagonal multi-partition of a cube, several steps",
          "  weir bench btio --vcluster 4x4 --mappings all\n"
          "  weir bench btio --vcluster 4x4 --configs weir --against ompio,romio");
  add_one(bench, context, "ior", "Blocks in transfers, segmented or strided, collectively",
          "  weir bench ior -c -t 256KiB -b 1MiB -n 4 --against ompio,romio\n"
          "  weir bench ior -t 64KiB -b 1MiB -s 4 --strided --vcluster 4x4 --configs weir");
  add_one(bench, context, "hpio", "Regions with gaps between them, of all ranks in turn",
          "  weir bench hpio --vcluster 4x4 --configs original,T:agg=1,rr=1,req=4 --against ompio,romio "
          "--json out.json");
}

}  // namespace weir::cli
