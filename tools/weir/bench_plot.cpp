// The figures of the paper on iocomp in small: wall time by backend and mapping (Figures 4, 6), and what it
// consists of (Figures 7, 13).
#include <algorithm>
#include <cmath>
#include <limits>

#include "bench_report.hpp"
#include "report/chart.hpp"

namespace weir::cli {

namespace {

template <class Get>
std::vector<std::string> distinct(const std::vector<BenchBar>& bars, const Get& get) {
  std::vector<std::string> names;
  for (const BenchBar& bar : bars) {
    if (std::find(names.begin(), names.end(), get(bar)) == names.end()) names.push_back(get(bar));
  }
  return names;
}

// One number per backend of a mapping; a case that was not measured is NaN, or zero as part of a stack.
std::vector<double> numbers(const BenchPlot& plot, const std::vector<std::string>& backends,
                            const std::string& mapping, double BenchBar::*member, double missing) {
  std::vector<double> values;
  for (const std::string& backend : backends) {
    const auto found = std::find_if(plot.bars.begin(), plot.bars.end(), [&](const BenchBar& bar) {
      return bar.backend == backend && bar.mapping == mapping;
    });
    values.push_back(found == plot.bars.end() ? missing : (*found).*member);
  }
  return values;
}

}  // namespace

Status check_plot() {
  return {};
}

Status draw_plot(const BenchPlot& plot, const std::string& prefix) {
  if (plot.bars.empty()) return fail(ErrorCode::invalid_argument, "--plot: nothing was measured");
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const auto backends = distinct(plot.bars, [](const BenchBar& bar) { return bar.backend; });
  report::Chart wall{.title = plot.title + ": wall time until the data is written",
                     .y_label = "wall time (s)",
                     .categories = backends};
  report::Chart breakdown{
      .title = plot.title + ": what the time went to", .y_label = "time (s)", .categories = backends};
  breakdown.mark_name = "wall time";
  for (const std::string& mapping : distinct(plot.bars, [](const BenchBar& bar) { return bar.mapping; })) {
    const auto of = [&](double BenchBar::*member, double missing) {
      return numbers(plot, backends, mapping, member, missing);
    };
    wall.series.push_back({.name = mapping,
                           .values = of(&BenchBar::wall, unknown),
                           .low = of(&BenchBar::wall_low, unknown),
                           .high = of(&BenchBar::wall_high, unknown)});
    breakdown.series.push_back({.name = mapping,
                                .values = of(&BenchBar::wall, unknown),
                                .parts = {{"compute", of(&BenchBar::compute, 0)},
                                          {"send", of(&BenchBar::send, 0)},
                                          {"wait", of(&BenchBar::wait, 0)},
                                          {"create and close", of(&BenchBar::open_close, 0)}}});
  }
  for (const char* extension : {".png", ".svg"}) {
    WEIR_TRY(report::save(wall, prefix + "-wall" + extension));
    WEIR_TRY(report::save(breakdown, prefix + "-breakdown" + extension));
  }
  return {};
}

}  // namespace weir::cli
