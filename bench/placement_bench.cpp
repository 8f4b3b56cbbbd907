// Placement algorithms on the patterns of the SetMatch paper, reordered and larger: share of the application
// matrix that crosses nodes, objective relative to all traffic within nodes, share of the shuffle, CPU
// seconds, memory. P ranks on P / 32 nodes of 48 cores, 5800 and 2100 MB/s.
//
//   placement_bench [--up-to RANKS] [--only NAME] [--algorithms LIST] [--json FILE]
//
// Fails if the joint placement is worse than another one in any row.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstring>
#include <ctime>
#include <string>

#include "core/file.hpp"
#include "core/json.hpp"
#include "pattern/application_matrix.hpp"
#include "pattern/shuffle.hpp"
#include "pattern/stated.hpp"
#include "placement/forecast.hpp"
#include "platform/sites.hpp"

namespace weir {
namespace {

struct Case {
  std::string name;
  std::uint32_t ranks;
  Result<pattern::Pattern> (*make)(std::uint32_t ranks, std::uint64_t seed);
  std::uint64_t seed;
};

Result<pattern::Pattern> tile(std::uint32_t ranks, std::uint64_t seed) {
  std::uint64_t side = 1;
  while (side * side < ranks) side *= 2;
  return pattern::state(pattern::Cartesian{
      .processes = {ranks / side, side}, .block = {800, 768}, .element = 1024, .seed = seed});
}

Result<pattern::Pattern> cube(std::uint32_t ranks, std::uint64_t seed) {
  std::vector<std::uint64_t> sides{1, 1, 1};
  for (std::size_t i = 2; sides[0] * sides[1] * sides[2] < ranks; i = (i + 2) % 3) sides[i] *= 2;
  return pattern::state(
      pattern::Cartesian{.processes = sides, .block = {64, 64, 64}, .element = 1024, .seed = seed});
}

Result<pattern::Pattern> bt(std::uint32_t ranks, std::uint64_t seed) {
  std::uint64_t side = 1;
  while (side * side < ranks) side *= 2;
  return pattern::state(pattern::BlockTridiagonal{
      .ranks = ranks, .points = std::max<std::uint64_t>(408, 2 * side), .seed = seed});
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double peak_gigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
}

struct Settings {
  std::uint32_t up_to = 1U << 20U;
  std::string only, algorithms = "all", json;
};

Status run_case(const Case& one, const Settings& settings, Json& rows, int& worse) {
  const double begin = cpu_seconds();
  WEIR_ASSIGN(const pattern::Pattern pattern, one.make(one.ranks, one.seed));
  const auto matrix = pattern::application_matrix(pattern);
  const std::uint32_t nodes = one.ranks / 32;
  const auto& table = pattern.files[0].writes;
  const auto shuffle = pattern::shuffle(pattern, table, pattern::even_domains(pattern, table, nodes));
  const auto platform = find_site(fmt::format("{}x48", nodes));
  WEIR_ASSIGN(const Machine machine, Machine::of(**platform));
  const PlacementProblem problem{
      .machine = &machine, .ranks = one.ranks, .recorded = &matrix, .shuffle = &shuffle};
  const double made = cpu_seconds();
  const LowerBounds bounds = lower_bounds(problem);
  fmt::print("\n{} {}: matrices {:.2f} s, bounds {:.2f} s: {:.4f}% of the matrix, {:.3f}% of the shuffle\n",
             one.name, one.ranks, made - begin, cpu_seconds() - made, 100 * bounds.cross_node_share,
             100 * bounds.shuffle_cross_node_share);
  fmt::print("  {:<15}{:>11}{:>12}{:>11}{:>10}{:>9}\n", "algorithm", "cross-node", "objective", "shuffle",
             "CPU s", "GB");
  WEIR_ASSIGN(const auto choices, parse_algorithms(settings.algorithms, problem));
  double joint = -1, joint_shuffle = -1, least = 1e300, least_shuffle = 1e300, scotch_seconds = 0,
         joint_seconds = 0;
  for (const AlgorithmChoice& choice : choices) {
    const double start = cpu_seconds();
    const auto placed = place(problem, choice);
    const double seconds = cpu_seconds() - start;
    if (!placed) {
      fmt::print("  {:<15}{}\n", choice.text, placed.error().message());
      continue;
    }
    const Forecast result = forecast(problem, *placed);
    fmt::print("  {:<15}{:>10.4f}%{:>12.6f}{:>10.3f}%{:>10.4f}{:>9.2f}\n", choice.text,
               100 * result.cross_node_share, result.objective_relative,
               100 * result.shuffle_cross_node_share, seconds, peak_gigabytes());
    std::fflush(stdout);
    rows.push_back({{"pattern", one.name},
                    {"ranks", one.ranks},
                    {"algorithm", choice.text},
                    {"seconds", seconds},
                    {"objective", result.objective},
                    {"objective_relative", result.objective_relative},
                    {"cross_node_share", result.cross_node_share},
                    {"shuffle_cross_node_share", result.shuffle_cross_node_share},
                    {"lower_bound", bounds.objective},
                    {"peak_gigabytes", peak_gigabytes()}});
    if (choice.text == "joint") joint = result.objective, joint_seconds = seconds;
    if (choice.text == "scotch") scotch_seconds = seconds;
    if (choice.text == "joint-shuffle") joint_shuffle = result.shuffle_cross_node_share;
    if (!choice.text.starts_with("joint")) {
      least = std::min(least, result.objective);
      least_shuffle = std::min(least_shuffle, result.shuffle_cross_node_share);
    }
  }
  if (joint >= 0 && least < 1e300) {
    const bool best =
        joint <= least * (1 + 1e-9) && (joint_shuffle < 0 || joint_shuffle <= least_shuffle * (1 + 1e-9));
    fmt::print("  joint is {} of all{}\n", best ? "best" : "NOT best",
               scotch_seconds > 0
                   ? fmt::format("; it took {:.2f} of Scotch's time", joint_seconds / scotch_seconds)
                   : "");
    if (!best) ++worse;
  }
  return {};
}

int run(const Settings& settings) {
  std::vector<Case> cases;
  for (const std::uint32_t ranks : {256U, 4096U, 65536U, 1U << 20U}) {
    cases.push_back({"tile", ranks, tile, 0});
    cases.push_back({"tile-permuted", ranks, tile, 7});
    // Every rank of BT feeds every domain: the shuffle of a million ranks would not fit into memory.
    if (ranks <= 65536) cases.push_back({"bt", ranks, bt, 0});
    cases.push_back({"3d", ranks, cube, 0});
    cases.push_back({"3d-permuted", ranks, cube, 7});
  }
  Json rows = Json::array();
  int worse = 0;
  for (const Case& one : cases) {
    if (one.ranks > settings.up_to || (!settings.only.empty() && one.name != settings.only)) continue;
    if (const Status done = run_case(one, settings, rows, worse); !done) {
      fmt::print(stderr, "{} {}: {}\n", one.name, one.ranks, done.error().message());
      return 1;
    }
  }
  if (!settings.json.empty()) {
    if (const Status written = write_text_atomically(settings.json, rows.dump(2) + "\n"); !written) {
      fmt::print(stderr, "{}\n", written.error().message());
      return 1;
    }
  }
  return worse == 0 ? 0 : 1;
}

}  // namespace
}  // namespace weir

int main(int count, char** words) {
  weir::Settings settings;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view option = words[i];
    if (option == "--up-to") {
      settings.up_to = static_cast<std::uint32_t>(std::strtoul(words[i + 1], nullptr, 10));
    } else if (option == "--only") {
      settings.only = words[i + 1];
    } else if (option == "--algorithms") {
      settings.algorithms = words[i + 1];
    } else if (option == "--json") {
      settings.json = words[i + 1];
    } else {
      fmt::print(stderr, "placement_bench: unknown option {}\n", option);
      return 2;
    }
  }
  return weir::run(settings);
}
