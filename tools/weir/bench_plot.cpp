// The figures of the paper on iocomp in small: wall time by backend and mapping (Figures 4, 6), and what it
// consists of (Figures 7, 13).
#include <algorithm>
#include <cmath>
#include <limits>

#include "bench_report.hpp"
#include "report/chart.hpp"
#include "terminal.hpp"

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

namespace {

struct Charts {
  report::Chart wall, breakdown;
};

Charts charts_of(const BenchPlot& plot) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const auto backends = distinct(plot.bars, [](const BenchBar& bar) { return bar.backend; });
  Charts charts;
  charts.wall = {.title = plot.title + ": wall time until the data is written",
                 .y_label = "wall time (s)",
                 .categories = backends};
  charts.breakdown = {
      .title = plot.title + ": what the time went to", .y_label = "time (s)", .categories = backends};
  charts.breakdown.mark_name = "wall time";
  for (const std::string& mapping : distinct(plot.bars, [](const BenchBar& bar) { return bar.mapping; })) {
    const auto of = [&](double BenchBar::*member, double missing) {
      return numbers(plot, backends, mapping, member, missing);
    };
    charts.wall.series.push_back({.name = mapping,
                                  .values = of(&BenchBar::wall, unknown),
                                  .low = of(&BenchBar::wall_low, unknown),
                                  .high = of(&BenchBar::wall_high, unknown)});
    charts.breakdown.series.push_back({.name = mapping,
                                       .values = of(&BenchBar::wall, unknown),
                                       .parts = {{"compute", of(&BenchBar::compute, 0)},
                                                 {"send", of(&BenchBar::send, 0)},
                                                 {"wait", of(&BenchBar::wait, 0)},
                                                 {"create and close", of(&BenchBar::open_close, 0)}}});
  }
  return charts;
}

}  // namespace

Status draw_plot(const BenchPlot& plot, const std::string& prefix) {
  if (plot.bars.empty()) return fail(ErrorCode::invalid_argument, "--plot: nothing was measured");
  const Charts charts = charts_of(plot);
  for (const char* extension : {".png", ".svg"}) {
    WEIR_TRY(report::save(charts.wall, prefix + "-wall" + extension));
    WEIR_TRY(report::save(charts.breakdown, prefix + "-breakdown" + extension));
  }
  return {};
}

std::string plot_as_text(const BenchPlot& plot) {
  if (plot.bars.empty()) return {};
  return report::render_text(charts_of(plot).breakdown, {.colour = stdout_has_colors()}).value_or("");
}

}  // namespace weir::cli
