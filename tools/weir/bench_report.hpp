// What a benchmark found, for people and for programs: medians and quartiles of what was measured, ratios, a
// table, JSON, CSV, pictures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench.hpp"

namespace weir::cli {

struct Spread {
  double median = 0;
  double low = 0;  // quartiles
  double high = 0;
  std::vector<double> samples = {};  // by round
};
Spread spread_of(std::vector<double> samples);  // REQUIRES: not empty

double io_seconds(const BenchSample& sample);  // in all calls of the library

// A row with its numbers. Ratios are made within a round, then their median is taken:
//   visible_io_ratio             send + wait, over all I/O of the sequential run (with create and close)
//   visible_io_with_close_ratio  send + wait + create + close, over the same
//   wall_ratio                   until the data is written, over the sequential run's
//   wall_ratio_ideal             the longer one of compute and I/O of the sequential run, over all of it
//   compute_slowdown             over the same computation without the library; copy_slowdown, ... by kernel
//   compute_slowdown_floor       the computation alone beside somebody who only writes as much, over the same
//   compute_over_floor           compute, over that computation beside a mere writer: what is Weir's own
//   compute_over_synchronous_io  how much compute there was to hide I/O behind; 1: equally long
//   transport_vs_memcpy          bytes a second to the server, over memcpy's in the same process
// A ratio is absent where there is nothing to compare with.
struct BenchResult {
  BenchRow row;
  std::map<std::string, Spread> values = {};
  std::optional<double> median(const std::string& name) const;
};
std::vector<BenchResult> results_of(std::vector<BenchRow> rows);

struct BenchReport {
  std::string workload;
  BenchSettings settings;
  Json parameters = Json::object();  // of the workload
  std::vector<std::string> notes = {};
  std::vector<BenchResult> results = {};
};

void print_tables(const BenchReport& report);
Json report_to_json(const BenchReport& report);
std::string report_to_csv(const BenchReport& report);  // one line for each row and round

// Prints the tables (or, brief, a picture and a sentence for each backend), stores the files that were asked
// for; a failure when a case failed.
Status finish(const BenchReport& report);

// Pictures of the wall time and of what it consists of: PREFIX-wall.png, .svg, PREFIX-breakdown.png, .svg.
struct BenchBar {
  std::string mapping;  // with "weir arrays" and "tests" where they vary
  std::string backend;
  double wall = 0, wall_low = 0, wall_high = 0;
  double compute = 0, send = 0, wait = 0, open_close = 0;
};
struct BenchPlot {
  std::string title;
  std::vector<BenchBar> bars;
};
Status draw_plot(const BenchPlot& plot, const std::string& prefix);
std::string plot_as_text(const BenchPlot& plot);  // what the time went to, for a terminal

}  // namespace weir::cli
