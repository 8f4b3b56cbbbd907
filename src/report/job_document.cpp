#include "report/job_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/quantity.hpp"

namespace weir::report {

namespace {

using analysis::is_known;
using analysis::JobAnalysis;
using analysis::JobHeader;
using analysis::Metric;

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

Tone tone_of_state(const std::string& state) {
  if (state == "completed") return Tone::good;
  if (state == "failed" || state == "timeout" || state == "lost") return Tone::bad;
  return state == "cancelled" ? Tone::caution : Tone::plain;
}

std::string line_of(const JobHeader& job) {
  std::vector<std::string> parts;
  if (!job.user.empty()) parts.push_back(job.user);
  if (job.nodes != 0)
    parts.push_back(counted(job.nodes, "node", "nodes") + (job.shape.empty() ? "" : " (" + job.shape + ")"));
  if (job.servers != 0) parts.push_back(counted(job.servers, "I/O node", "I/O nodes"));
  if (job.targets != 0) parts.push_back(counted(job.targets, "storage target", "storage targets"));
  if (job.start_ns != 0) parts.push_back(format_time(job.start_ns));
  if (job.elapsed_seconds > 0) parts.push_back(format_duration(job.elapsed_seconds));
  return fmt::format("{}", fmt::join(parts, " · "));
}

double figure(const JobHeader& job, const char* name) {
  const auto found = job.figures.find(name);
  return found == job.figures.end() ? analysis::unknown : found->second;
}

// What the program itself moved, where it is known; else what moved on its targets.
void add_bytes(JobPage& page, const JobHeader& job, const char* label, const char* own_name,
               double on_targets) {
  const double own = figure(job, own_name);
  if (!is_known(own) && !is_known(on_targets)) return;
  const double bytes = is_known(own) ? own : on_targets;
  std::string note;
  if (is_known(own) && is_known(on_targets)) {
    note = fmt::format("by the program; storage saw {}", format_quantity(on_targets, "B"));
  } else if (job.elapsed_seconds > 0 && bytes > 0) {
    note = format_quantity(bytes / job.elapsed_seconds, "B/s") + " on average";
  }
  page.facts.push_back({label, format_quantity(bytes, "B"), note});
}

void add_peak(JobPage& page, const JobAnalysis& job) {
  for (const auto& [id, label] :
       {std::pair{"write_throughput", "Peak write"}, {"read_throughput", "Peak read"}}) {
    for (const analysis::Timeline& timeline : job.timelines) {
      if (timeline.id != id) continue;
      double most = 0;
      std::size_t at = 0;
      for (std::size_t i = 0; i < timeline.values.size(); ++i) {
        if (timeline.values[i] > most) most = timeline.values[i], at = i;
      }
      if (most <= 0) continue;
      const double when = static_cast<double>(timeline.start_ns - job.job.start_ns +
                                              static_cast<std::int64_t>(at) * timeline.step_ns) *
                          1e-9;
      page.facts.push_back(
          {label, format_quantity(most, "B/s"), when >= 0 ? format_duration(when) + " after the start" : ""});
    }
  }
}

std::string metric_value(const Metric& metric, double value) {
  const std::string_view id = metric.kind.id;
  if (id == "R_BW" || id == "link_wait" || id == "device_busy") return format_share(value);
  return format_quantity(value, metric.kind.unit) + (id == "OST_imbalance" && is_known(value) ? "×" : "");
}

// The few metrics that say at a glance how the servers, links and devices were.
void add_metrics(JobPage& page, const JobAnalysis& job) {
  static constexpr std::pair<const char*, const char*> shown[] = {{"req_qdepth", "Queue depth"},
                                                                  {"req_waittime", "Wait of requests"},
                                                                  {"req_active", "Busy threads"},
                                                                  {"R_BW", "Use of links"},
                                                                  {"T_wait_max", "Longest wait of links"},
                                                                  {"device_qdepth", "Queue depth"},
                                                                  {"device_waittime", "Time of a request"},
                                                                  {"device_busy", "Devices busy"},
                                                                  {"cpu_busy", "Cores in use"}};
  for (const auto& [id, label] : shown) {
    const Metric* metric = job.find(id);
    if (metric == nullptr || !is_known(metric->value)) continue;
    std::string note = metric->part.empty() ? "" : "mean of each " + metric->part;
    if (metric->over_parts.count > 1 && is_known(metric->over_parts.most))
      note = fmt::format("worst {} {}", metric->part, metric_value(*metric, metric->over_parts.most));
    page.facts.push_back({label, metric_value(*metric, metric->value), note});
  }
}

void add_balance(JobPage& page, const JobAnalysis& job) {
  const Metric* metric = job.find("OST_mean");
  if (metric == nullptr) metric = job.find("device_throughput");
  if (metric == nullptr || metric->over_parts.count < 2 || !is_known(metric->over_parts.gini)) return;
  const analysis::Distribution& spread = metric->over_parts;
  const Tone tone = spread.gini > 0.35 ? Tone::bad : spread.gini > 0.15 ? Tone::caution : Tone::good;
  page.facts.push_back({"Balance", fmt::format("{:.2f}", 1 - spread.gini),
                        fmt::format("1 is even; the busiest {} has {:.1f} times the mean", metric->part,
                                    spread.most_over_mean),
                        tone});
}

void add_shares(JobPage& page, const JobAnalysis& job) {
  if (is_known(job.job.own_share))
    page.facts.push_back({"Own traffic", format_share(job.job.own_share), "of the bytes on its targets",
                          job.job.own_share < 0.5 ? Tone::caution : Tone::plain});
  if (is_known(job.job.coverage_factor))
    page.facts.push_back({"Coverage", format_share(job.job.coverage_factor), "of the file system's bytes"});
}

void add_data(JobPage& page, const analysis::Completeness& data) {
  if (data.samples == 0) {
    page.facts.push_back({"Data", "none", "no counters were sampled meanwhile", Tone::bad});
    return;
  }
  std::vector<std::string> notes;
  if (is_known(data.interval_seconds)) notes.push_back("every " + format_duration(data.interval_seconds));
  for (const auto& [count, one, many] : {std::tuple{data.resets, "reset", "resets"},
                                         {data.gaps, "gap", "gaps"},
                                         {data.clock_steps, "clock step", "clock steps"},
                                         {data.silent_count, "silent server", "silent servers"}}) {
    if (count != 0) notes.push_back(counted(count, one, many));
  }
  const bool whole = !is_known(data.covered) || data.covered > 0.98;
  page.facts.push_back({"Data", is_known(data.covered) ? format_share(std::min(1.0, data.covered)) : "some",
                        fmt::format("{}", fmt::join(notes, ", ")),
                        whole                ? Tone::good
                        : data.covered > 0.8 ? Tone::caution
                                             : Tone::bad});
}

void add_facts(JobPage& page, const JobAnalysis& job) {
  if (job.job.elapsed_seconds > 0)
    page.facts.push_back({"Elapsed", format_duration(job.job.elapsed_seconds)});
  add_bytes(page, job.job, "Written", "bytes_written", job.job.write_bytes);
  add_bytes(page, job.job, "Read", "bytes_read", job.job.read_bytes);
  add_peak(page, job);
  if (const double io = figure(job.job, "io_seconds"); is_known(io)) {
    std::string note = job.job.elapsed_seconds > 0
                           ? format_share(io / job.job.elapsed_seconds) + " of the run, as the program saw it"
                           : "as the program saw it";
    if (const double hidden = figure(job.job, "hidden_share"); is_known(hidden) && hidden > 0)
      note += fmt::format("; {} of the writing was hidden", format_share(hidden));
    page.facts.push_back({"I/O time", format_duration(io), std::move(note)});
  }
  add_metrics(page, job);
  add_balance(page, job);
  add_shares(page, job);
  add_data(page, job.completeness);
}

// The end of a figure's name says its unit: "longest_wait_seconds".
std::string evidence_text(std::string_view name, double value) {
  std::string amount;
  if (name.ends_with("_seconds")) {
    name.remove_suffix(std::string_view("_seconds").size());
    amount = format_quantity(value, "s");
  } else if (name.ends_with("_rate")) {
    amount = format_quantity(value, "B/s");
  } else if (name.ends_with("bytes")) {
    amount = format_quantity(value, "B");
  } else if (name.ends_with("_share")) {
    amount = format_share(value);
  } else {
    amount = format_quantity(value, "1");
  }
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text + " " + amount;
}

Finding finding_of(const analysis::Insight& insight) {
  std::vector<std::string> evidence;
  for (const auto& [name, value] : insight.evidence) {
    if (is_known(value)) evidence.push_back(evidence_text(name, value));
  }
  std::string text = fmt::format("{}", fmt::join(evidence, ", "));
  if (!insight.objects.empty()) {
    constexpr std::size_t most = 6;
    const std::size_t shown = std::min(insight.objects.size(), most);
    text += fmt::format("{}{}{}", text.empty() ? "" : "; ",
                        fmt::join(insight.objects.begin(),
                                  insight.objects.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                        insight.objects.size() > shown ? ", ..." : "");
  }
  return {.tone = insight.severity == analysis::Severity::critical  ? Tone::bad
                  : insight.severity == analysis::Severity::warning ? Tone::caution
                                                                    : Tone::plain,
          .code = insight.code,
          .text = insight.sentence,
          .evidence = text,
          .advice = insight.advice};
}

Grid metrics_table(const JobAnalysis& job) {
  Grid grid{.title = "Metrics",
            .note = "One number a metric, then how it is spread over the parts of the system",
            .columns = {"metric", "value", "of", "median", "p95", "most", "Gini", "goes with throughput"},
            .numbers = {false, true, false, true, true, true, true, true}};
  for (const Metric& metric : job.metrics) {
    if (!is_known(metric.value)) continue;
    const analysis::Distribution& parts = metric.over_parts;
    const auto part = [&](double value) {
      return is_known(value) ? metric_value(metric, value) : std::string("-");
    };
    const auto plain = [](double value) {
      return is_known(value) ? fmt::format("{:.2f}", value) : std::string("-");
    };
    grid.rows.push_back(
        {std::string(metric.kind.id), metric_value(metric, metric.value),
         parts.count > 0 ? counted(parts.count, metric.part.c_str(), (metric.part + "s").c_str()) : "",
         part(parts.median), part(parts.p95), part(parts.most), plain(parts.gini),
         plain(metric.correlation)});
  }
  return grid;
}

Grid neighbours_table(const JobAnalysis& job) {
  Grid grid{.title = "Other jobs on the same servers",
            .note = "Share: of all bytes that moved there meanwhile",
            .columns = {"job", "name", "user", "servers", "together", "share"},
            .numbers = {false, false, false, true, true, true}};
  for (const analysis::Neighbour& other : job.neighbours)
    grid.rows.push_back({other.job_id, other.name, other.user, std::to_string(other.shared_servers),
                         format_duration(other.overlap_seconds), format_share(other.share)});
  return grid;
}

Grid notes_table(const JobAnalysis& job) {
  Grid grid{.title = "What could not be told", .columns = {""}, .numbers = {false}};
  for (const std::string& note : job.notes) grid.rows.push_back({note});
  return grid;
}

void add_figures(JobPage& page, const JobAnalysis& job) {
  const JobHeader& header = job.job;
  page.figures = {{"elapsed", header.elapsed_seconds, "s"},
                  {"nodes", static_cast<double>(header.nodes), ""},
                  {"servers", static_cast<double>(header.servers), ""},
                  {"targets", static_cast<double>(header.targets), ""},
                  {"target_read_bytes", header.read_bytes, "B"},
                  {"target_write_bytes", header.write_bytes, "B"},
                  {"own_bytes", header.own_bytes, "B"},
                  {"own_share", header.own_share, "1"},
                  {"coverage_factor", header.coverage_factor, "1"},
                  {"data_covered", job.completeness.covered, "1"},
                  {"samples", static_cast<double>(job.completeness.samples), ""},
                  {"resets", static_cast<double>(job.completeness.resets), ""},
                  {"gaps", static_cast<double>(job.completeness.gaps), ""}};
  for (const auto& [name, value] : header.figures) page.figures.push_back({name, value, ""});
  for (const Metric& metric : job.metrics) {
    const std::string id(metric.kind.id);
    const std::string unit(metric.kind.unit);
    page.figures.push_back({id, metric.value, unit});
    page.figures.push_back({id + ".gini", metric.over_parts.gini, "1"});
    page.figures.push_back({id + ".variation", metric.over_parts.variation, "1"});
    page.figures.push_back({id + ".least_over_mean", metric.over_parts.least_over_mean, "1"});
    page.figures.push_back({id + ".most_over_mean", metric.over_parts.most_over_mean, "1"});
    page.figures.push_back({id + ".p95", metric.over_parts.p95, unit});
    page.figures.push_back({id + ".correlation", metric.correlation, "1"});
  }
}

}  // namespace

JobPage job_page(const JobAnalysis& job, const Largest& of_all) {
  JobPage page{.id = job.job.id,
               .name = job.job.name.empty() ? job.job.command : job.job.name,
               .state = job.job.state,
               .tone = tone_of_state(job.job.state),
               .configuration = job.job.configuration,
               .line = line_of(job.job),
               .start_ms = job.job.start_ns / 1000000};
  add_facts(page, job);
  for (const analysis::Insight& insight : job.insights) page.findings.push_back(finding_of(insight));
  page.timelines = timeline_charts(job, of_all);
  page.heat_maps = heat_maps(job, of_all);
  page.charts = balance_charts(job, of_all);
  if (Grid grid = metrics_table(job); !grid.rows.empty()) page.tables.push_back(std::move(grid));
  if (Grid grid = neighbours_table(job); !grid.rows.empty()) page.tables.push_back(std::move(grid));
  if (Grid grid = notes_table(job); !grid.rows.empty()) page.tables.push_back(std::move(grid));
  add_figures(page, job);
  return page;
}

Document job_document(const JobAnalysis& job) {
  Document document{.jobs = {job_page(job)}};
  document.title = fmt::format("Job {}: {}", document.jobs[0].id, document.jobs[0].name);
  return document;
}

Document job_document(const analysis::Comparison& comparison) {
  std::vector<std::string> names;
  for (const std::string& name : comparison.configurations) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  constexpr std::size_t most_named = 3;
  const std::string title = names.size() > 1 && names.size() <= most_named
                                ? fmt::format("{}", fmt::join(names, " vs "))
                                : fmt::format("{} runs compared", comparison.jobs.size());
  Document document{.title = title};
  const Largest of_all = largest_values(comparison.jobs);
  for (const JobAnalysis& job : comparison.jobs) document.jobs.push_back(job_page(job, of_all));
  document.comparison = comparison_page(comparison);
  return document;
}

}  // namespace weir::report
