#include "ingest.hpp"

#include <fmt/format.h>

#include <fstream>

#include "core/file.hpp"
#include "ingest_parts.hpp"
#include "store/imports.hpp"
#include "store/synthetic_k.hpp"
#include "store/tokio.hpp"
#include "telemetry/fluentd_file.hpp"
#include "telemetry/prometheus.hpp"
#include "telemetry/source.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

constexpr std::uint64_t most_problems_printed = 20;

Result<std::ifstream> open_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail_errno(errno != 0 ? errno : EIO, "open", path);
  if (file.peek(); file.bad()) return fail_errno(errno != 0 ? errno : EISDIR, "read", path);
  return file;
}

// A line that is wrong is passed over; a file of nothing else is most likely not what the user takes it for.
Status some_taken(std::uint64_t taken, std::uint64_t rejected, const std::string& path, const char* what) {
  if (taken > 0 || rejected == 0) return {};
  return fail(ErrorCode::corrupt,
              fmt::format("{}: nothing in it could be taken in, {} lines are wrong", path, rejected),
              fmt::format("does it hold {}?", what));
}

}  // namespace

void IngestLog::problem(const std::string& text) {
  ++problems_;
  if (quiet_) return;
  if (problems_ <= most_problems_printed) fmt::print(stderr, "weir: {}\n", text);
  if (problems_ == most_problems_printed) fmt::print(stderr, "weir: further ones are only counted\n");
}

void IngestLog::count(const telemetry::Tally& tally) {
  count("records", tally.records);
  count("samples", tally.samples);
  count("ignored", tally.ignored);
  rejected_ += tally.rejected;
}

std::string IngestLog::text() const {
  std::string line;
  for (const auto& [what, number] : counts_) {
    if (number > 0) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", number, what);
  }
  if (rejected_ > 0) line += fmt::format("{}{} rejected", line.empty() ? "" : ", ", rejected_);
  return line.empty() ? "nothing" : line;
}

Json IngestLog::json() const {
  Json json = Json::object();
  for (const auto& [what, number] : counts_) json[what] = number;
  json["rejected"] = rejected_;
  return json;
}

Status ingest_fluentd(store::Store& store, const std::string& path, IngestLog& log) {
  WEIR_ASSIGN(const telemetry::Tally tally,
              telemetry::read_fluentd_file(
                  path, [&](const telemetry::Batch& batch) { return store.write(batch); }, log.teller()));
  log.count(tally);
  return some_taken(tally.records, tally.rejected, path, "what fluentd's out_file writes");
}

Status ingest_prometheus(store::Store& store, const std::string& source, const std::string& node,
                         IngestLog& log) {
  const bool url = source.starts_with("http://") || source.starts_with("https://");
  WEIR_ASSIGN(const std::string text, url ? http_get(source) : read_text(source));
  telemetry::Batch batch;
  const telemetry::PrometheusDefaults defaults{
      .file = source, .node = node.empty() ? telemetry::host_name() : node, .time = telemetry::now()};
  const telemetry::Tally tally = telemetry::add_prometheus(text, defaults, batch, log.teller());
  log.count(tally);
  WEIR_TRY(store.write(batch));
  return some_taken(tally.samples + tally.ignored, tally.rejected, source, "Prometheus' text");
}

Status ingest_tokio(store::Store& store, const std::string& path, IngestLog& log) {
  WEIR_ASSIGN(const store::TokioTally tally, store::import_tokio(store, path, log.teller()));
  log.count("samples", tally.samples);
  log.count("series", tally.series);
  log.rejected(tally.rejected);
  return {};
}

Status ingest_tables(store::Store& store, const IngestRequest& request, IngestLog& log) {
  if (!request.topology.empty()) {
    WEIR_ASSIGN(const Json json, load_json(request.topology));
    WEIR_ASSIGN(const store::Topology topology,
                in(store::topology_from_json(json), "read topology", request.topology));
    WEIR_TRY(store.put(topology));
    log.count("topologies", 1);
  }
  const auto source = [&](const std::string& path) {
    return store::ImportSource{.file = path, .zone = request.zone, .problem = log.teller()};
  };
  const auto counted = [&](const Result<store::ImportTally>& tally, const char* what,
                           const std::string& path) -> Status {
    if (!tally) return tl::make_unexpected(tally.error());
    log.count(what, tally->taken);
    log.count("ignored", tally->ignored);
    log.rejected(tally->rejected);
    return some_taken(tally->taken + tally->ignored, tally->rejected, path, what);
  };
  const store::TakeJobs take_jobs = [&](std::span<const store::Job> jobs) { return store.put(jobs); };
  for (const std::string& path : request.nodes) {
    WEIR_ASSIGN(std::ifstream text, open_text(path));
    WEIR_TRY(
        counted(store::import_nodes_csv(text, source(path),
                                        [&](std::span<const store::Node> nodes) { return store.put(nodes); }),
                "nodes", path));
  }
  for (const std::string& path : request.sacct) {
    WEIR_ASSIGN(std::ifstream text, open_text(path));
    WEIR_TRY(counted(store::import_sacct(text, source(path), take_jobs), "jobs", path));
  }
  for (const std::string& path : request.jobs) {
    WEIR_ASSIGN(std::ifstream text, open_text(path));
    WEIR_TRY(counted(store::import_jobs_csv(text, source(path), take_jobs), "jobs", path));
  }
  return {};
}

Status ingest_synthetic(store::Store& store, const IngestRequest& request, IngestLog& log) {
  if (request.synthetic != "k-computer")
    return fail(ErrorCode::invalid_argument,
                fmt::format("there is no synthetic site '{}'", request.synthetic), "k-computer is one");
  store::SyntheticOptions options;
  options.interval = static_cast<telemetry::Nanoseconds>(request.interval_seconds * 1e9);
  options.intervals = static_cast<std::uint64_t>(request.intervals);
  options.seed = static_cast<std::uint64_t>(request.seed);
  options.whole_machine = !request.jobs_only;
  WEIR_ASSIGN(const store::SyntheticTally tally, store::write_k_computer(store, options));
  log.count("nodes", tally.nodes);
  log.count("jobs", tally.jobs);
  log.count("series", tally.series);
  log.count("samples", tally.samples);
  if (request.answers.empty()) return {};
  Json answers = Json::array();
  for (const store::Planted& planted : store::planted(options))
    answers.push_back({{"job", planted.job}, {"fault", to_string(planted.fault)}});
  return write_text_atomically(request.answers, pretty(answers) + "\n");
}

Status ingest(const IngestRequest& request) {
  const bool files = !request.files.empty() || !request.prometheus.empty() || !request.tokio.empty() ||
                     !request.sacct.empty() || !request.jobs.empty() || !request.nodes.empty() ||
                     !request.topology.empty() || !request.synthetic.empty();
  if (!files && request.listen.empty())
    return fail(ErrorCode::invalid_argument, "there is nothing to take in",
                "name files, or --listen; see weir ingest --help");
  IngestLog log(request.quiet);
  if (files) {
    WEIR_ASSIGN(store::Store store, store::Store::open(request.store));
    if (!request.synthetic.empty()) WEIR_TRY(ingest_synthetic(store, request, log));
    WEIR_TRY(ingest_tables(store, request, log));
    for (const std::string& path : request.files) WEIR_TRY(ingest_fluentd(store, path, log));
    for (const std::string& source : request.prometheus)
      WEIR_TRY(ingest_prometheus(store, source, request.node, log));
    for (const std::string& path : request.tokio) WEIR_TRY(ingest_tokio(store, path, log));
  }
  if (!request.listen.empty()) WEIR_TRY(ingest_listen(request, log));
  if (request.json) {
    fmt::print("{}\n", pretty(log.json()));
  } else if (!request.quiet) {
    fmt::print("took in {}\n", log.text());
  }
  return {};
}

}  // namespace weir::cli
