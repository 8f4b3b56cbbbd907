#include "launch.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "build_info.hpp"

namespace weir::cli {

namespace {

// What MPI has to be told before it runs as root, or more ranks than cores; harmless to the MPI library that
// does not know it.
void allow_root_and_oversubscription() {
  constexpr int keep = 0;  // what the user set stays
  for (const auto& [name, value] : {std::pair{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                    {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                    {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                    {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                                    {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                                    {"PRTE_MCA_hwloc_default_binding_policy", "none"}}) {
    ::setenv(name, value, keep);
  }
}

pid_t launcher = 0;  // what a signal is passed on to; set before the handlers are

void pass_on(int signal) {
  if (launcher > 0) ::kill(launcher, signal);
}

// While the ranks run, an interrupt or a request to end goes to their launcher; this process stays to clean
// up after them.
class PassSignalsOn {
 public:
  explicit PassSignalsOn(pid_t child) {
    launcher = child;
    for (std::size_t i = 0; i < signals.size(); ++i) previous_[i] = std::signal(signals[i], pass_on);
  }
  ~PassSignalsOn() {
    for (std::size_t i = 0; i < signals.size(); ++i) std::signal(signals[i], previous_[i]);
    launcher = 0;
  }
  PassSignalsOn(const PassSignalsOn&) = delete;
  PassSignalsOn& operator=(const PassSignalsOn&) = delete;

 private:
  static constexpr std::array<int, 3> signals = {SIGINT, SIGTERM, SIGHUP};
  std::array<void (*)(int), 3> previous_{};
};

}  // namespace

Status run_ranks(int ranks, const std::vector<std::string>& arguments) {
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return fail_errno(error.value(), "find this program", "/proc/self/exe");
  std::vector<std::string> words = {build::mpiexec, "-n", std::to_string(ranks), self};
  words.insert(words.end(), arguments.begin(), arguments.end());

  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t child = ::fork();
  if (child < 0) return fail_errno(errno, "start", words[0]);
  if (child == 0) {
    // mpiexec may give the ranks a terminal of its own making: whether there are colours is decided by ours.
    if (isatty(STDOUT_FILENO) == 0) ::setenv("NO_COLOR", "1", 1);
    allow_root_and_oversubscription();
    ::execvp(argv[0], argv.data());
    fmt::print(stderr, "weir: cannot start {}: {}\n", words[0], std::strerror(errno));
    ::_exit(127);
  }
  const PassSignalsOn while_waiting(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail_errno(errno, "wait for", words[0]);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string how = WIFEXITED(status) ? fmt::format("ended with code {}", WEXITSTATUS(status))
                                            : fmt::format("was ended by signal {}", WTERMSIG(status));
  return fail(ErrorCode::io, fmt::format("{} -n {} {}", words[0], ranks, how));
}

}  // namespace weir::cli
