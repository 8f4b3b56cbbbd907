#include "analysis/analyse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/figures.hpp"
#include "analysis/insights.hpp"
#include "analysis/neighbours.hpp"
#include "analysis/observations.hpp"

namespace weir::analysis {

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::string shape_of(const store::Job& job) {
  std::string text;
  for (const std::uint64_t extent : job.shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

Result<TimeWindow> window_of(store::Store& store, const store::Job& job, std::vector<std::string>& notes) {
  if (job.start_ns <= 0) {
    return fail(ErrorCode::invalid_argument, fmt::format("job {} has no start time", job.id),
                "import the job again with its times");
  }
  TimeWindow window{.from = job.start_ns, .to = job.end_ns};
  if (job.end_ns <= 0) {
    WEIR_ASSIGN(const store::TimeRange times, store.times());
    window.to = times.to;
    notes.emplace_back("The job has not ended, or nobody said so: figures run to the last sample.");
  }
  // A job of no time at all still has a second to look at.
  if (window.to <= window.from) window.to = window.from + second;
  return window;
}

JobHeader header_of(const store::Job& job, const TimeWindow& window, const Serving& serving) {
  JobHeader header;
  header.id = job.id;
  header.user = job.user;
  header.name = job.name;
  header.state = to_string(job.state);
  if (const auto command = job.labels.find("command"); command != job.labels.end())
    header.command = command->second;
  if (const auto tried = job.labels.find("configuration"); tried != job.labels.end())
    header.configuration = tried->second;
  header.submit_ns = job.submit_ns;
  header.start_ns = window.from;
  header.end_ns = window.to;
  header.elapsed_seconds = window.seconds();
  header.nodes = std::max<std::uint64_t>(job.node_count, job.nodes.size());
  header.shape = shape_of(job);
  header.servers = serving.servers.size();
  header.targets = serving.targets.size();
  header.rule = serving.rule;
  header.figures = job.figures;
  return header;
}

Status observe(store::Store& store, Observations& seen, const TimeWindow& window, std::int64_t margin) {
  WEIR_ASSIGN(const std::vector<store::CounterSummary> counters, store.counters());
  std::set<std::string> present;
  for (const store::CounterSummary& counter : counters) present.insert(counter.name);
  for (const Observations::Wish& wish : Observations::wishes()) {
    store::SeriesQuery query{.from = window.from, .to = window.to, .margin = margin};
    for (const std::string& counter : wish.counters) {
      if (present.contains(counter)) query.counters.push_back(counter);
    }
    if (query.counters.empty()) continue;
    if (!wish.everywhere) {
      if (seen.nodes().empty()) continue;
      query.nodes = seen.nodes();
    }
    WEIR_TRY(store.read(query, [&](const telemetry::Series& series) -> Status {
      seen.take(series);
      return {};
    }));
  }
  return {};
}

void add_bytes(JobHeader& header, const Observations& seen) {
  const Traffic traffic = traffic_of(seen);
  const bool devices = traffic.part == "device";
  const auto amount = [&](const CounterParts* counter) {
    if (counter == nullptr) return unknown;
    const bool any_real = std::any_of(counter->parts.begin(), counter->parts.end(),
                                      [](const Part& part) { return !is_stacked_device(part.component); });
    double sum = 0;
    for (const Part& part : counter->parts) {
      if (!(devices && any_real && is_stacked_device(part.component))) sum += part.amount;
    }
    return sum;
  };
  header.read_bytes = amount(traffic.read);
  header.write_bytes = amount(traffic.write);
  if (devices || (traffic.read == nullptr && traffic.write == nullptr)) {
    std::set<std::string> devices_seen;
    for (const CounterParts* counter : {traffic.read, traffic.write}) {
      if (counter == nullptr) continue;
      for (const Part& part : counter->parts) devices_seen.insert(part.node + '\n' + part.component);
    }
    header.targets = devices_seen.size();
    return;
  }
  header.file_system_bytes = (is_known(header.read_bytes) ? header.read_bytes : 0) +
                             (is_known(header.write_bytes) ? header.write_bytes : 0);
  for (const CounterParts* counter : {traffic.read, traffic.write}) {
    if (counter != nullptr) header.file_system_bytes += counter->elsewhere;
  }
  // Without a node table the targets are those that were heard of.
  std::set<std::string> names;
  for (const CounterParts* counter : {traffic.read, traffic.write}) {
    if (counter == nullptr) continue;
    for (const Part& part : counter->parts) names.insert(part.component);
  }
  header.targets = std::max<std::uint64_t>(header.targets, names.size());
}

void add_completeness(JobAnalysis& analysis, const Observations& seen, const Serving& serving) {
  analysis.completeness = seen.completeness();
  for (const store::Node& server : serving.servers) {
    if (seen.heard(server.name)) continue;
    // Gateways have no counters of their own at most sites; servers of targets should.
    if (!serving.own_nodes && server.targets.empty()) continue;
    ++analysis.completeness.silent_count;
    if (analysis.completeness.silent.size() < most_objects)
      analysis.completeness.silent.push_back(server.name);
  }
  std::set<std::string> links;
  for (const std::string_view name : {"link.bytes", "link.wait_cycles", "ib.tx_bytes", "cxi.tx_bytes"}) {
    if (const CounterParts* counter = seen.find(name)) {
      for (const Part& part : counter->parts) links.insert(part.node + '\n' + part.component);
    }
  }
  analysis.job.links = links.size();
}

}  // namespace

Result<ServerFinder> read_servers(store::Store& store) {
  WEIR_ASSIGN(std::optional<store::Topology> topology, store.topology());
  // Compute nodes matter only where the rule asks for their places.
  const bool all = topology && topology->serving_rule != "all";
  store::NodeQuery query;
  if (!all) query.roles = {store::NodeRole::boot_io, store::NodeRole::global_io, store::NodeRole::local_io};
  WEIR_ASSIGN(std::vector<store::Node> nodes, store.nodes(query));
  return ServerFinder(std::move(nodes), std::move(topology));
}

Result<JobAnalysis> analyse(store::Store& store, const std::string& job_id, const AnalyseOptions& options) {
  WEIR_ASSIGN(const ServerFinder finder, read_servers(store));
  return analyse(store, finder, job_id, options);
}

Result<JobAnalysis> analyse(store::Store& store, const ServerFinder& finder, const std::string& job_id,
                            const AnalyseOptions& options) {
  WEIR_ASSIGN(const store::Job job, store.job(job_id));
  JobAnalysis analysis;
  WEIR_ASSIGN(const TimeWindow window, window_of(store, job, analysis.notes));
  const Serving serving = finder.serving(job);
  analysis.notes.insert(analysis.notes.end(), serving.notes.begin(), serving.notes.end());
  Machine machine = machine_of(finder.topology());
  if (options.target_scale > 0) machine.target_scale = options.target_scale;

  Observations seen(window, serving, serving.own_nodes ? job.nodes : std::vector<std::string>{},
                    options.thresholds.gap_periods);
  WEIR_TRY(observe(store, seen, window, static_cast<std::int64_t>(options.margin_seconds * 1e9)));

  analysis.job = header_of(job, window, serving);
  add_bytes(analysis.job, seen);
  add_completeness(analysis, seen, serving);
  add_own_traffic(analysis.job, job, seen);
  WEIR_ASSIGN(const std::vector<store::Job> others,
              store.jobs({.window = {.from = window.from, .to = window.to}}));
  analysis.neighbours = find_neighbours(analysis.job, job, others, finder, seen);
  analysis.timelines = make_timelines(seen, machine);
  analysis.metrics = make_metrics(seen, machine, analysis.timelines);
  analysis.matrices = make_matrices(seen, serving, machine);
  if (seen.find("link.wait_cycles") != nullptr && !(machine.clock_hz > 0)) {
    analysis.notes.emplace_back(
        "Waits of links are counted in cycles, and the topology does not say the clock: T_wait_max is not "
        "known.");
  }
  if (seen.find("link.bytes") != nullptr && !(machine.link_bytes_per_second > 0)) {
    analysis.notes.emplace_back("The topology does not say the bandwidth of a link: R_BW is not known.");
  }
  analysis.insights = find_insights({.job = analysis,
                                     .seen = seen,
                                     .serving = serving,
                                     .machine = machine,
                                     .thresholds = options.thresholds});
  return analysis;
}

}  // namespace weir::analysis
