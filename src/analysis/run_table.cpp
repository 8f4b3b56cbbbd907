// Measured values of runs from a CSV.
#include <fmt/format.h>

#include "analysis/csv.hpp"
#include "analysis/evaluation.hpp"
#include "analysis/job_analysis.hpp"

namespace weir::analysis {

namespace {

Result<MetricColumn> column_of(const std::string& title, std::string_view file) {
  const std::size_t colon = title.rfind(':');
  if (colon != std::string::npos) {
    const std::string_view direction = std::string_view(title).substr(colon + 1);
    if (direction == "low") return MetricColumn{title.substr(0, colon), Direction::low_is_good};
    if (direction == "high") return MetricColumn{title.substr(0, colon), Direction::high_is_good};
  }
  const MetricKind* kind = find_metric(title);
  if (kind != nullptr && kind->good != Direction::neither) return MetricColumn{title, kind->good};
  std::vector<std::string> names;
  for (const MetricKind& known : metric_kinds()) {
    if (known.good != Direction::neither) names.emplace_back(known.id);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}:1: whether much or little of '{}' is good is not known{}", file,
                          title.substr(0, 80), suggest(title, names)),
              fmt::format("write '{}:low' or '{}:high'", title.substr(0, 80), title.substr(0, 80)));
}

}  // namespace

Result<RunTable> read_run_table(std::string_view text, std::string_view name) {
  WEIR_ASSIGN(const Csv csv, parse_csv(text, name, "configuration"));
  const auto configuration = csv.column("configuration");
  if (!configuration) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}:1: no column is called 'configuration'", name),
                "the other columns are metrics, a line each run");
  }
  const auto throughput = csv.column("throughput");
  RunTable table;
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < csv.titles.size(); ++i) {
    if (i == *configuration || i == throughput) continue;
    WEIR_ASSIGN(MetricColumn column, column_of(csv.titles[i], name));
    table.metrics.push_back(std::move(column));
    columns.push_back(i);
  }
  table.values.resize(columns.size());
  const auto value_of = [&](const Csv::Row& row, std::size_t column) -> Result<double> {
    if (row.fields[column].empty()) return unknown;
    WEIR_ASSIGN(const double value, csv.number(row, column));
    if (value < 0) return csv.wrong(row, column, "it is below 0", "metrics are compared by ratios");
    return value;
  };
  for (const Csv::Row& row : csv.rows) {
    if (row.fields[*configuration].empty()) return csv.wrong(row, *configuration, "it is empty");
    table.configurations.push_back(row.fields[*configuration]);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      WEIR_ASSIGN(const double value, value_of(row, columns[i]));
      table.values[i].push_back(value);
    }
    if (throughput) {
      WEIR_ASSIGN(const double value, value_of(row, *throughput));
      table.throughput.push_back(value);
    }
  }
  return table;
}

}  // namespace weir::analysis
