#include "bench_io_command.hpp"
#include "bench_options.hpp"
#include "bench_rank.hpp"
#include "commands.hpp"
#include "workloads/stream_kernels.hpp"

namespace weir::cli {

namespace {

void add_stream(CLI::App& bench, Context& context) {
  auto* command = bench.add_subcommand("stream", "STREAM's kernels, with their arrays written on the way");
  auto arguments = std::make_shared<StreamArguments>();
  command->add_option("--size", arguments->size,
                      "Bytes of each of the three arrays on each rank (default: 16MiB; how much compute is "
                      "slowed is asked with 64MiB, which few caches hold, unless that is told, too)");
  command
      ->add_option("--loops", arguments->loops,
                   "Loops over the four kernels (default: 20; where --write-every is auto: for 4 writes)")
      ->check(CLI::Range(1, workloads::most_stream_loops));
  command->add_option("--write-every", arguments->write_every,
                      "Write the arrays in every so many loops; 4x: as many as last four times as long as a "
                      "synchronous write; "
                      "auto: 1x (default: 5; with --compare: auto)");
  command
      ->add_option(
          "--order", arguments->order,
          "listing: the four arrays are written one right after the other, as the paper prints it; spread: "
          "with compute between them (default: listing; with --compare: spread)")
      ->check(CLI::IsMember({"listing", "spread"}));
  add_bench_options(*command, *arguments);
  command->footer(
      "Examples:\n"
      "  weir bench stream --mapping consecutive --backend all --compare --verify --json out.json\n"
      "  weir bench stream -n 4 --mapping all --size 128MiB --loops 100 --write-every 10 --tests both\n"
      "  weir bench stream --strong --size 1GiB -n 2 --backend hdf5,mpiio --plot stream");
  command->callback([arguments, &context] {
    context.exit_code =
        report(arguments->as_rank.empty() ? bench_stream(*arguments) : run_stream_rank(arguments->as_rank));
  });
}

void add_hpcg(CLI::App& bench, Context& context) {
  auto* command = bench.add_subcommand(
      "hpcg",
      "A 27-point stencil solved by multigrid-preconditioned CG; matrix and solution written in each set");
  auto arguments = std::make_shared<HpcgArguments>();
  arguments->settings.repeats = 3;
  command->add_option("--grid", arguments->grid, "Points on each rank: one number or x,y,z")
      ->capture_default_str();
  command->add_option("--sets", arguments->sets, "Sets, each solved and written")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--iterations", arguments->iterations, "Iterations of CG in each set")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  add_bench_options(*command, *arguments);
  command->footer(
      "Examples:\n"
      "  weir bench hpcg -n 2 --mapping consecutive --backend hdf5 --verify\n"
      "  weir bench hpcg -n 4 --mapping all --compare --grid 32 --sets 10 --iterations 50 --json hpcg.json");
  command->callback([arguments, &context] {
    context.exit_code =
        report(arguments->as_rank.empty() ? bench_hpcg(*arguments) : run_hpcg_rank(arguments->as_rank));
  });
}

}  // namespace

void add_bench_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("bench",
                                     "What hiding I/O behind compute saves (stream, hpcg), and what "
                                     "collective I/O costs (tile, btio, ior, hpio)");
  command->require_subcommand(1);
  add_stream(*command, context);
  add_hpcg(*command, context);
  add_io_benches(*command, context);
}

}  // namespace weir::cli
