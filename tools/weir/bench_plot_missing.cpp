// Where the module report is not built.
#include "bench_report.hpp"

namespace weir::cli {

Status check_plot() {
  return fail(ErrorCode::unsupported, "--plot: this build draws no charts", "use --csv or --json");
}

Status draw_plot(const BenchPlot&, const std::string&) {
  return check_plot();
}

}  // namespace weir::cli
