#include "recorded_launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "core/options.hpp"
#include "job_recorder.hpp"
#include "job_report.hpp"
#include "job_store.hpp"
#include "platform/host_list.hpp"
#include "remote_samples.hpp"
#include "store/job.hpp"
#include "telemetry/source.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

void warn(const std::string& text) {
  std::fflush(stdout);
  fmt::print(stderr, "weir: {}\n", text);
}

// The nodes besides this one.
Result<std::vector<std::string>> other_nodes(const RecordingArguments& arguments) {
  std::vector<std::string> names;
  if (arguments.sample.empty()) return names;
  WEIR_ASSIGN(const std::vector<Host> hosts, in(parse_host_list(arguments.sample), "--sample"));
  for (const Host& host : hosts) {
    if (host.name != telemetry::host_name()) names.push_back(host.name);
  }
  return names;
}

Result<std::unique_ptr<JobRecorder>> start(const RecordingArguments& arguments,
                                           const std::vector<std::string>& program,
                                           const std::vector<std::string>& nodes) {
  WEIR_ASSIGN(const std::string location, store_location(arguments.store));
  WEIR_ASSIGN(const double interval, parse_seconds(arguments.interval));
  return JobRecorder::start({.store = location,
                             .name = arguments.name,
                             .configuration = arguments.configuration,
                             .words = program,
                             .more_nodes = nodes,
                             .interval_seconds = interval});
}

// What the program's own sessions say goes before what the kernel counted.
std::map<std::string, double> figures_of(const std::map<std::string, double>& before,
                                         const std::string& summary_file, int code) {
  std::map<std::string, double> figures = child_figures();
  for (auto& [name, value] : figures) {
    if (const auto earlier = before.find(name); earlier != before.end()) value -= earlier->second;
  }
  if (const auto sessions = session_figures(summary_file)) {
    for (const auto& [name, value] : *sessions) figures[name] = value;
  } else {
    warn(sessions.error().message());
  }
  figures[std::string(store::figure::exit_code)] = code;
  return figures;
}

// Into the same store; what fails is told, and the rest of the job is recorded all the same.
void store_samples(RemoteSamples& remote, const RecordingArguments& arguments) {
  const auto stored = [&]() -> Status {
    WEIR_ASSIGN(const telemetry::Batch batch, remote.finish());
    WEIR_ASSIGN(const std::string location, store_location(arguments.store));
    WEIR_ASSIGN(store::Store store, open_job_store(location, store::Access::write));
    return store.write(batch);
  }();
  if (!stored) warn(fmt::format("samples of other nodes are lost: {}", stored.error().message()));
}

void tell(const RecordingArguments& arguments, const store::Job& job) {
  if (arguments.quiet) return;
  if (arguments.report) {
    std::fflush(stdout);
    JobReportArguments wanted{.jobs = {job.id}, .store = arguments.store};
    const auto made = make_report(wanted);
    if (made) {
      fmt::print(stderr, "\n{}", report::render_summary(made->document, {.width = terminal_width()}));
      return;
    }
    warn(made.error().message());
  }
  warn(one_line(job) + "; weir report last shows more");
}

}  // namespace

Status check(const RecordingArguments& arguments) {
  const auto interval = in(parse_seconds(arguments.interval), "--interval");
  if (!interval) return tl::make_unexpected(interval.error());
  if (!(*interval >= 0.01 && *interval <= 3600))
    return fail(ErrorCode::invalid_argument,
                fmt::format("--interval {}: it can be from 10ms to 3600s", arguments.interval));
  if (arguments.off && !arguments.store.empty())
    return fail(ErrorCode::invalid_argument, "--store and --no-record: only one of them can be given");
  return {};
}

Result<int> launch_recorded(const Launch& job, const RecordingArguments& arguments,
                            const std::vector<std::string>& program, const std::string& summary_file,
                            const PassSignalsOn& signals, std::string* id) {
  if (arguments.off) return launch(job);
  WEIR_ASSIGN(const std::vector<std::string> nodes, other_nodes(arguments));
  std::optional<RemoteSamples> remote;
  if (!nodes.empty()) {
    WEIR_ASSIGN(const double interval, parse_seconds(arguments.interval));
    WEIR_ASSIGN(RemoteSamples started, RemoteSamples::start({.nodes = nodes,
                                                             .reach = arguments.reach,
                                                             .sources = arguments.sample_sources,
                                                             .interval_seconds = interval,
                                                             .folder = arguments.folder}));
    remote.emplace(std::move(started));
  }
  auto recorder = start(arguments, program, nodes);
  if (!recorder) {
    warn(fmt::format("this run is not recorded: {}", recorder.error().message()));
    return launch(job);
  }
  if (id != nullptr) *id = (*recorder)->id();
  const std::map<std::string, double> before = child_figures();
  const Result<int> code = launch(job);
  const int ended = code ? *code : 127;
  const std::map<std::string, double> figures = figures_of(before, summary_file, ended);
  const auto finished = (*recorder)->finish(state_of_exit(ended, signals.came()), figures);
  if (!finished) {
    warn(fmt::format("the end of this run is not recorded: {}", finished.error().message()));
    return code;
  }
  if (const std::string problem = (*recorder)->problem(); !problem.empty()) warn(problem);
  if (remote) store_samples(*remote, arguments);
  tell(arguments, *finished);
  return code;
}

}  // namespace weir::cli
