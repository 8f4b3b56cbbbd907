#include "report/job_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/quantity.hpp"

namespace weir::report {

namespace {

using analysis::JobAnalysis;
using analysis::Matrix;
using analysis::Timeline;

std::string label_with_unit(const std::string& words, const std::string& unit) {
  return unit.empty() ? words : fmt::format("{} ({})", words, unit);
}

std::string lower_first(std::string text) {
  // "OST" and "I/O" stay as they are.
  if (text.size() > 1 && std::isupper(static_cast<unsigned char>(text[1])) == 0 && text[1] != '/')
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string upper_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// "write_throughput" is the writes of "throughput".
struct Kinship {
  std::string family;
  std::string member;  // "write", "read", or empty
};
Kinship kinship(const std::string& id) {
  for (const char* member : {"write", "read"}) {
    const std::string prefix = std::string(member) + "_";
    if (id.starts_with(prefix)) return {id.substr(prefix.size()), member};
  }
  return {id, ""};
}

bool same_times(const Timeline& a, const Timeline& b) {
  return a.unit == b.unit && a.start_ns == b.start_ns && a.step_ns == b.step_ns &&
         a.values.size() == b.values.size();
}

double largest_in(const Largest& of_all, const std::string& id, double own) {
  const auto found = of_all.find(id);
  return found == of_all.end() ? own : std::max(own, found->second);
}

Chart chart_of(const std::vector<const Timeline*>& members, std::int64_t start_ns, const Largest& of_all) {
  const Timeline& first = *members.front();
  double largest = 0;
  for (const Timeline* timeline : members)
    largest = std::max(largest, largest_in(of_all, timeline->id, largest_of(timeline->values)));
  const bool share = first.unit == "1";
  const Unit unit = share ? Unit{"%", 100} : readable_unit(first.unit, largest);
  std::string title = first.title;
  if (members.size() > 1) {
    const std::size_t blank = title.find(' ');
    if (blank != std::string::npos) title = upper_first(title.substr(blank + 1));
  }
  Chart chart{.title = title,
              .kind = Kind::lines,
              .x_label = "time since the start (s)",
              .y_label = label_with_unit(lower_first(title), unit.name),
              .x_scale = Scale::linear,
              .height = 360};
  for (std::size_t i = 0; i < first.values.size(); ++i)
    chart.x.push_back(
        static_cast<double>(first.start_ns - start_ns + static_cast<std::int64_t>(i) * first.step_ns) * 1e-9);
  for (const Timeline* timeline : members) {
    const Kinship kin = kinship(timeline->id);
    Series series{.name = members.size() > 1 ? kin.member : lower_first(timeline->title),
                  .values = timeline->values};
    scale(series.values, unit.factor);
    chart.series.push_back(std::move(series));
  }
  return chart;
}

bool is_over_time(const Matrix& matrix) {
  return matrix.id.ends_with("_time");
}
bool is_in_space(const Matrix& matrix) {
  return matrix.id.ends_with("_position");
}

}  // namespace

Largest largest_values(const std::vector<JobAnalysis>& jobs) {
  Largest largest;
  for (const JobAnalysis& job : jobs) {
    for (const Timeline& timeline : job.timelines)
      largest[timeline.id] = std::max(largest[timeline.id], largest_of(timeline.values));
    for (const Matrix& matrix : job.matrices)
      largest[matrix.id] = std::max({largest[matrix.id], largest_of(matrix.values), matrix.scale_high});
  }
  return largest;
}

std::vector<Chart> timeline_charts(const JobAnalysis& job, const Largest& of_all) {
  std::vector<Chart> charts;
  std::vector<bool> done(job.timelines.size(), false);
  for (std::size_t i = 0; i < job.timelines.size(); ++i) {
    if (done[i] || job.timelines[i].values.empty() || job.timelines[i].step_ns <= 0) continue;
    std::vector<const Timeline*> members = {&job.timelines[i]};
    const Kinship kin = kinship(job.timelines[i].id);
    for (std::size_t j = i + 1; j < job.timelines.size() && !kin.member.empty(); ++j) {
      const Kinship other = kinship(job.timelines[j].id);
      if (other.member.empty() || other.family != kin.family ||
          !same_times(job.timelines[i], job.timelines[j]))
        continue;
      members.push_back(&job.timelines[j]);
      done[j] = true;
    }
    const bool still = std::all_of(members.begin(), members.end(), [](const Timeline* timeline) {
      return largest_of(timeline->values) == 0;
    });
    if (still) continue;  // an idle interface is no news
    Chart chart = chart_of(members, job.job.start_ns, of_all);
    if (check(chart)) charts.push_back(std::move(chart));  // one without any value is no chart
  }
  return charts;
}

std::vector<HeatMap> heat_maps(const JobAnalysis& job, const Largest& of_all) {
  std::vector<HeatMap> maps;
  for (const Matrix& matrix : job.matrices) {
    const Unit unit =
        matrix.unit == "1"
            ? Unit{"%", 100}
            : readable_unit(matrix.unit, largest_in(of_all, matrix.id,
                                                    std::max(matrix.scale_high, largest_of(matrix.values))));
    HeatMap map{.title = matrix.title,
                .x_label = matrix.column_title,
                .y_label = matrix.row_title,
                .value_label = unit.name,
                .columns = matrix.columns,
                .rows = matrix.rows,
                .values = matrix.values,
                .cells = matrix.cells,
                .low = matrix.scale_low * unit.factor,
                .high = matrix.scale_high > matrix.scale_low ? matrix.scale_high * unit.factor : NAN,
                .upward = is_in_space(matrix)};
    map.height = std::clamp(180.0 + 22.0 * static_cast<double>(matrix.rows.size()), 260.0, 900.0);
    scale(map.values, unit.factor);
    const bool any =
        std::any_of(map.values.begin(), map.values.end(), [](double value) { return !std::isnan(value); });
    if (any && check(map)) maps.push_back(std::move(map));
  }
  return maps;
}

std::vector<Chart> balance_charts(const JobAnalysis& job, const Largest& of_all) {
  constexpr std::size_t most = 48;
  std::vector<Chart> charts;
  for (const Matrix& matrix : job.matrices) {
    const std::size_t columns = matrix.columns.size();
    if (!is_over_time(matrix) || matrix.rows.size() < 2 || columns == 0) continue;
    std::vector<double> means(matrix.rows.size(), NAN);
    for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
      double sum = 0;
      std::size_t known = 0;
      for (std::size_t column = 0; column < columns; ++column) {
        const double value = matrix.values[row * columns + column];
        if (!std::isnan(value)) sum += value, ++known;
      }
      if (known != 0) means[row] = sum / static_cast<double>(known);
    }
    std::vector<std::size_t> order(means.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t row) { return std::isnan(means[row]); });
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return means[a] > means[b]; });
    if (order.size() < 2) continue;
    double sum = 0;
    for (const std::size_t row : order) sum += means[row];
    const double mean = sum / static_cast<double>(order.size());
    const std::size_t all = order.size();
    if (all > most) order.erase(order.begin() + most / 2, order.end() - most / 2);

    const Unit unit = matrix.unit == "1"
                          ? Unit{"%", 100}
                          : readable_unit(matrix.unit, largest_in(of_all, matrix.id, means[order.front()]));
    Chart chart{.title = all > most ? fmt::format("{}: the {} busiest and the {} least busy of {}",
                                                  matrix.title, most / 2, most / 2, all)
                                    : matrix.title + ": mean over the run",
                .x_label = matrix.row_title,
                .y_label = label_with_unit("mean", unit.name),
                .series = {{.name = "mean over the run"}},
                .references = {{mean * unit.factor, "mean of all"}},
                .numbers = false};
    for (const std::size_t row : order) {
      chart.categories.push_back(matrix.rows[row]);
      chart.series[0].values.push_back(means[row] * unit.factor);
    }
    if (check(chart)) charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace weir::report
