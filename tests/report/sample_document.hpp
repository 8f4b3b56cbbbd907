// A report of made-up runs with everything in it, and names that try to break out of wherever they are put.
#pragma once

#include <cmath>

#include "report/document.hpp"

namespace weir::report::test {

inline constexpr const char* hostile =
    "ior</script><script>document.title='taken'</script><img src=x "
    "onerror=\"document.title='taken'\">\x1b[31m";

inline JobPage sample_job(int number, double speed) {
  JobPage page{.id = std::to_string(4711 + number),
               .name = number == 1 ? hostile : "ior T:agg=1,rr=1,req=4",
               .state = number == 2 ? "failed" : "completed",
               .tone = number == 2 ? Tone::bad : Tone::good,
               .line = "alice · 3,072 nodes (8×12×32) · 2019-08-01 12:00:00 UTC · 10 min 0 s",
               .start_ms = 1564660800000};
  page.facts = {{"Written", "3.0 TiB", "5.1 GiB/s on average"},
                {"Read", "12.0 MiB", ""},
                {"Peak throughput", "7.9 GiB/s", "at 4:12 min"},
                {"Queue depth", "132", "per server, weighted by requests", Tone::caution},
                {"Wait of requests", "14.2 ms", "99th percentile 120 ms"},
                {"Link use", "4.1 %", "of 5 GB/s", Tone::caution},
                {"Balance", "0.42", "Gini coefficient of the targets", Tone::bad},
                {"Data", "100 %", "of samples there; no resets", Tone::good}};
  page.figures = {
      {"bytes_written", 3298534883328.0, "bytes"}, {"queue_depth", 132.5, "requests"}, {"gone", NAN, ""}};
  page.findings = {{Tone::bad, "uneven-targets", "Half of the targets carry all of the load.",
                    "96 of 192 targets took 98% of the bytes; the Gini coefficient is 0.42.",
                    "spread the aggregators over the targets: weir plan --agg 1 --rr 1"},
                   {Tone::caution, "queue-deep", "Queues are deep while links idle.",
                    "On average 132 requests waited at a server, while links were used to 4.1%.",
                    "throttle to 4 requests per target and step: req=4"}};
  const int points = 120;
  Chart throughput{.title = "Throughput",
                   .kind = Kind::lines,
                   .x_label = "time (s)",
                   .y_label = "throughput (MiB/s)",
                   .x_scale = Scale::linear,
                   .series = {{.name = "write"}, {.name = "read"}}};
  Chart depth{.title = "Queue depth",
              .kind = Kind::lines,
              .x_label = "time (s)",
              .y_label = "waiting (requests)",
              .x_scale = Scale::linear,
              .series = {{.name = "mean"}},
              .references = {{32, "threads of a server"}}};
  for (int i = 0; i < points; ++i) {
    const double t = i * 5.0;
    throughput.x.push_back(t);
    depth.x.push_back(t);
    const bool gap = i >= 60 && i < 66;
    throughput.series[0].values.push_back(
        gap ? NAN : speed * (4000 + 2500 * std::sin(i / 9.0) + 500 * std::sin(i * 1.7)));
    throughput.series[1].values.push_back(gap ? NAN : speed * (600 + 500 * std::cos(i / 5.0)));
    depth.series[0].values.push_back(gap ? NAN : 60 + 50 * std::sin(i / 7.0 + number));
  }
  page.timelines = {throughput, depth};
  HeatMap positions{.title = "Write throughput by position of the target",
                    .x_label = "x",
                    .y_label = "y",
                    .value_label = "throughput (MiB/s)",
                    .high = 160,
                    .upward = true};
  for (int i = 0; i < 16; ++i) positions.columns.push_back(std::to_string(i));
  for (int i = 0; i < 12; ++i) positions.rows.push_back(std::to_string(i));
  for (int i = 0; i < 192; ++i)
    positions.values.push_back(i == 37 ? NAN : speed * (i % 16 < 8 ? 120.0 : 45.0) + 12 * std::sin(i * 2.3));
  HeatMap times{.title = "Targets over time", .x_label = "time", .value_label = "throughput (MiB/s)"};
  for (int i = 0; i < 60; ++i) times.columns.push_back(std::to_string(i * 10) + " s");
  for (int i = 0; i < 24; ++i) times.rows.push_back("OST00" + std::to_string(10 + i));
  for (int i = 0; i < 24 * 60; ++i)
    times.values.push_back(i % 60 >= 30 && i % 60 < 33 ? NAN : 80 + 70 * std::sin(i % 60 / 6.0 + i / 300.0));
  page.heat_maps = {positions, times};
  Chart load{.title = "Bytes by target",
             .x_label = "target",
             .y_label = "written (GiB)",
             .series = {{.name = "written"}},
             .references = {{17, "mean"}}};
  for (int i = 0; i < 24; ++i) {
    load.categories.push_back("OST00" + std::to_string(10 + i));
    load.series[0].values.push_back(34.0 / (1 + i * 0.1));
  }
  page.charts = {load};
  page.tables = {{"Metrics",
                  "means over intervals and servers",
                  {"metric", "mean", "p50", "p95", "p99", "unit"},
                  {false, true, true, true, true, false},
                  {{"req_qdepth", "132", "120", "310", "402", "requests"},
                   {"req_waittime", "14.2", "9.1", "77", "120", "ms"},
                   {"T_wait_max", "0.31", "0.2", "0.9", "1.4", "s"}}},
                 {"Other jobs on the same servers",
                  "",
                  {"job", "user", "share of bytes"},
                  {false, false, true},
                  {{"4709", number == 1 ? hostile : "bob", "12 %"}}}};
  return page;
}

inline Document one_run() {
  return {.title = "Job 4711", .jobs = {sample_job(0, 1)}, .made_by = "weir test", .made_at = "2019-08-01"};
}

inline Document several_runs() {
  Document document{.title = "IOR, three ways",
                    .jobs = {sample_job(0, 1), sample_job(1, 0.6), sample_job(2, 0.4)},
                    .made_by = "weir test"};
  document.comparison = ComparisonPage{
      .verdict = "A is best: its writes were 1.7 times as fast as B's.",
      .sure = "The chance that A is best is 94%, by 2,000 resamplings of its intervals.",
      .table = {"Scores",
                "",
                {"run", "score", "chance of being best"},
                {false, true, true},
                {{"A", "1.33", "94 %"}, {"B", "2.17", "5 %"}, {"C", "2.50", "1 %"}}},
      .chart = Chart{
          .title = "Difference from A",
          .y_label = "better than A (%)",
          .categories = {"req_qdepth", "req_waittime", "R_BW"},
          .series = {
              {.name = "B", .values = {-40, -20, 5}, .low = {-50, -30, -5}, .high = {-30, -8, 14}},
              {.name = "C", .values = {-60, -70, -12}, .low = {-66, -80, -20}, .high = {-40, -60, -1}}}}};
  return document;
}

}  // namespace weir::report::test
