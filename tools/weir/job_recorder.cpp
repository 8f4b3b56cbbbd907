#include "job_recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <thread>

#include "core/file.hpp"
#include "core/no_signals.hpp"
#include "job_store.hpp"
#include "report/quantity.hpp"
#include "telemetry/source.hpp"

namespace weir::cli {

namespace {

using telemetry::Nanoseconds;

constexpr double write_every_seconds = 2;    // what a kill -9 can cost
constexpr std::size_t most_points = 400000;  // kept while the store cannot be written; then the oldest go

std::string user_name() {
  if (const passwd* entry = ::getpwuid(::getuid()); entry != nullptr) return entry->pw_name;
  return std::to_string(::getuid());
}

// When it started and who: sorts by time, and no two are the same on a host.
std::string new_id(Nanoseconds now) {
  const std::time_t seconds = now / 1000000000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  static int count = 0;  // one process may record several jobs within a second
  ++count;
  return count == 1 ? fmt::format("{}-{}", text, ::getpid())
                    : fmt::format("{}-{}.{}", text, ::getpid(), count);
}

bool is_program(const std::string& word) {
  if (word.find('/') != std::string::npos) return ::access(word.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "" : path;
  for (std::size_t from = 0; from < folders.size();) {
    const std::size_t end = std::min(folders.find(':', from), folders.size());
    if (::access((folders.substr(from, end - from) + "/" + word).c_str(), X_OK) == 0) return true;
    from = end + 1;
  }
  return false;
}

// "app" of "mpirun -n 4 ./app input": behind a launcher, the first word that is a program itself.
std::string program_name(const std::vector<std::string>& words) {
  if (words.empty()) return "job";
  const auto base = [](const std::string& word) { return std::filesystem::path(word).filename().string(); };
  static constexpr std::string_view launchers[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun",
                                                   "aprun",  "nice",    "env",     "vcluster"};
  const std::string first = base(words.front());
  const bool launched = std::any_of(std::begin(launchers), std::end(launchers), [&](std::string_view name) {
    return first == name || first.starts_with(std::string(name) + ".");
  });
  for (std::size_t i = 1; launched && i < words.size(); ++i) {
    if (!words[i].starts_with('-') && is_program(words[i])) return base(words[i]);
  }
  return first;
}

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most);
}

}  // namespace

struct JobRecorder::State {
  explicit State(store::Store opened) : store(std::move(opened)) {}

  store::Store store;  // of the sampling thread while that runs
  store::Job job;
  std::vector<std::unique_ptr<telemetry::Source>> sources;
  std::chrono::duration<double> interval{1};
  telemetry::Batch batch;
  std::string problem;
  std::size_t dropped = 0;
  bool finished = false;

  std::mutex mutex;
  std::condition_variable wake;
  bool stop = false;
  std::thread thread;

  Nanoseconds sample() {
    telemetry::Round round{.time = telemetry::now(), .batch = batch};
    for (const auto& source : sources) source->sample(round);
    return round.time;
  }

  void write() {
    if (batch.points.empty()) return;
    if (const Status written = store.write(batch); written) {
      batch.clear();
      return;
    } else {
      problem = written.error().message();
    }
    if (batch.points.size() <= most_points) return;
    const std::size_t surplus = batch.points.size() - most_points / 2;
    batch.points.erase(batch.points.begin(), batch.points.begin() + static_cast<std::ptrdiff_t>(surplus));
    dropped += surplus;
  }

  void run() {
    using Clock = std::chrono::steady_clock;
    const auto step = std::chrono::duration_cast<Clock::duration>(interval);
    auto next = Clock::now();
    auto next_write = next + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(write_every_seconds));
    std::unique_lock lock(mutex);
    while (!stop) {
      next += step;
      if (const auto now = Clock::now(); next < now) next = now + step;  // after a pause: no bunch of samples
      if (wake.wait_until(lock, next, [&] { return stop; })) break;
      lock.unlock();
      sample();
      if (Clock::now() >= next_write) {
        write();
        next_write = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(write_every_seconds));
      }
      lock.lock();
    }
  }

  void end_thread() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    wake.notify_all();
    if (thread.joinable()) thread.join();
  }
};

JobRecorder::JobRecorder(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<JobRecorder>> JobRecorder::start(const RecordingSettings& settings) {
  WEIR_ASSIGN(store::Store store, open_job_store(settings.store, store::Access::create));
  auto state = std::make_unique<State>(std::move(store));
  const std::string host = telemetry::host_name();
  for (const telemetry::SourceEntry& entry : telemetry::source_table()) {
    if (std::find(settings.sources.begin(), settings.sources.end(), entry.name) == settings.sources.end())
      continue;
    auto source = entry.make({.node = host});
    source->rescan();
    if (source->components() > 0) state->sources.push_back(std::move(source));
  }
  state->interval = std::chrono::duration<double>(settings.interval_seconds);

  // The job lasts from its first sample to its last: its window holds all of its samples, and nobody else's.
  const Nanoseconds now = state->sample();
  constexpr std::size_t longest_text = 1000;
  store::Job& job = state->job;
  job.id = new_id(now);
  job.user = user_name();
  job.name = settings.name.empty() ? program_name(settings.words) : settings.name;
  job.state = store::JobState::running;
  job.submit_ns = job.start_ns = now;
  job.nodes = {host};
  job.nodes.insert(job.nodes.end(), settings.more_nodes.begin(), settings.more_nodes.end());
  job.node_count = job.nodes.size();
  job.labels = marks_of_this_process();
  job.labels["recorder"] = recorder_label;
  job.labels["command"] = shortened(fmt::format("{}", fmt::join(settings.words, " ")), longest_text);
  if (!settings.configuration.empty()) job.labels["configuration"] = settings.configuration;
  WEIR_TRY(state->store.put(job));
  state->write();
  {
    const NoSignalsHere around;
    state->thread = std::thread([raw = state.get()] { raw->run(); });
  }
  return std::unique_ptr<JobRecorder>(new JobRecorder(std::move(state)));
}

JobRecorder::~JobRecorder() {
  if (state_->finished) return;
  (void)finish(store::JobState::cancelled, {});
}

const std::string& JobRecorder::id() const {
  return state_->job.id;
}

Result<store::Job> JobRecorder::finish(store::JobState state, const std::map<std::string, double>& figures,
                                       const JoinedNodes& joined) {
  state_->finished = true;
  state_->end_thread();
  const Nanoseconds end = state_->sample();
  state_->write();
  if (!joined.nodes.empty()) {
    store::Job& job = state_->job;
    job.nodes.insert(job.nodes.end(), joined.nodes.begin(), joined.nodes.end());
    job.node_count = job.nodes.size();
    job.start_ns = std::clamp(joined.since, job.start_ns, end);
    WEIR_TRY(state_->store.put(job));
  }
  WEIR_TRY(state_->store.finish(state_->job.id, state, end, figures));
  return state_->store.job(state_->job.id);
}

std::string JobRecorder::problem() const {
  if (state_->batch.points.empty() && state_->dropped == 0) return {};
  return fmt::format("{} samples were not stored: {}", state_->batch.points.size() + state_->dropped,
                     state_->problem);
}

std::map<std::string, double> child_figures() {
  rusage usage{};
  if (::getrusage(RUSAGE_CHILDREN, &usage) != 0) return {};
  constexpr double block = 512;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {{std::string(store::figure::bytes_written), static_cast<double>(usage.ru_oublock) * block},
          {std::string(store::figure::bytes_read), static_cast<double>(usage.ru_inblock) * block},
          {"cpu_seconds", seconds(usage.ru_utime) + seconds(usage.ru_stime)}};
}

store::JobState state_of_exit(int code, bool interrupted) {
  if (code == 0) return store::JobState::completed;
  if (interrupted || code == 128 + SIGINT || code == 128 + SIGTERM || code == 128 + SIGHUP)
    return store::JobState::cancelled;
  return store::JobState::failed;
}

std::string one_line(const store::Job& job) {
  const double elapsed = static_cast<double>(job.end_ns - job.start_ns) * 1e-9;
  std::string text =
      fmt::format("job {} {} in {}", job.id, store::to_string(job.state), report::format_duration(elapsed));
  const auto figure = [&](std::string_view name) {
    const auto found = job.figures.find(std::string(name));
    return found == job.figures.end() ? 0.0 : found->second;
  };
  std::vector<std::string> parts;
  if (const double bytes = figure(store::figure::bytes_written); bytes > 0)
    parts.push_back(report::format_quantity(bytes, "B") + " written");
  if (const double bytes = figure(store::figure::bytes_read); bytes > 0)
    parts.push_back(report::format_quantity(bytes, "B") + " read");
  if (const double seconds = figure(store::figure::io_seconds); seconds > 0 && elapsed > 0)
    parts.push_back(fmt::format("{} of it in I/O ({})", report::format_duration(seconds),
                                report::format_share(seconds / elapsed)));
  return parts.empty() ? text : fmt::format("{}: {}", text, fmt::join(parts, ", "));
}

}  // namespace weir::cli
