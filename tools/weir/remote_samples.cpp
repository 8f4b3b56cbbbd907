#include "remote_samples.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "command_words.hpp"
#include "core/file.hpp"
#include "telemetry/fluentd_file.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

namespace {

constexpr auto first_sample_within = std::chrono::seconds(20);
constexpr auto end_within = std::chrono::seconds(5);
constexpr auto look_every = std::chrono::milliseconds(20);

// Output goes to a file; a group of its own, so that all of it can be ended.
Result<pid_t> start_process(std::vector<std::string> words, const std::string& output) {
  WEIR_ASSIGN(const Descriptor out, open_file(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC));
  WEIR_ASSIGN(const Descriptor errors,
              open_file(output + ".errors", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC));
  WEIR_ASSIGN(const Descriptor nothing, open_file("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return fail_errno(errno, "start", words[0]);
  if (child == 0) {
    ::setpgid(0, 0);
    sigset_t none;  // it has to hear of its end, also if the thread that starts it hears of nothing
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // should this process be killed, or this thread end
    ::dup2(nothing.get(), STDIN_FILENO);
    ::dup2(out.get(), STDOUT_FILENO);
    ::dup2(errors.get(), STDERR_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ::setpgid(child, child);  // whoever comes first
  return child;
}

std::string last_words(const std::string& file) {
  auto text = read_text(file + ".errors");
  if (!text || text->empty()) return "it gave no samples";
  while (!text->empty() && text->back() == '\n') text->pop_back();
  const std::size_t line = text->rfind('\n');
  return line == std::string::npos ? *text : text->substr(line + 1);
}

}  // namespace

Result<RemoteSamples> RemoteSamples::start(const RemoteSettings& settings) {
  std::error_code error;
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  if (error) return fail_errno(error.value(), "find this program", "/proc/self/exe");
  RemoteSamples samples;
  samples.interval_seconds_ = settings.interval_seconds;
  for (std::size_t i = 0; i < settings.nodes.size(); ++i) {
    const std::string& node = settings.nodes[i];
    WEIR_ASSIGN(std::vector<std::string> words, in(command_words(settings.reach), "--reach"));
    for (std::string& word : words) {
      for (std::size_t at = word.find("{}"); at != std::string::npos; at = word.find("{}", at + node.size()))
        word.replace(at, 2, node);
    }
    const std::string interval = fmt::format("{}s", settings.interval_seconds);
    words.insert(words.end(), {self, "collect", "--node", node, "--interval", interval, "--output", "-"});
    if (!settings.sources.empty()) words.insert(words.end(), {"--sources", settings.sources});
    const std::string file = fmt::format("{}/samples-{}.log", settings.folder, i);
    WEIR_ASSIGN(const pid_t pid, start_process(std::move(words), file));
    samples.children_.push_back({pid, node, file});
  }
  const auto limit = std::chrono::steady_clock::now() + first_sample_within;
  for (Child& child : samples.children_) {
    while (fs::file_size(child.file, error) == 0 || error) {
      int status = 0;
      const bool ended = ::waitpid(child.pid, &status, WNOHANG) == child.pid;
      if (ended) child.pid = 0;
      if (ended || std::chrono::steady_clock::now() > limit) {
        return fail(ErrorCode::io,
                    fmt::format("node {} cannot be sampled: {}", child.node, last_words(child.file)),
                    "--reach is to be a command that runs programs there, with {} for the node's name");
      }
      std::this_thread::sleep_for(look_every);
    }
  }
  return samples;
}

RemoteSamples::RemoteSamples(RemoteSamples&& other) noexcept
    : children_(std::exchange(other.children_, {})), interval_seconds_(other.interval_seconds_) {}

RemoteSamples::~RemoteSamples() {
  end();
}

void RemoteSamples::end() {
  for (const Child& child : children_) {
    if (child.pid > 0) ::kill(-child.pid, SIGTERM);
  }
  const auto limit = std::chrono::steady_clock::now() + end_within;
  for (Child& child : children_) {
    if (child.pid <= 0) continue;
    int status = 0;
    while (::waitpid(child.pid, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > limit) ::kill(-child.pid, SIGKILL);
      std::this_thread::sleep_for(look_every);
    }
    child.pid = 0;
  }
}

Result<telemetry::Batch> RemoteSamples::finish() {
  // A round after the end of the job, so that all of it is covered.
  std::this_thread::sleep_for(std::chrono::duration<double>(interval_seconds_ * 1.2));
  end();
  telemetry::Batch batch;
  for (const Child& child : children_) {
    const auto add = [&](const telemetry::Batch& part) -> Status {
      for (std::size_t i = 0; i < part.points.size(); ++i) batch.add(part.sample(i));
      return {};
    };
    WEIR_TRY(telemetry::read_fluentd_file(child.file, add, [](const std::string&) {}));
  }
  return batch;
}

}  // namespace weir::cli
