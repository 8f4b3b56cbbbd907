#include "recorded_launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "announced_nodes.hpp"
#include "command_words.hpp"
#include "core/options.hpp"
#include "job_recorder.hpp"
#include "job_report.hpp"
#include "job_store.hpp"
#include "platform/host_list.hpp"
#include "remote_samples.hpp"
#include "sampled_nodes.hpp"
#include "session_figures.hpp"
#include "store/job.hpp"
#include "telemetry/source.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

void warn(const std::string& text) {
  std::fflush(stdout);
  fmt::print(stderr, "weir: {}\n", text);
}

// The nodes that the user names, besides this one.
Result<SampledNodes> named_nodes(const RecordingArguments& arguments) {
  SampledNodes named{.nodes = {}, .reach = arguments.reach, .sources = arguments.sample_sources};
  if (arguments.sample.empty() || arguments.sample == sample_no_others) return named;
  WEIR_ASSIGN(const std::vector<Host> hosts, in(parse_host_list(arguments.sample), "--sample"));
  for (const Host& host : hosts) {
    if (host.name != telemetry::host_name()) named.nodes.push_back(host.name);
  }
  return named;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Samples of other nodes: of those that the user names or Slurm gave this job, from before the program
// starts; or of those that the program, if it is a launcher, announces.
class OtherNodes {
 public:
  static Result<OtherNodes> start(const RecordingArguments& arguments) {
    OtherNodes others;
    if (arguments.sample == sample_no_others) return others;
    WEIR_ASSIGN(const double interval, parse_seconds(arguments.interval));
    RemoteSettings settings{.nodes = {},
                            .reach = {},
                            .sources = arguments.sample_sources,
                            .interval_seconds = interval,
                            .folder = arguments.folder};
    WEIR_ASSIGN(const SampledNodes named, named_nodes(arguments));
    if (!named.nodes.empty()) {
      WEIR_TRY(others.sample(named, settings));
      return others;
    }
    if (!arguments.sample.empty()) return others;
    // Nobody asked for it: what does not work is told, and the program runs.
    auto given = slurm_nodes(environment, telemetry::host_name());
    if (given && *given) {
      if (const Status sampled = others.sample(**given, settings); !sampled)
        warn(fmt::format("{}; --sample none leaves other nodes alone", sampled.error().message()));
      return others;
    }
    if (auto announced = AnnouncedNodes::start(settings)) {
      others.announced_ = std::move(*announced);
    } else {
      warn(announced.error().message());
    }
    return others;
  }

  const std::vector<std::string>& nodes() const { return nodes_; }  // known before the program starts
  void announce(Launch& job) const {
    if (announced_) job.environment[AnnouncedNodes::variable] = announced_->path();
  }
  JoinedNodes joined() const { return announced_ ? announced_->joined() : JoinedNodes{}; }
  Result<telemetry::Batch> finish() {
    if (remote_) return remote_->finish();
    if (announced_) return announced_->finish();
    return telemetry::Batch{};
  }

 private:
  Status sample(const SampledNodes& wanted, RemoteSettings settings) {
    settings.nodes = wanted.nodes;
    settings.reach = wanted.reach;
    if (settings.sources.empty()) settings.sources = wanted.sources;
    WEIR_ASSIGN(RemoteSamples started, RemoteSamples::start(settings));
    remote_.emplace(std::move(started));
    nodes_ = wanted.nodes;
    return {};
  }

  std::vector<std::string> nodes_;
  std::optional<RemoteSamples> remote_;
  std::unique_ptr<AnnouncedNodes> announced_;
};

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
  if (const auto sessions = load_session_figures(summary_file)) {
    for (const auto& [name, value] : *sessions) figures[name] = value;
  } else {
    warn(sessions.error().message());
  }
  figures[std::string(store::figure::exit_code)] = code;
  return figures;
}

// Into the same store; what fails is told, and the rest of the job is recorded all the same.
void store_samples(OtherNodes& others, const RecordingArguments& arguments) {
  const auto stored = [&]() -> Status {
    WEIR_ASSIGN(const telemetry::Batch batch, others.finish());
    if (batch.points.empty()) return {};
    WEIR_ASSIGN(const std::string location, store_location(arguments.store));
    WEIR_ASSIGN(store::Store store, open_job_store(location, store::Access::write));
    return store.write(batch);
  }();
  if (!stored) warn(fmt::format("there are no samples of other nodes: {}", stored.error().message()));
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
  warn(fmt::format("{}; weir report last{} shows more", one_line(job),
                   arguments.store.empty() ? "" : " --store " + shell_quoted(arguments.store)));
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
  WEIR_ASSIGN(OtherNodes others, OtherNodes::start(arguments));
  auto recorder = start(arguments, program, others.nodes());
  if (!recorder) {
    warn(fmt::format("this run is not recorded: {}", recorder.error().message()));
    return launch(job);
  }
  if (id != nullptr) *id = (*recorder)->id();
  const std::map<std::string, double> before = child_figures();
  Launch told = job;
  others.announce(told);
  const Result<int> code = launch(told);
  const int ended = code ? *code : 127;
  const std::map<std::string, double> figures = figures_of(before, summary_file, ended);
  const auto finished = (*recorder)->finish(state_of_exit(ended, signals.came()), figures, others.joined());
  if (!finished) {
    warn(fmt::format("the end of this run is not recorded: {}", finished.error().message()));
    return code;
  }
  if (const std::string problem = (*recorder)->problem(); !problem.empty()) warn(problem);
  store_samples(others, arguments);
  tell(arguments, *finished);
  return code;
}

}  // namespace weir::cli
