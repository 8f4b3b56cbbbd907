// What an I/O benchmark found: tables, JSON, CSV, pictures.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "bench_io.hpp"
#include "bench_report.hpp"
#include "core/file.hpp"
#include "report/chart.hpp"
#include "terminal.hpp"
#include "version_info.hpp"

namespace weir::cli {

namespace {

std::map<std::string, Spread> spreads_of(const IoRow& row) {
  std::map<std::string, std::vector<double>> samples;
  for (const IoSample& sample : row.samples) {
    for (const auto& [name, value] : sample.values) samples[name].push_back(value);
  }
  std::map<std::string, Spread> result;
  for (auto& [name, values] : samples) result[name] = spread_of(std::move(values));
  return result;
}

std::optional<double> median(const std::map<std::string, Spread>& spreads, const std::string& name) {
  const auto found = spreads.find(name);
  if (found == spreads.end()) return std::nullopt;
  return found->second.median;
}

// The best of the MPI library's own, in one direction.
std::optional<double> best_mpi_rate(const IoRun& run, const std::string& direction) {
  std::optional<double> best;
  for (const IoRow& row : run.rows) {
    if (!row.what.config.of_mpi || row.direction != direction || row.samples.empty()) continue;
    const auto rate = median(spreads_of(row), "mb_per_s");
    if (rate && (!best || *rate > *best)) best = rate;
  }
  return best;
}

bool is_planned(const IoRun& run) {
  return !run.rows.empty() && !run.rows.front().what.aggregators.empty();
}

std::string cell(const std::map<std::string, Spread>& spreads, const std::string& name, double scale,
                 int digits) {
  const auto found = spreads.find(name);
  if (found == spreads.end()) return "-";
  const Spread& spread = found->second;
  return fmt::format(
      "{:.{}f} {}", spread.median * scale, digits,
      styled(fmt::format("({:.{}f}-{:.{}f})", spread.low * scale, digits, spread.high * scale, digits),
             Style::dim));
}

std::string verdict(const IoRun& run, const IoRow& row) {
  if (!row.failure.empty()) return styled("failed", Style::red);
  if (run.arguments.no_verify) return "-";
  return row.verified ? styled("yes", Style::green) : styled("NO", Style::red);
}

void print_mappings(const IoRun& run) {
  using Align = Table::Align;
  Table table(
      {"mapping", "direction", "communication s", "I/O s", "between nodes MB", "model MB", "verified"},
      {Align::left, Align::left, Align::right, Align::right, Align::right, Align::right, Align::left});
  for (const IoRow& row : run.rows) {
    const auto spreads = spreads_of(row);
    table.add({row.what.mapping, row.direction, cell(spreads, "communication_seconds", 1, 3),
               cell(spreads, "io_seconds", 1, 3), cell(spreads, "cross_node_bytes", 1e-6, 2),
               fmt::format("{:.2f}", row.model_bytes() / 1e6), verdict(run, row)});
  }
  fmt::print("{}", table.text());
}

// A transfer of a few milliseconds is over before the system has spread ranks over their cores evenly.
void warn_of_short_transfers(const IoRun& run) {
  constexpr double short_transfer = 0.01;  // seconds
  double shortest = short_transfer;
  for (const IoRow& row : run.rows)
    shortest = std::min(shortest, median(spreads_of(row), "transfer_seconds").value_or(shortest));
  if (shortest < short_transfer)
    fmt::print("\nThe shortest of these transfers took {:.1f} ms: larger sizes tell more.\n", shortest * 1e3);
}

void print_configs(const IoRun& run) {
  using Align = Table::Align;
  Table table(
      {"config", "direction", "MB/s", "of the best MPI-IO", "between nodes MB", "model MB", "verified"},
      {Align::left, Align::left, Align::right, Align::right, Align::right, Align::right, Align::left});
  for (const IoRow& row : run.rows) {
    const auto spreads = spreads_of(row);
    const auto best = best_mpi_rate(run, row.direction), mine = median(spreads, "mb_per_s");
    const bool cluster = !run.cluster.empty();
    table.add({row.what.config.name, row.direction, cell(spreads, "mb_per_s", 1, 1),
               best && mine ? fmt::format("{:.2f}", *mine / *best) : "-",
               cluster ? cell(spreads, "cross_node_bytes", 1e-6, 2) : "-",
               cluster ? fmt::format("{:.2f}", row.model_bytes() / 1e6) : "-", verdict(run, row)});
  }
  fmt::print("{}", table.text());
  warn_of_short_transfers(run);
}

Json or_null(std::optional<double> number) {
  return number ? Json(*number) : Json(nullptr);
}

Json row_json(const IoRun& run, const IoRow& row) {
  const auto spreads = spreads_of(row);
  Json json = {{"mapping", row.what.mapping}, {"config", row.what.config.name}, {"direction", row.direction}};
  if (is_planned(run)) {
    json["communication_seconds"] = or_null(median(spreads, "communication_seconds"));
    json["io_seconds"] = or_null(median(spreads, "io_seconds"));
    json["aggregators"] = row.what.aggregators;
  } else {
    const auto best = best_mpi_rate(run, row.direction), mine = median(spreads, "mb_per_s");
    json["mb_per_s"] = or_null(mine);
    json["speedup_vs_best_mpiio"] = best && mine ? Json(*mine / *best) : Json(nullptr);
  }
  const bool cluster = !run.cluster.empty();
  json["cross_node_bytes"] = cluster ? or_null(median(spreads, "cross_node_bytes")) : Json(nullptr);
  json["cross_node_bytes_model"] = cluster ? Json(row.model_bytes()) : Json(nullptr);
  json["verified"] = run.arguments.no_verify ? Json(nullptr) : Json(row.verified && row.failure.empty());
  if (!row.failure.empty()) json["failure"] = row.failure;
  json["quartiles"] = Json::object();
  json["samples"] = Json::object();
  for (const auto& [name, spread] : spreads) {
    json["quartiles"][name] = {spread.low, spread.high};
    json["samples"][name] = spread.samples;
  }
  return json;
}

Json run_json(const IoRun& run) {
  Json json = {{"weir_bench", 1}, {"workload", run.workload.name}, {"version", version_text}};
  json["parameters"] = workloads::io_workload_to_json(run.workload);
  json["parameters"]["vcluster"] = run.arguments.vcluster;
  json["parameters"]["rate"] = run.cluster.empty() ? "" : run.arguments.rate;
  if (is_planned(run)) json["parameters"]["algorithm"] = run.arguments.algorithm;
  json["parameters"]["repeats"] = run.arguments.repeats;
  json["parameters"]["samples_per_launch"] = run.arguments.samples;
  json["notes"] = run.notes;
  json["rows"] = Json::array();
  for (const IoRow& row : run.rows) json["rows"].push_back(row_json(run, row));
  return json;
}

std::string run_csv(const IoRun& run) {
  std::set<std::string> names;
  for (const IoRow& row : run.rows) {
    for (const IoSample& sample : row.samples) {
      for (const auto& [name, value] : sample.values) names.insert(name);
    }
  }
  std::string text = "workload,mapping,config,direction,sample,verified";
  for (const std::string& name : names) text += "," + name;
  text += "\n";
  for (const IoRow& row : run.rows) {
    for (std::size_t sample = 0; sample < row.samples.size(); ++sample) {
      // A configuration has commas of its own.
      text += fmt::format("{},{},\"{}\",{},{},{}", run.workload.name, row.what.mapping, row.what.config.name,
                          row.direction, sample + 1,
                          run.arguments.no_verify ? ""
                          : row.verified          ? "yes"
                                                  : "no");
      for (const std::string& name : names) {
        const auto found = row.samples[sample].values.find(name);
        text += found == row.samples[sample].values.end() ? "," : fmt::format(",{:.9g}", found->second);
      }
      text += "\n";
    }
  }
  return text;
}

// Bars by mapping (communication and I/O stacked) or by configuration (rates), a series for each direction.
report::Chart chart_of(const IoRun& run) {
  const bool planned = is_planned(run);
  report::Chart chart{.title = fmt::format("weir bench {}", run.workload.name),
                      .y_label = planned ? "communication time (s)" : "MB/s"};
  for (const char* direction : {"write", "read"}) {
    report::Series series{.name = direction};
    for (const IoRow& row : run.rows) {
      if (row.direction != direction) continue;
      if (series.name == "write")
        chart.categories.push_back(planned ? row.what.mapping : row.what.config.name);
      const auto spreads = spreads_of(row);
      const auto found = spreads.find(planned ? "communication_seconds" : "mb_per_s");
      const double nothing = std::numeric_limits<double>::quiet_NaN();
      series.values.push_back(found == spreads.end() ? nothing : found->second.median);
      series.low.push_back(found == spreads.end() ? nothing : found->second.low);
      series.high.push_back(found == spreads.end() ? nothing : found->second.high);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

Status finish_io(const IoRun& run) {
  for (const std::string& note : run.notes) fmt::print("{}\n", note);
  fmt::print("\n");
  if (is_planned(run)) {
    print_mappings(run);
  } else {
    print_configs(run);
  }
  if (!run.arguments.json.empty())
    WEIR_TRY(write_text_atomically(run.arguments.json, pretty(run_json(run)) + "\n"));
  if (!run.arguments.csv.empty()) WEIR_TRY(write_text_atomically(run.arguments.csv, run_csv(run)));
  if (!run.arguments.plot.empty()) {
    WEIR_TRY(report::save(chart_of(run), run.arguments.plot + ".svg"));
    WEIR_TRY(report::save(chart_of(run), run.arguments.plot + ".png"));
  }
  for (const IoRow& row : run.rows) {
    if (!row.failure.empty())
      return fail(ErrorCode::io,
                  fmt::format("{}, {}: {}", row.what.mapping, row.what.config.name, row.failure));
    if (!row.verified)
      return fail(ErrorCode::corrupt, fmt::format("{}, {}: the data of a {} is wrong", row.what.mapping,
                                                  row.what.config.name, row.direction));
  }
  return {};
}

}  // namespace weir::cli
