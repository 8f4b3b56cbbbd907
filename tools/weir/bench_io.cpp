// The course of an I/O benchmark.
#include "bench_io.hpp"

#include <fmt/format.h>

#include <optional>

#include "bench_folder.hpp"
#include "core/options.hpp"
#include "platform/sites.hpp"

namespace weir::cli {

namespace {

Result<std::optional<Platform>> platform_of(const IoArguments& arguments) {
  if (arguments.vcluster.empty()) return std::optional<Platform>();
  auto site = find_site(arguments.vcluster);
  if (!site)
    return fail(ErrorCode::invalid_argument,
                fmt::format("--vcluster: '{}' is no cluster", arguments.vcluster),
                "write it as NODESxCORES: 4x4");
  WEIR_ASSIGN(Platform platform, std::move(*site));
  for (std::size_t node = 0; node < platform.nodes.size(); ++node)
    platform.nodes[node].name = fmt::format("{}-node{}", vcluster_name(), node);
  return std::optional<Platform>(std::move(platform));
}

bool asks_for_configs(const IoArguments& arguments) {
  return !arguments.configs.empty() || !arguments.against.empty() || arguments.vcluster.empty();
}

Status check_arguments(const IoArguments& arguments) {
  if (arguments.vcluster.empty() && !arguments.mappings.empty())
    return fail(ErrorCode::invalid_argument, "--mappings: on one node every mapping is the same",
                "add --vcluster 4x4");
  std::vector<Report> reports = {{"--json", arguments.json}, {"--csv", arguments.csv}};
  if (!arguments.plot.empty()) {
    for (const char* extension : {".svg", ".png"}) reports.push_back({"--plot", arguments.plot + extension});
  }
  return check_reports(reports);
}

}  // namespace

Status bench_io(const IoArguments& arguments) {
  WEIR_ASSIGN(const auto workload, settle_workload(arguments));
  WEIR_ASSIGN(const auto platform, platform_of(arguments));
  WEIR_TRY(check_arguments(arguments));
  const Interrupts interrupts;
  WEIR_ASSIGN(const BenchFolder files, BenchFolder::temporary(arguments.folder));
  WEIR_ASSIGN(const BenchFolder scratch, BenchFolder::temporary(""));
  IoRun run{workload, arguments, "", files.path(), scratch.path(), {}, {}};

  WEIR_ASSIGN(const auto pattern, workloads::pattern_of(workload));
  const auto bytes = pattern.totals(pattern.files[0].writes).bytes;
  WEIR_TRY(check_room(files.path(), (arguments.same_file ? 1.2 : 2.2) * static_cast<double>(bytes)));
  run.notes.push_back(fmt::format("{} on {} ranks: {}; {}.", workload.name, pattern.ranks,
                                  workloads::describe(workload), format_bytes(bytes)));
  // Everything that can be wrong with the arguments is told before a cluster is made.
  std::vector<IoCase> cases;
  if (asks_for_configs(arguments)) {
    WEIR_ASSIGN(cases, config_cases(run, platform ? &*platform : nullptr));
    for (const IoCase& one : cases)
      for (const std::string& note : one.without_effect)
        run.notes.push_back(fmt::format("{}: {}.", one.config.name, note));
  } else {
    WEIR_ASSIGN(cases, mapping_cases(run, *platform));
  }
  if (platform) {
    WEIR_ASSIGN(const VirtualCluster cluster,
                VirtualCluster::make(vcluster_name(), arguments.vcluster, arguments.rate));
    run.cluster = cluster.name();
    run.notes.push_back(fmt::format("A virtual cluster of {} nodes and cores, links of {}.",
                                    arguments.vcluster, arguments.rate));
    WEIR_TRY(run_io_rounds(run, cases));
  } else {
    WEIR_TRY(run_io_rounds(run, cases));
  }
  return finish_io(run);
}

}  // namespace weir::cli
