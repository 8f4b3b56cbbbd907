// The tables of `weir bench`, for a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "bench_report.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

std::string seconds(const BenchResult& result, const std::string& name) {
  const auto median = result.median(name);
  return median ? fmt::format("{:.3f}", *median) : "-";
}

std::string with_quartiles(const BenchResult& result, const std::string& name, int digits) {
  const auto found = result.values.find(name);
  if (found == result.values.end()) return "-";
  const Spread& spread = found->second;
  return fmt::format(
      "{:.{}f} {}", spread.median, digits,
      styled(fmt::format("({:.{}f}-{:.{}f})", spread.low, digits, spread.high, digits), Style::dim));
}

bool has(const BenchReport& report, const std::string& name) {
  return std::any_of(report.results.begin(), report.results.end(),
                     [&](const BenchResult& result) { return result.values.contains(name); });
}

// Mapping and backend, and what else tells rows apart.
struct Labels {
  bool arrays, tests;
  explicit Labels(const BenchReport& report)
      : arrays(report.settings.arrays.size() > 1), tests(report.settings.tests.size() > 1) {}
  std::vector<std::string> titles() const {
    std::vector<std::string> titles = {"backend", "mapping"};
    if (arrays) titles.emplace_back("arrays");
    if (tests) titles.emplace_back("tests");
    return titles;
  }
  std::vector<std::string> cells(const BenchCase& what) const {
    std::vector<std::string> cells = {what.backend, what.mapping};
    if (arrays) cells.push_back(what.arrays);
    if (tests) cells.emplace_back(what.tests ? "on" : "off");
    return cells;
  }
};

Table make_table(std::vector<std::string> titles, std::size_t labels) {
  std::vector<Table::Align> alignment(titles.size(), Table::Align::right);
  std::fill_n(alignment.begin(), labels, Table::Align::left);
  return Table(std::move(titles), std::move(alignment));
}

void print_times(const BenchReport& report) {
  const Labels labels(report);
  struct Column {
    std::string title, name;
    int digits;  // of a ratio with quartiles; -1: seconds
  };
  std::vector<Column> columns = {{"compute", "compute", -1},
                                 {"send", "send", -1},
                                 {"wait", "wait", -1},
                                 {"open+close", "open_close", -1},
                                 {"wall", "wall", 3}};
  for (const Column& optional :
       {Column{"visible I/O", "visible_io_ratio", 3}, Column{"slowdown", "compute_slowdown", 3},
        Column{"floor", "compute_slowdown_floor", 3}, Column{"busy", "compute_slowdown_busy", 3},
        Column{"wall ratio", "wall_ratio", 2}, Column{"ideal", "wall_ratio_ideal", 2},
        Column{"of memcpy", "transport_vs_memcpy", 2}, Column{"distance", "core_distance_ns", 0}}) {
    if (has(report, optional.name)) columns.push_back(optional);
  }
  std::vector<std::string> titles = labels.titles();
  for (const Column& column : columns) titles.push_back(column.title);
  if (has(report, "effective_bytes_per_second")) titles.emplace_back("GB/s");
  if (report.settings.verify) titles.emplace_back("verified");
  Table table = make_table(titles, labels.titles().size());
  for (const BenchResult& result : report.results) {
    std::vector<std::string> cells = labels.cells(result.row.what);
    for (const Column& column : columns) {
      cells.push_back(column.digits < 0 ? seconds(result, column.name)
                                        : with_quartiles(result, column.name, column.digits));
    }
    if (has(report, "effective_bytes_per_second")) {
      const auto rate = result.median("effective_bytes_per_second");
      cells.push_back(rate ? fmt::format("{:.2f}", *rate / 1e9) : "-");
    }
    if (report.settings.verify)
      cells.push_back(result.row.verified ? styled("yes", Style::green) : styled("NO", Style::red));
    table.add(std::move(cells));
  }
  fmt::print("{}", table.text());
}

// As Table IV of the paper on iocomp.
void print_slowdown(const BenchReport& report) {
  if (!has(report, "copy_slowdown")) return;
  const Labels labels(report);
  std::vector<std::string> titles = labels.titles();
  for (const char* kernel : {"copy", "scale", "add", "triad"}) titles.emplace_back(kernel);
  Table table = make_table(titles, labels.titles().size());
  for (const BenchResult& result : report.results) {
    std::vector<std::string> cells = labels.cells(result.row.what);
    for (const char* kernel : {"copy", "scale", "add", "triad"})
      cells.push_back(with_quartiles(result, std::string(kernel) + "_slowdown", 2));
    table.add(std::move(cells));
  }
  fmt::print("\nTime of each kernel, over plain STREAM's in the same process:\n\n{}", table.text());
}

// Rows have it from their backends: in 10 loops as in the paper, or in more.
std::string slowdown_rhythm(const BenchReport& report) {
  int least = 0, most = 0;
  for (const BenchResult& result : report.results) {
    const auto& parameters = result.row.what.parameters;
    const auto every = parameters.find("slowdown_write_every");
    if (every == parameters.end()) return "";
    least = least == 0 ? every->get<int>() : std::min(least, every->get<int>());
    most = std::max(most, every->get<int>());
  }
  const std::string loops = least == most ? std::to_string(most) : fmt::format("{} to {}", least, most);
  return fmt::format(", with a write in {} loops", loops);
}

}  // namespace

void print_tables(const BenchReport& report) {
  for (const std::string& note : report.notes) fmt::print("{}\n", note);
  fmt::print(
      "\nSeconds of the slowest rank, wall time until the data is {}; median (quartiles) of {} interleaved "
      "rounds.\n\n",
      report.settings.storage == "disk" ? "on the disk, after every write"
                                        : "in the file (in the system's cache, not on the disk)",
      report.settings.repeats);
  print_times(report);
  print_slowdown(report);
  if (has(report, "visible_io_ratio")) {
    fmt::print("\nvisible I/O: send + wait, over the time of all I/O of the sequential run.\n");
    fmt::print("slowdown:    compute over the same without the library{}.\n", slowdown_rhythm(report));
    if (has(report, "compute_slowdown_floor"))
      fmt::print(
          "floor:       the same for a thread on the server's core that merely writes as much, and copies it "
          "before unless the arrays are Weir's.\n");
    if (has(report, "compute_slowdown_busy"))
      fmt::print("busy:        slowdown in the rhythm of all other columns, which leaves no pause.\n");
    fmt::print("wall ratio:  over the sequential run.\n");
    fmt::print("ideal:       the longer one of compute and I/O of the sequential run, over all of it.\n");
    if (has(report, "transport_vs_memcpy"))
      fmt::print("of memcpy:   transport beside the computation, over memcpy of one of its arrays.\n");
    if (has(report, "core_distance_ns"))
      fmt::print(
          "distance:    nanoseconds that a cache line takes between the program's core and the server's.\n");
  }
  for (const BenchResult& result : report.results) {
    if (!result.row.failure.empty())
      fmt::print("\n{}\n", styled(fmt::format("{} failed: {}", result.row.what.name(), result.row.failure),
                                  Style::red));
  }
}

}  // namespace weir::cli
