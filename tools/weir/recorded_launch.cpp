#include "recorded_launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "core/options.hpp"
#include "job_recorder.hpp"
#include "job_report.hpp"
#include "job_store.hpp"
#include "store/job.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

void warn(const std::string& text) {
  std::fflush(stdout);
  fmt::print(stderr, "weir: {}\n", text);
}

Result<std::unique_ptr<JobRecorder>> start(const RecordingArguments& arguments,
                                           const std::vector<std::string>& program) {
  WEIR_ASSIGN(const std::string location, store_location(arguments.store));
  WEIR_ASSIGN(const double interval, parse_seconds(arguments.interval));
  return JobRecorder::start({.store = location,
                             .name = arguments.name,
                             .configuration = arguments.configuration,
                             .words = program,
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
  auto recorder = start(arguments, program);
  if (!recorder) {
    warn(fmt::format("this run is not recorded: {}", recorder.error().message()));
    return launch(job);
  }
  if (id != nullptr) *id = (*recorder)->id();
  const std::map<std::string, double> before = child_figures();
  const Result<int> code = launch(job);
  const int ended = code ? *code : 127;
  const auto finished =
      (*recorder)->finish(state_of_exit(ended, signals.came()), figures_of(before, summary_file, ended));
  if (!finished) {
    warn(fmt::format("the end of this run is not recorded: {}", finished.error().message()));
    return code;
  }
  if (const std::string problem = (*recorder)->problem(); !problem.empty()) warn(problem);
  tell(arguments, *finished);
  return code;
}

}  // namespace weir::cli
