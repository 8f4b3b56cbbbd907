// The launches of an I/O benchmark: where ranks run, who aggregates, and what the shuffle model expects.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "bench_io.hpp"
#include "core/file.hpp"
#include "pattern/application_matrix.hpp"
#include "pattern/shuffle.hpp"
#include "placement/algorithm.hpp"
#include "placement/emit.hpp"
#include "placement/forecast.hpp"

namespace weir::cli {

namespace {

// What the algorithms look at; keeps the matrices they refer to.
struct Problem {
  pattern::Pattern pattern;
  pattern::SparseMatrix recorded, shuffle;
  std::optional<pattern::SparseMatrix> cartesian;
  Machine machine;
  PlacementProblem problem;
};

Result<std::unique_ptr<Problem>> problem_of(const workloads::IoWorkload& workload, const Platform& platform,
                                            bool segmented) {
  WEIR_ASSIGN(auto pattern, workloads::pattern_of(workload));
  WEIR_ASSIGN(auto machine, Machine::of(platform));
  auto result = std::make_unique<Problem>(Problem{std::move(pattern), {}, {}, {}, std::move(machine), {}});
  const pattern::AccessTable& table = result->pattern.files[0].writes;
  result->recorded = pattern::application_matrix(result->pattern);
  // As many aggregators as nodes, as the SetMatch paper has it.
  const auto nodes = static_cast<std::uint32_t>(platform.nodes.size());
  if (segmented) {
    result->shuffle =
        pattern::shuffle_in_groups(result->pattern, table, workloads::segments_of(workload, nodes), nodes);
  } else {
    result->shuffle =
        pattern::shuffle(result->pattern, table, pattern::even_domains(result->pattern, table, nodes));
  }
  if (const auto* grid = std::get_if<pattern::Cartesian>(&workload.shape)) {
    WEIR_ASSIGN(result->cartesian, pattern::cartesian_matrix({.processes = grid->processes}));
  }
  result->problem = {.machine = &result->machine,
                     .ranks = static_cast<std::uint32_t>(result->pattern.ranks),
                     .recorded = &result->recorded,
                     .cartesian = result->cartesian ? &*result->cartesian : nullptr,
                     .shuffle = &result->shuffle};
  return result;
}

// Nothing is bound on a virtual cluster, so that only hosts are named.
Result<std::string> host_file(const Assignment& assignment, const Platform& platform,
                              const std::string& path) {
  EmitRequest request{.roles = {}, .placement = to_placement(assignment, platform), .name_hosts = true};
#if defined(MPICH_VERSION)
  WEIR_ASSIGN(const std::string text, emit_mpich_hostfile(request));
#else
  WEIR_ASSIGN(const std::string text, emit_openmpi_seq(request));
#endif
  WEIR_TRY(write_text_atomically(path, text));
  return path;
}

struct PlacedCase {
  IoCase one;
  Numbers node_of;
  bool chose_aggregators = false;  // with the placement, not afterwards
};

Result<PlacedCase> case_of(const Problem& problem, const Platform& platform, const AlgorithmChoice& choice,
                           const std::string& scratch) {
  WEIR_ASSIGN(Placed placed, in(place(problem.problem, choice), "place the ranks by " + choice.text));
  const auto domains = static_cast<std::uint32_t>(problem.shuffle.columns);
  const bool chose = !placed.node_of_domain.empty();
  if (!chose) placed.node_of_domain = romio_domains(placed.assignment.node_of, domains);
  IoCase one{.mapping = choice.text, .config = {.name = "planned"}};
  for (const std::uint32_t rank : aggregator_ranks(problem.problem, placed.assignment, placed.node_of_domain))
    one.aggregators.push_back(static_cast<int>(rank));
  one.model_write = one.model_read = forecast(problem.problem, placed).shuffle_cross_node_bytes;
  std::string name = choice.text;
  std::replace(name.begin(), name.end(), ':', '-');
  WEIR_ASSIGN(one.host_file,
              host_file(placed.assignment, platform, fmt::format("{}/hosts-{}", scratch, name)));
  return PlacedCase{std::move(one), placed.assignment.node_of, chose};
}

}  // namespace

Result<std::vector<IoCase>> mapping_cases(const IoRun& run, const Platform& platform) {
  WEIR_ASSIGN(const auto problem, problem_of(run.workload, platform, run.arguments.algorithm == "segmented"));
  WEIR_ASSIGN(
      const auto choices,
      in(parse_algorithms(run.arguments.mappings.empty() ? "all" : run.arguments.mappings, problem->problem),
         "use --mappings"));
  std::vector<IoCase> cases;
  for (const AlgorithmChoice& choice : choices) {
    WEIR_ASSIGN(auto one, case_of(*problem, platform, choice, run.scratch));
    cases.push_back(std::move(one.one));
  }
  return cases;
}

Result<std::vector<IoCase>> config_cases(const IoRun& run, const Platform* platform) {
  WEIR_ASSIGN(const auto configs, settle_configs(run.arguments.configs, run.arguments.against));
  std::vector<IoCase> cases;
  PlacedCase base{{.mapping = "here", .config = {}}, Numbers(workloads::ranks_of(run.workload), 0), false};
  if (platform != nullptr) {
    WEIR_ASSIGN(const auto problem, problem_of(run.workload, *platform, false));
    WEIR_ASSIGN(const auto choice,
                in(parse_algorithm(run.arguments.mappings.empty() ? "byslot" : run.arguments.mappings),
                   "use --mappings"));
    WEIR_ASSIGN(base, case_of(*problem, *platform, choice, run.scratch));
  }
  for (const IoConfig& config : configs) {
    IoCase one = base.one;
    one.config = config;
    if (!config.of_mpi) {
      // Ranks and aggregators are one decision where the mapping made it so.
      if (base.chose_aggregators)
        one.config.environment["WEIR_AGGREGATORS"] = fmt::format("{}", fmt::join(base.one.aggregators, ","));
      WEIR_ASSIGN(auto writing, own_model(run.workload, base.node_of, one.config, false));
      WEIR_ASSIGN(const auto reading, own_model(run.workload, base.node_of, one.config, true));
      one.model_write = writing.bytes_between_nodes;
      one.model_read = reading.bytes_between_nodes;
      one.without_effect = std::move(writing.without_effect);
    }
    one.aggregators.clear();
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace weir::cli
