#include "sampled_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command_words.hpp"
#include "core/json.hpp"
#include "core/options.hpp"
#include "platform/host_list.hpp"

namespace weir::cli {

namespace {

constexpr std::size_t most_announced = 1024;

std::string without_domain(const std::string& host) {
  return host.substr(0, host.find('.'));
}

// Numbers from here on are no steps that srun started, but batch scripts and interactive shells.
constexpr std::int64_t first_special_step = 0xfffffff0;

}  // namespace

Result<SampledNodes> parse_announcement(std::string_view text) {
  WEIR_ASSIGN(const Json json, parse_json(text));
  WEIR_ASSIGN(const JsonObject object, JsonObject::of(json, "the nodes"));
  WEIR_TRY(object.only({"nodes", "reach", "sources"}));
  SampledNodes announced;
  WEIR_ASSIGN(const std::string list, object.text("nodes"));
  WEIR_ASSIGN(const std::vector<Host> hosts, in(parse_host_list(list), "nodes"));
  if (hosts.size() > most_announced)
    return fail(ErrorCode::invalid_argument, fmt::format("{} nodes are announced", hosts.size()),
                fmt::format("at most {} are sampled from here", most_announced));
  for (const Host& host : hosts) announced.nodes.push_back(host.name);
  WEIR_ASSIGN(announced.reach, object.text("reach"));
  WEIR_TRY(in(command_words(announced.reach), "reach"));
  if (announced.reach.find("{}") == std::string::npos)
    return fail(ErrorCode::invalid_argument,
                fmt::format("reach '{}': nothing stands for the node", announced.reach),
                "write {} where its name is to be");
  if (object.has("sources")) {
    WEIR_ASSIGN(announced.sources, object.text("sources"));
  }
  return announced;
}

Result<std::optional<SampledNodes>> slurm_nodes(const Environment& environment, const std::string& this_host,
                                                std::size_t most) {
  const std::string list = environment("SLURM_JOB_NODELIST");
  if (list.empty()) return std::nullopt;
  if (const std::string step = environment("SLURM_STEP_ID"); !step.empty()) {
    const auto number = parse_integer(step);
    if (!number || *number < first_special_step) return std::nullopt;
  }
  WEIR_ASSIGN(const std::vector<Host> hosts, in(parse_host_list(list), "SLURM_JOB_NODELIST"));
  SampledNodes nodes{.nodes = {},
                     .reach =
                         "srun --overlap --quiet --mpi=none --nodes=1 --ntasks=1 --cpus-per-task=1 "
                         "--nodelist={}",
                     .sources = {}};
  const std::string here = environment("SLURMD_NODENAME");
  for (const Host& host : hosts) {
    if (host.name != here && without_domain(host.name) != without_domain(this_host))
      nodes.nodes.push_back(host.name);
  }
  if (nodes.nodes.empty() || nodes.nodes.size() > most) return std::nullopt;
  return nodes;
}

}  // namespace weir::cli
