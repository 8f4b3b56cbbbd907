// `weir bench hpcg`: conjugate gradients that write the matrix and the solution in each set.
#include <fmt/format.h>

#include <algorithm>

#include "bench_folder.hpp"
#include "bench_options.hpp"
#include "bench_report.hpp"
#include "core/options.hpp"
#include "workloads/hpcg_solver.hpp"

namespace weir::cli {

namespace {

// "64" or "64,32,16" or "64x32x16".
Result<workloads::Index3> grid_of(const std::string& text) {
  std::vector<std::int64_t> numbers;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(",x", begin), text.size());
    const auto number = parse_integer(std::string_view(text).substr(begin, end - begin));
    if (!number)
      return fail(ErrorCode::invalid_argument, fmt::format("--grid: '{}' is not a size", text),
                  "use 64 or 64,32,16");
    numbers.push_back(*number);
    begin = end + 1;
  }
  if (numbers.size() == 1) numbers.resize(3, numbers[0]);
  if (numbers.size() != 3)
    return fail(ErrorCode::invalid_argument, fmt::format("--grid: '{}' has {} numbers", text, numbers.size()),
                "use one or three");
  return workloads::Index3{numbers[0], numbers[1], numbers[2]};
}

std::string validation_text(const BenchReport& report) {
  for (const BenchResult& result : report.results) {
    const auto matrix = result.median("symmetry_matrix");
    if (!matrix) continue;
    return fmt::format(
        "Valid: symmetry departs by {:.2g} (matrix) and {:.2g} (preconditioner) of what is allowed; after {} "
        "iterations\nthe residual is {:.1e} and the solution {:.1e} off.",
        *matrix, *result.median("symmetry_preconditioner"), *result.median("validation_iterations"),
        *result.median("validation_residual"), *result.median("validation_error"));
  }
  return {};
}

}  // namespace

Status bench_hpcg(const HpcgArguments& arguments) {
  std::vector<std::string> notes;
  WEIR_ASSIGN(const workloads::Index3 grid, grid_of(arguments.grid));
  // All ranks will make the same of it; better told now.
  WEIR_ASSIGN(
      const workloads::GridPart part,
      in(workloads::make_grid(grid, arguments.settings.strong, 0, arguments.settings.compute), "use --grid"));
  WEIR_ASSIGN(const BenchSettings settings, settle(arguments, notes));

  const Interrupts interrupts;
  WEIR_ASSIGN(const BenchFolder files,
              settings.keep ? BenchFolder::kept(settings.folder.empty() ? "weir-bench" : settings.folder)
                            : BenchFolder::temporary(settings.folder));
  WEIR_ASSIGN(const BenchFolder scratch, BenchFolder::temporary(""));
  BenchRun run{.workload = "hpcg",
               .settings = settings,
               .launches = {},
               .common = {{"grid", grid},
                          {"strong", settings.strong},
                          {"sets", arguments.sets},
                          {"iterations", arguments.iterations}},
               .files = files.path(),
               .scratch = scratch.path()};
  WEIR_ASSIGN(run.launches, launches_of(settings));
  for (const auto& [mapping, launch] : run.launches)
    notes.insert(notes.end(), launch.notes.begin(), launch.notes.end());

  std::vector<BenchRow> rows;
  for (BenchCase& one : cases_of(settings)) rows.push_back({.what = std::move(one)});
  const double set_bytes = static_cast<double>(part.global[0]) * static_cast<double>(part.global[1]) *
                           static_cast<double>(part.global[2]) * (workloads::stencil_points + 1) *
                           sizeof(double);
  WEIR_TRY(check_room(files.path(), 1.1 * set_bytes * arguments.sets *
                                        (settings.keep ? static_cast<double>(rows.size()) : 1.0)));
  notes.insert(
      notes.begin(),
      fmt::format(
          "HPCG on {} compute {} ({} x {} x {}): {} x {} x {} points, {} {}, {} sets of {} iterations, "
          "{} written in each.",
          settings.compute, settings.compute == 1 ? "rank" : "ranks", part.ranks[0], part.ranks[1],
          part.ranks[2], part.global[0], part.global[1], part.global[2], part.levels,
          part.levels == 1 ? "level" : "levels", arguments.sets, arguments.iterations,
          format_bytes(static_cast<std::uint64_t>(set_bytes))));
  WEIR_TRY(run_rounds(run, rows));
  BenchReport report{.workload = "hpcg",
                     .settings = settings,
                     .parameters = {{"grid", part.global},
                                    {"ranks", part.ranks},
                                    {"levels", part.levels},
                                    {"sets", arguments.sets},
                                    {"iterations", arguments.iterations},
                                    {"bytes_per_set", set_bytes}},
                     .notes = notes,
                     .results = results_of(std::move(rows))};
  if (const std::string text = validation_text(report); !text.empty()) report.notes.push_back(text);
  return finish(report);
}

}  // namespace weir::cli
