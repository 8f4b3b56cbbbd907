#include "bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/file.hpp"
#include "terminal.hpp"
#include "version_info.hpp"

namespace weir::cli {

namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<double> value(const BenchSample& sample, const std::string& name) {
  const auto found = sample.values.find(name);
  if (found == sample.values.end()) return std::nullopt;
  return found->second;
}

void put_ratio(BenchSample& sample, const std::string& name, std::optional<double> over,
               std::optional<double> under) {
  if (over && under && *under > 0 && std::isfinite(*over / *under)) sample.values[name] = *over / *under;
}

void add_ratios(BenchSample& sample, const BenchSample* sequential) {
  if (const auto rate = value(sample, "transport_bytes_per_second"); rate && *rate > 0)
    put_ratio(sample, "transport_vs_memcpy", rate, value(sample, "memcpy_bytes_per_second"));
  put_ratio(sample, "compute_slowdown", value(sample, "slowed_compute"), value(sample, "plain_compute"));
  put_ratio(sample, "compute_slowdown_busy", value(sample, "compute"), value(sample, "busy_plain_compute"));
  put_ratio(sample, "compute_slowdown_floor", value(sample, "floor_compute"), value(sample, "plain_compute"));
  put_ratio(sample, "compute_over_floor", value(sample, "slowed_compute"), value(sample, "floor_compute"));
  for (const std::string kernel : {"copy", "scale", "add", "triad"}) {
    put_ratio(sample, kernel + "_slowdown", value(sample, "slowed_" + kernel),
              value(sample, "plain_" + kernel));
  }
  if (sequential == nullptr) return;
  const double synchronous = io_seconds(*sequential);
  put_ratio(sample, "visible_io_ratio", sample.values.at("send") + sample.values.at("wait"), synchronous);
  put_ratio(sample, "visible_io_with_close_ratio", io_seconds(sample), synchronous);
  put_ratio(sample, "wall_ratio", value(sample, "wall"), value(*sequential, "wall"));
  put_ratio(sample, "wall_ratio_ideal", std::max(synchronous, sequential->values.at("compute")),
            value(*sequential, "wall"));
  put_ratio(sample, "compute_over_synchronous_io", value(sample, "compute"), synchronous);
}

const BenchRow* baseline_of(const std::vector<BenchRow>& rows, const BenchRow& row) {
  const BenchRow* best = nullptr;
  for (const BenchRow& other : rows) {
    if (other.what.mapping != "sequential" || other.what.backend != row.what.backend) continue;
    if (best == nullptr || (other.what.arrays == "user" && !other.what.tests)) best = &other;
  }
  return best;
}

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

Json names_of(const std::vector<bool>& tests) {
  Json names = Json::array();
  for (const bool one : tests) names.push_back(one ? "on" : "off");
  return names;
}

Json or_null(std::optional<double> number) {
  return number ? Json(*number) : Json(nullptr);
}

BenchPlot plot_of(const BenchReport& report) {
  BenchPlot plot{.title = "weir bench " + report.workload, .bars = {}};
  for (const BenchResult& result : report.results) {
    if (!result.row.failure.empty() || result.row.samples.empty()) continue;
    const BenchCase& what = result.row.what;
    const Spread& wall = result.values.at("wall");
    plot.bars.push_back({.mapping = what.mapping + (what.arrays == "weir" ? ", Weir's arrays" : "") +
                                    (what.tests ? ", tests" : ""),
                         .backend = what.backend,
                         .wall = wall.median,
                         .wall_low = wall.low,
                         .wall_high = wall.high,
                         .compute = result.values.at("compute").median,
                         .send = result.values.at("send").median,
                         .wait = result.values.at("wait").median,
                         .open_close = result.values.at("open_close").median});
  }
  return plot;
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
  Spread spread;
  spread.samples = samples;
  std::sort(samples.begin(), samples.end());
  spread.median = quantile(samples, 0.5);
  spread.low = quantile(samples, 0.25);
  spread.high = quantile(samples, 0.75);
  return spread;
}

double io_seconds(const BenchSample& sample) {
  return sample.values.at("send") + sample.values.at("wait") + sample.values.at("open_close");
}

std::optional<double> BenchResult::median(const std::string& name) const {
  const auto found = values.find(name);
  if (found == values.end()) return std::nullopt;
  return found->second.median;
}

std::vector<BenchResult> results_of(std::vector<BenchRow> rows) {
  const std::vector<BenchRow> measured = rows;
  std::vector<BenchResult> results;
  for (BenchRow& row : rows) {
    const BenchRow* sequential = baseline_of(measured, row);
    for (std::size_t round = 0; round < row.samples.size(); ++round) {
      const bool comparable = sequential != nullptr && round < sequential->samples.size();
      add_ratios(row.samples[round], comparable ? &sequential->samples[round] : nullptr);
    }
    std::map<std::string, std::vector<double>> samples;
    for (const BenchSample& sample : row.samples) {
      for (const auto& [name, number] : sample.values) samples[name].push_back(number);
    }
    BenchResult result{.row = std::move(row)};
    for (auto& [name, numbers] : samples) result.values[name] = spread_of(std::move(numbers));
    results.push_back(std::move(result));
  }
  return results;
}

Json report_to_json(const BenchReport& report) {
  const BenchSettings& settings = report.settings;
  Json json = {{"weir_bench", 1}, {"workload", report.workload}, {"version", version_text}};
  json["parameters"] = report.parameters;
  json["parameters"]["compute_ranks"] = settings.compute;
  json["parameters"]["scaling"] = settings.strong ? "strong" : "weak";
  json["parameters"]["repeats"] = settings.repeats;
  json["parameters"]["tests"] = names_of(settings.tests);
  json["parameters"]["compare"] = settings.compare;
  json["parameters"]["storage"] = settings.storage;
  json["notes"] = report.notes;
  json["rows"] = Json::array();
  for (const BenchResult& result : report.results) {
    const BenchCase& what = result.row.what;
    Json row = {{"backend", what.backend},
                {"mapping", what.mapping},
                {"arrays", what.arrays},
                {"tests", what.tests},
                {"parameters", what.parameters}};
    for (const char* name :
         {"visible_io_ratio", "visible_io_with_close_ratio", "compute_slowdown", "compute_slowdown_busy",
          "compute_slowdown_floor", "compute_over_floor", "wall_ratio", "wall_ratio_ideal",
          "transport_vs_memcpy", "core_distance_ns", "compute_over_synchronous_io"}) {
      row[name] = or_null(result.median(name));
    }
    row["verified"] = settings.verify ? Json(result.row.verified) : Json(nullptr);
    if (!result.row.failure.empty()) row["failure"] = result.row.failure;
    row["median"] = Json::object();
    row["quartiles"] = Json::object();
    row["samples"] = Json::object();
    for (const auto& [name, spread] : result.values) {
      row["median"][name] = spread.median;
      row["quartiles"][name] = {spread.low, spread.high};
      row["samples"][name] = spread.samples;
    }
    json["rows"].push_back(std::move(row));
  }
  return json;
}

std::string report_to_csv(const BenchReport& report) {
  std::set<std::string> names;
  for (const BenchResult& result : report.results) {
    for (const auto& [name, spread] : result.values) names.insert(name);
  }
  std::string text = "workload,mapping,backend,arrays,tests,round,verified,failure";
  for (const std::string& name : names) text += "," + name;
  text += "\n";
  for (const BenchResult& result : report.results) {
    const BenchRow& row = result.row;
    const std::string start = fmt::format("{},{},{},{},{}", report.workload, row.what.mapping,
                                          row.what.backend, row.what.arrays, row.what.tests ? "on" : "off");
    for (std::size_t round = 0; round < row.samples.size(); ++round) {
      text += fmt::format("{},{},{},", start, round + 1, report.settings.verify ? "yes" : "");
      for (const std::string& name : names) {
        const auto number = value(row.samples[round], name);
        text += number ? fmt::format(",{:.9g}", *number) : ",";
      }
      text += "\n";
    }
    if (!row.failure.empty()) {
      text += fmt::format("{},,no,{}{}\n", start, cell(row.failure), std::string(names.size(), ','));
    }
  }
  return text;
}

namespace {

void print_brief(const BenchReport& report) {
  fmt::print("{}", plot_as_text(plot_of(report)));
  for (const BenchResult& result : report.results) {
    const auto visible = result.median("visible_io_with_close_ratio");
    const auto wall = result.median("wall_ratio");
    if (!visible || !wall || result.row.what.mapping == "sequential") continue;
    fmt::print(
        "{:<12} the program saw {:3.0f}% of its I/O time, and was done in {:.2f} of the time{}\n",
        result.row.what.backend, 100 * *visible, *wall,
        report.settings.verify ? result.row.verified ? "; the file is right" : "; THE FILE IS WRONG" : "");
  }
}

}  // namespace

Status finish(const BenchReport& report) {
  const BenchSettings& settings = report.settings;
  settings.brief ? print_brief(report) : print_tables(report);
  if (!settings.json.empty())
    WEIR_TRY(write_text_atomically(settings.json, pretty(report_to_json(report)) + "\n"));
  if (!settings.csv.empty()) WEIR_TRY(write_text_atomically(settings.csv, report_to_csv(report)));
  if (!settings.plot.empty()) WEIR_TRY(draw_plot(plot_of(report), settings.plot));
  const auto failed = std::count_if(report.results.begin(), report.results.end(),
                                    [](const BenchResult& result) { return !result.row.failure.empty(); });
  if (failed > 0) {
    return fail(ErrorCode::io, fmt::format("{} of {} cases failed", failed, report.results.size()));
  }
  return {};
}

}  // namespace weir::cli
