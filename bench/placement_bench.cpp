// Placement algorithms on the patterns of the SetMatch paper, reordered and larger: share of the application
// matrix that crosses nodes, objective relative to all traffic within nodes, share of the shuffle, CPU
// seconds, memory. P ranks on P / 32 nodes of 48 cores, 5800 and 2100 MB/s.
//
//   placement_bench [--from RANKS] [--up-to RANKS] [--only NAME] [--algorithms LIST] [--json FILE]
//
// "shuffle" is with the aggregators that the algorithm chose, or ROMIO's where it chooses none; "best agg"
// with the best that are found for each placement, by the same search. Fails if, in any row, joint is worse
// than another one in the matrix, or joint-shuffle in the shuffle, like for like.
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

// What a case is made of: the pattern, and its application matrix.
struct Stated {
  pattern::Pattern pattern;
  pattern::SparseMatrix matrix;
};
struct Case {
  std::string name;
  std::uint32_t ranks;
  Result<Stated> (*make)(std::uint32_t ranks, std::uint64_t seed);
  std::uint64_t seed;
};

template <class Parameters>
Result<Stated> stated(const Parameters& parameters) {
  WEIR_ASSIGN(pattern::Pattern pattern, pattern::state(parameters));
  if constexpr (std::is_same_v<Parameters, pattern::BlockTridiagonal>)
    return Stated{std::move(pattern), pattern::application_matrix(parameters)};
  else
    return Stated{pattern, pattern::application_matrix(pattern)};
}

Result<Stated> tile(std::uint32_t ranks, std::uint64_t seed) {
  std::uint64_t side = 1;
  while (side * side < ranks) side *= 2;
  return stated(pattern::Cartesian{
      .processes = {ranks / side, side}, .block = {800, 768}, .element = 1024, .seed = seed});
}

Result<Stated> cube(std::uint32_t ranks, std::uint64_t seed) {
  std::vector<std::uint64_t> sides{1, 1, 1};
  for (std::size_t i = 2; sides[0] * sides[1] * sides[2] < ranks; i = (i + 2) % 3) sides[i] *= 2;
  return stated(pattern::Cartesian{.processes = sides, .block = {64, 64, 64}, .element = 1024, .seed = seed});
}

Result<Stated> bt(std::uint32_t ranks, std::uint64_t seed) {
  std::uint64_t side = 1;
  while (side * side < ranks) side *= 2;
  return stated(pattern::BlockTridiagonal{
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
  std::uint32_t from = 0, up_to = 1U << 20U;
  std::string only, algorithms = "all", json;
};

Status run_case(const Case& one, const Settings& settings, Json& rows, int& worse) {
  const double begin = cpu_seconds();
  WEIR_ASSIGN(const Stated stated, one.make(one.ranks, one.seed));
  const pattern::Pattern& pattern = stated.pattern;
  const std::uint32_t nodes = one.ranks / 32;
  const auto& table = pattern.files[0].writes;
  const pattern::Domains domains = pattern::even_domains(pattern, table, nodes);
  const auto shuffle = pattern::shuffle_up_to(most_shuffle_values, pattern, table, domains);
  const auto platform = find_site(fmt::format("{}x48", nodes));
  WEIR_ASSIGN(const Machine machine, Machine::of(**platform));
  const PlacementProblem problem{.machine = &machine,
                                 .ranks = one.ranks,
                                 .recorded = &stated.matrix,
                                 .shuffle = shuffle ? &*shuffle : nullptr};
  const double made = cpu_seconds();
  const LowerBounds bounds = lower_bounds(problem);
  const double shuffle_bound =
      shuffle ? bounds.shuffle_cross_node_share : shuffle_bound_of_shapes(problem, pattern, table, domains);
  fmt::print("\n{} {}: matrices {:.2f} s, bounds {:.2f} s: {:.4f}% of the matrix, {:.3f}% of the shuffle\n",
             one.name, one.ranks, made - begin, cpu_seconds() - made, 100 * bounds.cross_node_share,
             100 * shuffle_bound);
  if (!shuffle) fmt::print("  the shuffle has too many values to be modelled\n");
  fmt::print("  {:<15}{:>11}{:>12}{:>11}{:>11}{:>10}{:>9}\n", "algorithm", "cross-node", "objective",
             "shuffle", "best agg", "CPU s", "GB");
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
    const double fair = shuffle ? share_with_best_aggregators(problem, *placed) : 0;
    const auto percent = [&](double share) { return shuffle ? fmt::format("{:.3f}%", 100 * share) : "-"; };
    fmt::print("  {:<15}{:>10.4f}%{:>12.6f}{:>11}{:>11}{:>10.4f}{:>9.2f}\n", choice.text,
               100 * result.cross_node_share, result.objective_relative,
               percent(result.shuffle_cross_node_share), percent(fair), seconds, peak_gigabytes());
    std::fflush(stdout);
    rows.push_back({{"pattern", one.name},
                    {"ranks", one.ranks},
                    {"algorithm", choice.text},
                    {"seconds", seconds},
                    {"objective", result.objective},
                    {"objective_relative", result.objective_relative},
                    {"cross_node_share", result.cross_node_share},
                    {"shuffle_cross_node_share", shuffle ? Json(result.shuffle_cross_node_share) : Json()},
                    {"shuffle_share_best_aggregators", shuffle ? Json(fair) : Json()},
                    {"shuffle_lower_bound", shuffle_bound},
                    {"lower_bound", bounds.objective},
                    {"peak_gigabytes", peak_gigabytes()}});
    if (choice.text == "joint") joint = result.objective, joint_seconds = seconds;
    if (choice.text == "scotch") scotch_seconds = seconds;
    if (choice.text == "joint-shuffle") joint_shuffle = fair;
    if (!choice.text.starts_with("joint")) {
      least = std::min(least, result.objective);
      least_shuffle = std::min(least_shuffle, fair);
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
    cases.push_back({"bt", ranks, bt, 0});
    cases.push_back({"3d", ranks, cube, 0});
    cases.push_back({"3d-permuted", ranks, cube, 7});
  }
  Json rows = Json::array();
  int worse = 0;
  for (const Case& one : cases) {
    if (one.ranks < settings.from || one.ranks > settings.up_to ||
        (!settings.only.empty() && one.name != settings.only))
      continue;
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
    } else if (option == "--from") {
      settings.from = static_cast<std::uint32_t>(std::strtoul(words[i + 1], nullptr, 10));
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
