#include "launch.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

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

class IgnoreInterrupts {
 public:
  IgnoreInterrupts() { previous_ = std::signal(SIGINT, SIG_IGN); }
  ~IgnoreInterrupts() { std::signal(SIGINT, previous_); }
  IgnoreInterrupts(const IgnoreInterrupts&) = delete;
  IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;
  void restore_in_child() const { std::signal(SIGINT, previous_); }

 private:
  void (*previous_)(int) = SIG_DFL;
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

  const IgnoreInterrupts while_waiting;
  const pid_t child = ::fork();
  if (child < 0) return fail_errno(errno, "start", words[0]);
  if (child == 0) {
    while_waiting.restore_in_child();
    // mpiexec may give the ranks a terminal of its own making: whether there are colours is decided by ours.
    if (isatty(STDOUT_FILENO) == 0) ::setenv("NO_COLOR", "1", 1);
    allow_root_and_oversubscription();
    ::execvp(argv[0], argv.data());
    fmt::print(stderr, "weir: cannot start {}: {}\n", words[0], std::strerror(errno));
    ::_exit(127);
  }
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
