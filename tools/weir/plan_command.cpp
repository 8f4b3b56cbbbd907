// weir plan: which ranks compute, which serve I/O, which aggregate, and where each of them runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "checks.hpp"
#include "commands.hpp"
#include "mapping_options.hpp"
#include "placement/algorithm.hpp"
#include "placement/emit.hpp"
#include "plan/mapping_plan.hpp"
#include "plan/plan_json.hpp"
#include "plan_placement.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

struct Arguments {
  MappingArguments mapping;
  PlacementArguments placement;
  std::string emit = "table";
  std::string output;
  std::string json_file;
  bool json = false;
};

std::string table(const Plan& plan) {
  using enum Table::Align;
  Table table({"TYPE", "MPI RANK", "MPI SIZE", "CPU-ID", "NODE-ID", "PAIR"},
              {left, right, right, right, left, right});
  for (const PairRow& row : pair_rows(plan))
    table.add({row.type, row.rank, row.size, row.cpus, row.node, row.pair});
  return table.text();
}

Result<std::string> text_of(const Plan& plan, const Arguments& arguments) {
  const PlatformRequest& machine = arguments.mapping.platform;
  EmitRequest request{.roles = plan.roles,
                      .placement = plan.placement,
                      // Names that are made up (--platform archer2) are nothing to tell a launcher.
                      .name_hosts = !machine.hosts.empty() || !machine.hostfile.empty() ||
                                    machine.platform.empty() || machine.platform == "this" ||
                                    machine.platform.ends_with(".json")};
  if (plan.mode != Mode::synchronous)
    request.plan_command = fmt::format("weir plan {} --emit json", words_of(arguments.mapping));
  if (arguments.emit == "json") return pretty(plan_to_json(plan)) + "\n";
  if (arguments.emit == "slurm") return emit_slurm(request);
  if (arguments.emit == "openmpi" || arguments.emit == "openmpi-rankfile") return emit_openmpi(request);
  if (arguments.emit == "openmpi-seq") return emit_openmpi_seq(request);
  if (arguments.emit == "mpich") return emit_mpich(request);
  return table(plan);
}

Status make_mapping(Arguments arguments) {
  const std::vector<std::string> forms = {"table",       "json", "slurm", "openmpi", "openmpi-rankfile",
                                          "openmpi-seq", "mpich"};
  if (std::find(forms.begin(), forms.end(), arguments.emit) == forms.end()) {
    if (find_emitter(arguments.emit))
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--emit {}: only placements for a pattern have that form", arguments.emit),
                  fmt::format("for a mapping, use one of {}; or give --pattern", fmt::join(forms, ", ")));
    return fail(ErrorCode::invalid_argument,
                fmt::format("--emit: unknown form '{}'{}", arguments.emit, suggest(arguments.emit, forms)));
  }
  if (arguments.json) {
    if (arguments.emit != "table" && arguments.emit != "json")
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--json and --emit {} say different things", arguments.emit));
    arguments.emit = "json";
  }
  WEIR_ASSIGN(const Plan plan, plan_for(arguments.mapping));
  if (plan.placement.pus_of.empty())
    fmt::print(stderr, "weir: there are more ranks than cores: they are not bound, and share them\n");
  WEIR_ASSIGN(const std::string text, in(text_of(plan, arguments), "--emit " + arguments.emit));
  if (arguments.output.empty()) arguments.output = arguments.json_file;
  return put(arguments.output, text);
}

Status make(Arguments arguments) {
  PlacementArguments& placement = arguments.placement;
  if (!placement.rank_file.empty()) return check_rank_file(placement.rank_file, arguments.mapping.platform);
  if (!placement.given()) {
    if (arguments.mapping.layout.mapping.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "--mapping is required, or a pattern: --grid, --bt, --pattern or --matrix");
    }
    return make_mapping(std::move(arguments));
  }
  if (!arguments.mapping.layout.mapping.empty())
    return fail(ErrorCode::invalid_argument, "--mapping and a pattern: only one of them can be given");
  if (arguments.mapping.layout.compute != 0)
    return fail(ErrorCode::invalid_argument, "-n: the pattern says how many ranks there are");
  placement.output = arguments.output;
  if (arguments.emit != "table") placement.emit = arguments.emit;
  if (arguments.json) placement.json = arguments.json_file;
  return plan_by_placement(placement, arguments.mapping.platform);
}

std::string algorithms_help() {
  std::string text = "Placement algorithms, for --algorithms and --choose:\n";
  for (const PlacementAlgorithm& algorithm : placement_algorithms())
    text +=
        fmt::format("  {:<15}{}{}\n", algorithm.name, algorithm.what,
                    algorithm.parameter.empty() ? "" : fmt::format(" (:N is its {})", algorithm.parameter));
  return text;
}

void add_placement_options(CLI::App& command, PlacementArguments& arguments) {
  const std::string group = "Placement by a pattern";
  const auto option = [&](const char* name, auto& target, const char* what, const char* text) {
    return command.add_option(name, target, what)->option_text(text)->group(group);
  };
  option("--grid", arguments.grid, "A Cartesian grid of ranks, outermost dimension first: 16x16", "AxB[xC]");
  option("--bt", arguments.bt, "BT-I/O of so many ranks, a square", "RANKS")->check(whole_number(1));
  option("--pattern", arguments.pattern, "A pattern that 'weir record' saved", "FILE");
  option("--matrix", arguments.matrix, "An application matrix, Matrix Market", "FILE");
  option("--permute", arguments.permute, "Ranks reordered inside the communicator (modified Tile I/O)",
         "SEED")
      ->check(whole_number(1));
  option("--block", arguments.block, "Elements of a rank of --grid (default: 800x768, or 64 a dimension)",
         "AxB");
  option("--element", arguments.element, "Bytes of an element of --grid", "SIZE")->capture_default_str();
  option("--points", arguments.points, "Side of BT's cube (default: 408, as in class D)", "N")
      ->check(whole_number(1));
  option("--file", arguments.file, "Of the files of a recording (default: the one with most bytes)", "NAME");
  command
      .add_flag("--weigh-bytes", arguments.weigh_bytes,
                "Neighbours in the file count by bytes, not by number")
      ->group(group);
  option("--algorithms", arguments.algorithms, "Those to compare: names with commas, or all", "LIST")
      ->capture_default_str();
  option("--choose", arguments.choose, "The algorithm whose plan is emitted (default: the best)", "NAME");
  option("--aggregators", arguments.aggregators, "File domains (default: one for each node)", "N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{most_ranks}));
  option("--calls", arguments.calls,
         "Collective calls that touch the file, one part after the other (default: as recorded, if the file "
         "has like parts that they share evenly; else one)",
         "N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20U));
  option("--limit-per-node", arguments.limit_per_node, "Ranks on a node at most (default: its cores)", "N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{most_cores}));
  option("--memory-per-rank", arguments.memory_per_rank, "No node gets more ranks than its memory holds",
         "SIZE");
  option("--svg", arguments.svg, "Draw ranks on nodes, before and after", "FILE");
  option("--check-rankfile", arguments.rank_file, "Check a rank file against the machine, and place nothing",
         "FILE");
}

}  // namespace

void add_plan_command(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("plan", "Decide which ranks compute, which serve I/O, and where each of them runs");
  const auto arguments = std::make_shared<Arguments>();
  add_mapping_options(*command, arguments->mapping);
  add_placement_options(*command, arguments->placement);
  std::string forms = "table, json (a plan: WEIR_PLAN, weir run --plan)";
  for (const Emitter& emitter : emitters()) forms += fmt::format(", {}", emitter.name);
  command->add_option("--emit", arguments->emit, forms)->option_text("FORM");
  CLI::Option* json = command
                          ->add_option("--json", arguments->json_file,
                                       "A plan as JSON; of a pattern, the comparison of the algorithms")
                          ->option_text("[FILE]")
                          ->expected(0, 1);
  command->add_option("-o,--output", arguments->output, "Write to this file, not to the terminal")
      ->option_text("FILE");
  std::string emitted =
      "Forms for launchers and I/O libraries (of a mapping: slurm, openmpi-rankfile, openmpi-seq, mpich):\n";
  for (const Emitter& emitter : emitters())
    emitted += fmt::format("  {:<17}{}\n", emitter.name, emitter.what);
  command->footer(
      mappings_help() + "\n" + algorithms_help() + "\n" + emitted +
      "\n"
      "Examples:\n"
      "  weir plan --grid 16x16 --permute 7 --platform 8x48 --algorithms all --json out.json\n"
      "  weir plan --pattern tile.pattern --platform cluster.json --emit openmpi-rankfile > rankfile\n"
      "  weir plan --bt 256 --platform 8x48 --svg placement.svg\n"
      "  weir plan --mapping hyperthread --nodes 4 --node-size 16 --platform archer2\n"
      "  weir plan --mapping consecutive -n 4                  four compute ranks, four servers, here\n"
      "  weir plan --mapping consecutive -n 96 --ratio 7 --platform archer2\n"
      "  weir plan --mapping consecutive --ratio 3 --own-nodes --nodes 8 --platform archer2\n"
      "  weir plan --mapping hyperthread --hosts \"$SLURM_JOB_NODELIST\" --platform archer2 --emit slurm -o "
      "launch.sh\n"
      "  weir plan --mapping consecutive -n 4 --emit openmpi-rankfile -o ranks     how to launch: its first "
      "lines\n"
      "  weir plan --mapping consecutive -n 4 --emit json -o plan.json; weir run --plan plan.json -- ./app");
  command->callback([arguments, json, &context] {
    arguments->json = json->count() > 0;
    context.exit_code = report(make(*arguments));
  });
}

}  // namespace weir::cli
