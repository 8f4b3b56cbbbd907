// Heat maps of a job: targets at their places, targets over time, links of I/O nodes.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/figures.hpp"

namespace weir::analysis {

namespace {

constexpr std::size_t most_rows = 512;

double highest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) {
    if (is_known(value)) most = std::max(most, value);
  }
  return most;
}

std::unordered_map<std::string, const Part*> by_component(const CounterParts& counter) {
  std::unordered_map<std::string, const Part*> found;
  for (const Part& part : counter.parts) found.emplace(part.component, &part);
  return found;
}

Matrix at_places(std::string id, std::string title, const CounterParts& counter, const TargetGrid& grid,
                 double scale) {
  Matrix matrix{.id = std::move(id),
                .title = std::move(title),
                .unit = "B/s",
                .row_title = "Position 2",
                .column_title = "Position 1",
                .rows = grid.rows,
                .columns = grid.columns,
                .values = {},
                .cells = grid.targets};
  const auto parts = by_component(counter);
  for (const std::string& target : grid.targets) {
    const auto found = target.empty() ? parts.end() : parts.find(target);
    matrix.values.push_back(found == parts.end() ? unknown : found->second->rate());
  }
  matrix.scale_high = scale > 0 ? scale : round_up(highest(matrix.values));
  return matrix;
}

// As fine as the step between two of them, so that no two are the same.
std::string clock_label(telemetry::Nanoseconds since_start, telemetry::Nanoseconds step) {
  constexpr telemetry::Nanoseconds second = 1'000'000'000;
  if (step < second)
    return fmt::format("{:.{}f} s", static_cast<double>(since_start) * 1e-9, step < second / 10 ? 2 : 1);
  const auto seconds = since_start / second;
  if (seconds >= 3600) return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

Matrix over_time(std::string id, std::string title, const CounterParts& counter,
                 const std::string& part_title, double scale) {
  Matrix matrix{.id = std::move(id),
                .title = std::move(title),
                .unit = "B/s",
                .row_title = part_title,
                .column_title = "Time since start",
                .rows = {},
                .columns = {},
                .values = {},
                .cells = {}};
  std::vector<const Part*> parts;
  for (const Part& part : counter.parts) parts.push_back(&part);
  std::sort(parts.begin(), parts.end(), [](const Part* a, const Part* b) {
    return std::tie(a->component, a->node) < std::tie(b->component, b->node);
  });
  // More rows than anybody can see become means of neighbours.
  const std::size_t group = (parts.size() + most_rows - 1) / most_rows;
  for (std::size_t first = 0; first < parts.size(); first += group) {
    const std::size_t end = std::min(parts.size(), first + group);
    const Bins shape = parts[first]->over_time.folded(counter.period);
    if (matrix.columns.empty()) {
      for (std::size_t i = 0; i < shape.size(); ++i) {
        matrix.columns.push_back(
            clock_label(static_cast<telemetry::Nanoseconds>(i) * shape.step(), shape.step()));
      }
    }
    std::vector<double> sums(shape.size(), 0.0);
    std::vector<std::size_t> counts(shape.size(), 0);
    for (std::size_t i = first; i < end; ++i) {
      const std::vector<double> rates = parts[i]->over_time.folded(counter.period).mean_rates();
      for (std::size_t bin = 0; bin < rates.size(); ++bin) {
        if (!is_known(rates[bin])) continue;
        sums[bin] += rates[bin];
        ++counts[bin];
      }
    }
    for (std::size_t bin = 0; bin < sums.size(); ++bin) {
      matrix.values.push_back(counts[bin] == 0 ? unknown : sums[bin] / static_cast<double>(counts[bin]));
    }
    const std::string& name = parts[first]->component;
    matrix.rows.push_back(end - first == 1 ? name : fmt::format("{} to {}", name, parts[end - 1]->component));
  }
  matrix.scale_high = scale > 0 ? scale : round_up(highest(matrix.values));
  return matrix;
}

// Links as rows, I/O nodes as columns.
Matrix of_links(std::string id, std::string title, std::string unit, const CounterParts& counter,
                const Serving& serving, const Machine& machine, double (*value)(const Part&), double factor,
                double scale) {
  Matrix matrix{.id = std::move(id),
                .title = std::move(title),
                .unit = std::move(unit),
                .row_title = "Link",
                .column_title = "I/O node",
                .rows = machine.links,
                .columns = {},
                .values = {},
                .cells = {}};
  std::unordered_map<std::string, std::size_t> rows;
  for (const std::string& link : matrix.rows) rows.emplace(link, rows.size());
  for (const Part& part : counter.parts) {
    if (rows.emplace(part.component, rows.size()).second) matrix.rows.push_back(part.component);
  }
  std::unordered_map<std::string, std::size_t> columns;
  std::vector<bool> present(serving.servers.size(), false);
  std::unordered_map<std::string, std::size_t> servers;
  for (std::size_t i = 0; i < serving.servers.size(); ++i) servers.emplace(serving.servers[i].name, i);
  for (const Part& part : counter.parts) {
    if (const auto found = servers.find(part.node); found != servers.end()) present[found->second] = true;
  }
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (!present[i]) continue;
    columns.emplace(serving.servers[i].name, matrix.columns.size());
    matrix.columns.push_back(serving.servers[i].name);
  }
  matrix.values.assign(matrix.rows.size() * matrix.columns.size(), unknown);
  for (const Part& part : counter.parts) {
    const auto column = columns.find(part.node);
    if (column == columns.end() || !(part.seconds > 0)) continue;
    matrix.values[rows.at(part.component) * matrix.columns.size() + column->second] = value(part) * factor;
  }
  matrix.scale_high = scale > 0 ? scale : round_up(highest(matrix.values));
  return matrix;
}

}  // namespace

std::vector<Matrix> make_matrices(const Observations& seen, const Serving& serving, const Machine& machine) {
  std::vector<Matrix> made;
  const Traffic traffic = traffic_of(seen);
  const bool osts = traffic.part == "OST";
  const std::string parts = osts ? "OST" : "Device";
  const TargetGrid grid = osts ? target_grid(serving) : TargetGrid{};
  struct Way {
    const CounterParts* counter;
    const char* id;
    const char* title;
  };
  for (const Way& way : {Way{traffic.write, "write", "Write"}, Way{traffic.read, "read", "Read"}}) {
    if (way.counter == nullptr) continue;
    if (!grid.targets.empty()) {
      made.push_back(at_places(fmt::format("ost_{}_position", way.id),
                               fmt::format("{} throughput of each OST at its place", way.title), *way.counter,
                               grid, machine.target_scale));
    }
    made.push_back(
        over_time(fmt::format("{}_{}_time", osts ? "ost" : "device", way.id),
                  fmt::format("{} throughput of each {} over time", way.title, osts ? "OST" : "device"),
                  *way.counter, parts, osts ? machine.target_scale : 0));
  }
  // Reads and writes of one kind of picture share a scale.
  for (Matrix& one : made) {
    for (const Matrix& other : made) {
      if (one.column_title == other.column_title) one.scale_high = std::max(one.scale_high, other.scale_high);
    }
  }
  if (const CounterParts* waits = seen.find("link.wait_cycles"); waits != nullptr && machine.clock_hz > 0) {
    made.push_back(of_links(
        "link_wait", "Longest wait on each link of each I/O node", "s", *waits, serving, machine,
        [](const Part& part) { return part.peak_amount; }, 1.0 / machine.clock_hz, 0));
  }
  for (const std::string_view counter : {"link.bytes", "ib.tx_bytes", "cxi.tx_bytes"}) {
    const CounterParts* bytes = seen.find(counter);
    if (bytes == nullptr) continue;
    if (machine.link_bytes_per_second > 0) {
      made.push_back(of_links(
          "link_use", "Use of each link of each I/O node", "1", *bytes, serving, machine,
          [](const Part& part) { return part.rate(); }, 1.0 / machine.link_bytes_per_second, 1.0));
    }
    break;
  }
  return made;
}

}  // namespace weir::analysis
