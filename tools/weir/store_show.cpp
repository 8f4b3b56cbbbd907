#include <fmt/format.h>

#include "core/json.hpp"
#include "core/options.hpp"
#include "store/store.hpp"
#include "store_work.hpp"
#include "telemetry/fluentd_file.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

std::string time_text(std::int64_t time) {
  if (time == 0) return "-";
  return telemetry::format_log_time(time).substr(0, 19) + "Z";
}

std::string length_text(const store::Job& job) {
  if (job.start_ns == 0 || job.end_ns == 0) return "-";
  const auto seconds = (job.end_ns - job.start_ns) / 1'000'000'000;
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

// Names come from outside; a terminal must not take them for commands.
std::string harmless(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  }
  return text;
}

}  // namespace

Status store_show(const StoreRequest& request) {
  WEIR_ASSIGN(store::Store store, store::Store::open(request.store, store::Access::read));
  WEIR_ASSIGN(const store::Summary summary, store.summary());
  WEIR_ASSIGN(const std::vector<store::CounterSummary> counters, store.counters());
  WEIR_ASSIGN(const auto topology, store.topology());
  if (request.json) {
    Json series = Json::object();
    for (const store::CounterSummary& counter : counters) series[counter.name] = counter.series;
    const Json json = {{"location", summary.location},
                       {"format", summary.format},
                       {"version", summary.version},
                       {"bytes", summary.bytes},
                       {"jobs", summary.jobs},
                       {"nodes", summary.nodes},
                       {"series", summary.series},
                       {"samples", summary.samples},
                       {"blocks", summary.blocks},
                       {"small_blocks", summary.small_blocks},
                       {"from_ns", summary.times.from},
                       {"to_ns", summary.times.to},
                       {"counters", series},
                       {"topology", topology ? to_json(*topology) : Json()}};
    fmt::print("{}\n", pretty(json));
    return {};
  }
  fmt::print("{}\n", styled(summary.location, Style::bold));
  fmt::print("  {} of version {}, {}\n", summary.format, summary.version, format_bytes(summary.bytes));
  fmt::print("  {} jobs, {} nodes{}\n", summary.jobs, summary.nodes,
             topology ? fmt::format(", topology {}", harmless(topology->name)) : "");
  fmt::print("  {} samples of {} series in {} blocks", summary.samples, summary.series, summary.blocks);
  if (summary.samples > 100'000)  // of fewer, the empty tables would tell more than the samples
    fmt::print(", {:.2f} bytes a sample",
               static_cast<double>(summary.bytes) / static_cast<double>(summary.samples));
  fmt::print("\n");
  if (summary.times.from != summary.times.to)
    fmt::print("  from {} to {}\n", time_text(summary.times.from), time_text(summary.times.to));
  if (counters.empty()) return {};
  Table table({"counter", "series"}, {Table::Align::left, Table::Align::right});
  for (const store::CounterSummary& counter : counters)
    table.add({harmless(counter.name), std::to_string(counter.series)});
  fmt::print("\n{}", table.text());
  return {};
}

Status store_jobs(const StoreRequest& request) {
  WEIR_ASSIGN(store::Store store, store::Store::open(request.store, store::Access::read));
  WEIR_ASSIGN(
      const std::vector<store::Job> jobs,
      store.jobs(
          {.user = request.user, .at_most = static_cast<std::size_t>(request.at_most), .with_nodes = false}));
  if (request.json) {
    Json list = Json::array();
    for (const store::Job& job : jobs) {
      Json figures = Json::object(), labels = Json::object();
      for (const auto& [name, value] : job.figures) figures[name] = value;
      for (const auto& [name, value] : job.labels) labels[name] = value;
      list.push_back({{"id", job.id},
                      {"user", job.user},
                      {"name", job.name},
                      {"state", to_string(job.state)},
                      {"submit_ns", job.submit_ns},
                      {"start_ns", job.start_ns},
                      {"end_ns", job.end_ns},
                      {"node_count", job.node_count},
                      {"shape", job.shape},
                      {"figures", figures},
                      {"labels", labels}});
    }
    fmt::print("{}\n", pretty(list));
    return {};
  }
  if (jobs.empty()) {
    fmt::print("there are no jobs\n");
    return {};
  }
  using enum Table::Align;
  Table table({"job", "user", "name", "state", "nodes", "start", "length"},
              {left, left, left, left, right, left, right});
  for (const store::Job& job : jobs)
    table.add({harmless(job.id), harmless(job.user), harmless(job.name), std::string(to_string(job.state)),
               std::to_string(job.node_count), time_text(job.start_ns), length_text(job)});
  fmt::print("{}", table.text());
  return {};
}

Status store_check(const StoreRequest& request) {
  WEIR_ASSIGN(store::Store store, store::Store::open(request.store, store::Access::read));
  WEIR_ASSIGN(const std::vector<std::string> problems, store.check());
  if (request.json) {
    fmt::print("{}\n", pretty(Json({{"problems", problems}})));
  } else {
    for (const std::string& problem : problems) fmt::print("{}\n", problem);
    if (problems.empty()) fmt::print("{}\n", styled("all is well", Style::green));
  }
  if (problems.empty()) return {};
  return fail(ErrorCode::corrupt, fmt::format("{}: {} things are wrong", request.store, problems.size()),
              "restore the store from a copy");
}

Status store_compact(const StoreRequest& request) {
  WEIR_ASSIGN(store::Store store, store::Store::open(request.store, store::Access::write));
  WEIR_ASSIGN(const store::Summary before, store.summary());
  WEIR_ASSIGN(const store::Store::Compacted compacted, store.compact());
  WEIR_ASSIGN(const store::Summary after, store.summary());
  if (request.json) {
    fmt::print("{}\n", pretty(Json({{"blocks_before", compacted.blocks_before},
                                    {"blocks_after", compacted.blocks_after},
                                    {"bytes_before", before.bytes},
                                    {"bytes_after", after.bytes}})));
  } else {
    fmt::print("{} blocks became {}; {} became {}\n", compacted.blocks_before, compacted.blocks_after,
               format_bytes(before.bytes), format_bytes(after.bytes));
  }
  return {};
}

}  // namespace weir::cli
