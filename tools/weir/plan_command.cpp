// weir plan: which ranks compute, which serve I/O, and where each of them runs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "core/file.hpp"
#include "mapping_options.hpp"
#include "placement/emit.hpp"
#include "plan/mapping_plan.hpp"
#include "plan/plan_json.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

struct Arguments {
  MappingArguments mapping;
  std::string emit = "table";
  std::string output;
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
  const EmitRequest request{.roles = plan.roles,
                            .placement = plan.placement,
                            // Names that are made up (--platform archer2) are nothing to tell a launcher.
                            .name_hosts = !machine.hosts.empty() || !machine.hostfile.empty() ||
                                          machine.platform.empty() || machine.platform == "this" ||
                                          machine.platform.ends_with(".json")};
  if (arguments.emit == "json") return plan_to_json(plan).dump(2) + "\n";
  if (arguments.emit == "slurm") return emit_slurm(request);
  if (arguments.emit == "openmpi") return emit_openmpi(request);
  if (arguments.emit == "mpich") return emit_mpich(request);
  return table(plan);
}

Status make(Arguments arguments) {
  const std::vector<std::string> forms = {"table", "json", "slurm", "openmpi", "mpich"};
  if (std::find(forms.begin(), forms.end(), arguments.emit) == forms.end()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("--emit: unknown form '{}'{}", arguments.emit, suggest(arguments.emit, forms)));
  }
  if (arguments.json) {
    if (arguments.emit != "table" && arguments.emit != "json")
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--json and --emit {} say different things", arguments.emit));
    arguments.emit = "json";
  }
  WEIR_TRY(in(find_mapping(arguments.mapping.layout.mapping), "--mapping"));
  arguments.mapping.layout.spread = arguments.mapping.platform.nodes != 0;
  // What 'weir run' would do here can be planned here, cores or not.
  arguments.mapping.layout.overfull = arguments.mapping.platform.platform.empty();
  WEIR_ASSIGN(const Platform platform, platform_for(arguments.mapping));
  WEIR_ASSIGN(const Plan plan, plan_mapping(arguments.mapping.layout, platform));
  if (plan.placement.pus_of.empty())
    fmt::print(stderr, "weir: there are more ranks than cores: they are not bound, and share them\n");
  WEIR_ASSIGN(const std::string text, in(text_of(plan, arguments), "--emit " + arguments.emit));
  if (arguments.output.empty()) {
    fmt::print("{}", text);
    return {};
  }
  return write_text_atomically(arguments.output, text);
}

}  // namespace

void add_plan_command(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("plan", "Decide which ranks compute, which serve I/O, and where each of them runs");
  const auto arguments = std::make_shared<Arguments>();
  add_mapping_options(*command, arguments->mapping);
  command->get_option("--mapping")->required();
  command
      ->add_option("--emit", arguments->emit,
                   "table, json (a plan: WEIR_PLAN, weir run --plan), slurm or mpich (a launch script), or "
                   "openmpi (a rank file)")
      ->option_text("FORM");
  command->add_flag("--json", arguments->json, "The same as --emit json");
  command->add_option("-o,--output", arguments->output, "Write to this file, not to the terminal")
      ->option_text("FILE");
  command->footer(
      mappings_help() +
      "\n"
      "Examples:\n"
      "  weir plan --mapping hyperthread --nodes 4 --node-size 16 --platform archer2\n"
      "  weir plan --mapping consecutive -n 4                  four compute ranks, four servers, here\n"
      "  weir plan --mapping consecutive -n 96 --ratio 7 --platform archer2\n"
      "  weir plan --mapping consecutive --ratio 3 --own-nodes --nodes 8 --platform archer2\n"
      "  weir plan --mapping hyperthread --hosts \"$SLURM_JOB_NODELIST\" --platform archer2 --emit slurm -o "
      "launch.sh\n"
      "  weir plan --mapping consecutive -n 4 --emit json -o plan.json; weir run --plan plan.json -- ./app");
  command->callback([arguments, &context] { context.exit_code = report(make(*arguments)); });
}

}  // namespace weir::cli
