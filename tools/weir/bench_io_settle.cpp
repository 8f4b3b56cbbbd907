// From what a user wrote to workloads and configurations.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>

#include "aggregation/settings.hpp"
#include "bench_io.hpp"
#include "core/options.hpp"
#include "preload.hpp"

namespace weir::cli {

namespace {

tl::unexpected<Failure> wrong(std::string what, std::string advice = {}) {
  return fail(ErrorCode::invalid_argument, std::move(what), std::move(advice));
}

Result<std::uint64_t> above_zero(std::string_view option, std::int64_t number) {
  if (number < 1) return wrong(fmt::format("{}: {} is not above 0", option, number));
  return static_cast<std::uint64_t>(number);
}

Result<std::uint64_t> bytes_of(std::string_view option, const std::string& text) {
  WEIR_ASSIGN(const std::int64_t bytes, in(parse_bytes(text), option));
  return above_zero(option, bytes);
}

// "64x32"
Result<std::vector<std::uint64_t>> two_sizes(std::string_view option, const std::string& text) {
  std::vector<std::uint64_t> sizes;
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos)
    return wrong(fmt::format("{}: '{}' is no size", option, text), "write it as 64x64");
  for (const std::string& part : {text.substr(0, cross), text.substr(cross + 1)}) {
    const auto number = parse_integer(part);
    if (!number || *number < 1)
      return wrong(fmt::format("{}: '{}' is no size", option, text), "write it as 64x64");
    sizes.push_back(static_cast<std::uint64_t>(*number));
  }
  return sizes;
}

Result<std::uint64_t> ranks_of(const IoArguments& arguments) {
  if (arguments.ranks > 0) return static_cast<std::uint64_t>(arguments.ranks);
  if (arguments.vcluster.empty()) return std::uint64_t{4};
  WEIR_ASSIGN(const auto shape, two_sizes("--vcluster", arguments.vcluster));
  const std::uint64_t cores = shape[0] * shape[1];
  if (arguments.workload != "btio") return cores;
  std::uint64_t side = 1;  // of the largest square that fits
  while ((side + 1) * (side + 1) <= cores) ++side;
  return side * side;
}

std::vector<std::uint64_t> nearly_square(std::uint64_t ranks) {
  std::uint64_t rows = 1;
  for (std::uint64_t side = 1; side * side <= ranks; ++side) {
    if (ranks % side == 0) rows = side;
  }
  return {rows, ranks / rows};
}

}  // namespace

Result<workloads::IoWorkload> settle_workload(const IoArguments& arguments) {
  WEIR_ASSIGN(const std::uint64_t ranks, ranks_of(arguments));
  workloads::IoWorkload workload{arguments.workload, {}};
  if (arguments.workload.starts_with("tile")) {
    pattern::Cartesian grid{.processes = nearly_square(ranks), .block = {}};
    if (!arguments.grid.empty()) {
      WEIR_ASSIGN(grid.processes, two_sizes("--grid", arguments.grid));
    }
    WEIR_ASSIGN(grid.block, two_sizes("--tile", arguments.tile));
    WEIR_ASSIGN(grid.element, bytes_of("--element", arguments.element));
    if (arguments.workload == "tile-modified") grid.seed = static_cast<std::uint64_t>(arguments.permute);
    if (arguments.ranks > 0 && grid.processes[0] * grid.processes[1] != ranks)
      return wrong(fmt::format("--grid: {} tiles for {} ranks", arguments.grid, ranks));
    workload.shape = grid;
  } else if (arguments.workload == "btio") {
    pattern::BlockTridiagonal bt{.ranks = ranks};
    WEIR_ASSIGN(bt.points, above_zero("--points", arguments.points));
    WEIR_ASSIGN(bt.element, bytes_of("--element", arguments.element));
    WEIR_ASSIGN(bt.steps, above_zero("--steps", arguments.steps));
    workload.shape = bt;
  } else if (arguments.workload == "ior") {
    pattern::Ior ior{.ranks = ranks, .strided = arguments.strided};
    WEIR_ASSIGN(ior.transfer, bytes_of("--transfer", arguments.transfer));
    WEIR_ASSIGN(ior.block, bytes_of("--block", arguments.block));
    WEIR_ASSIGN(ior.segments, above_zero("--segments", arguments.segments));
    workload.shape = ior;
  } else {
    pattern::Hpio hpio{.ranks = ranks};
    WEIR_ASSIGN(hpio.regions, above_zero("--regions", arguments.regions));
    WEIR_ASSIGN(hpio.region, above_zero("--region", arguments.region));
    if (arguments.spacing < 0) return wrong(fmt::format("--spacing: {} is below 0", arguments.spacing));
    hpio.spacing = static_cast<std::uint64_t>(arguments.spacing);
    workload.shape = hpio;
  }
  WEIR_TRY(workloads::pattern_of(workload));
  return workload;
}

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size() && !text.empty()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<IoConfig> own_config(const std::string& text) {
  IoConfig config{.name = text, .launcher = {}, .environment = {{"WEIR_COLLECTIVE", "on"}}};
  WEIR_ASSIGN(config.environment["LD_PRELOAD"], mpiio_library());
  if (text == "weir") return config;
  WEIR_ASSIGN(auto named, in(aggregation::variables_of(text), "--configs"));
  config.environment.merge(named);
  return config;
}

Result<IoConfig> mpi_config(const std::string& name) {
  IoConfig config{.name = name, .of_mpi = true, .launcher = {}, .environment = {}};
  if (name == "original") return config;
#if defined(OPEN_MPI)
#if OMPI_MAJOR_VERSION >= 5
  const char* romio = "romio341";
#else
  const char* romio = "romio321";
#endif
  if (name != "ompio" && name != "romio")
    return wrong(fmt::format("--against: unknown '{}'", name), "use ompio or romio");
  config.launcher = {"--mca", "io", name == "ompio" ? "ompio" : romio};
  return config;
#else
  if (name == "romio") return config;  // the only one that this MPI has
  return wrong(fmt::format("--against: this MPI library has no '{}'", name), "use romio");
#endif
}

// Every rank for itself, as Weir's direct way is modelled: nothing crosses between nodes.
Result<IoConfig> bare_config() {
  return IoConfig{.name = "bare", .bare = true, .launcher = {}, .environment = {{"WEIR_TWO_PHASE", "N"}}};
}

bool begins_config(std::string_view text) {
  for (const std::string_view name : {"original", "weir", "bare"}) {
    if (text.substr(0, name.size()) == name && (text.size() == name.size() || text[name.size()] == ','))
      return true;
  }
  return text.starts_with("T:") || text.starts_with("N:") || text.starts_with("S:");
}

}  // namespace

std::vector<std::string> split_configs(const std::string& text) {
  std::vector<std::string> configs;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != ',' || !begins_config(std::string_view(text).substr(at + 1))) continue;
    configs.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  if (!text.empty()) configs.push_back(text.substr(begin));
  return configs;
}

Result<std::vector<IoConfig>> settle_configs(const std::string& configs, const std::string& against) {
  std::vector<IoConfig> result;
  for (const std::string& name : split(against)) {
    WEIR_ASSIGN(auto config, mpi_config(name));
    result.push_back(std::move(config));
  }
  for (const std::string& text : split_configs(configs)) {
    if (!begins_config(text))
      return wrong(fmt::format("--configs: '{}' is no configuration", text),
                   "use original, weir, bare, or T:, S: or N: with agg=1,rr=1,req=4");
    WEIR_ASSIGN(auto config, text == "original" ? mpi_config(text)
                             : text == "bare"   ? bare_config()
                                                : own_config(text));
    result.push_back(std::move(config));
  }
  if (result.empty()) {
    WEIR_ASSIGN(auto config, mpi_config("original"));
    result.push_back(std::move(config));
  }
  return result;
}

}  // namespace weir::cli
