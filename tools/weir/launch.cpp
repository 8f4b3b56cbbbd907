#include "launch.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "build_info.hpp"
#include "placement/emit.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

constexpr int keep = 0;  // for setenv(): what the user set stays

// What MPI has to be told before it runs as root, or more ranks than cores; harmless to the MPI library that
// does not know it.
void allow_root() {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
    ::setenv(name, "1", keep);
}

void allow_sharing_of_cores() {
  for (const auto& [name, value] : {std::pair{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                    {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                    {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                    {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                                    {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                                    {"PRTE_MCA_hwloc_default_binding_policy", "none"}}) {
    ::setenv(name, value, keep);
  }
}

// What a signal is passed on to; 0: nothing runs yet, and the signal is kept for it.
volatile pid_t launcher = 0;
volatile std::sig_atomic_t pending = 0;
volatile std::sig_atomic_t any_came = 0;

constexpr std::array<int, 3> signals = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, 3> previous{};
struct sigaction previous_of_pipe {};

void pass_on(int signal, siginfo_t* info, void*) {
  any_came = signal;
  if (launcher <= 0) {
    pending = signal;
  } else if (info->si_code != SI_KERNEL) {  // from the terminal it has reached the launcher as well
    ::kill(launcher, signal);
  }
}

// The child's part. Does not return.
[[noreturn]] void become(const Launch& launch, std::vector<char*>& argv) {
  for (const int signal : signals) std::signal(signal, SIG_DFL);
  ::sigaction(SIGPIPE, &previous_of_pipe, nullptr);
  // mpiexec may give the ranks a terminal of its own making: whether there are colours is decided by ours.
  if (isatty(STDOUT_FILENO) == 0)
    ::setenv("NO_COLOR", "1", 1);
  else
    ::setenv(users_terminal, "1", 1);
  allow_root();
  if (launch.share_cores) allow_sharing_of_cores();
  for (const auto& [name, value] : launch.environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execvp(argv[0], argv.data());
  fmt::print(stderr, "weir: cannot start {}: {}\n", argv[0], std::strerror(errno));
  ::_exit(127);
}

}  // namespace

PassSignalsOn::PassSignalsOn() {
  pending = 0;
  any_came = 0;
  launcher = 0;
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO;
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &previous[i]);
  // Who reads no further ends neither us nor what has to be put away behind the program.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &previous_of_pipe);
}

PassSignalsOn::~PassSignalsOn() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &previous[i], nullptr);
  ::sigaction(SIGPIPE, &previous_of_pipe, nullptr);
  launcher = 0;
}

bool PassSignalsOn::came() const {
  return any_came != 0;
}

Result<int> launch(const Launch& launch) {
  std::vector<std::string> words = launch.words;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  if (pending != 0) return 128 + pending;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return fail_errno(errno, "start", words[0]);
  if (child == 0) become(launch, argv);
  launcher = child;
  if (pending != 0) ::kill(child, pending);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail_errno(errno, "wait for", words[0]);
  }
  launcher = 0;
  if (status == 0 && launch.is_launcher && any_came != 0) return 128 + any_came;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<std::string> this_program() {
  std::error_code error;
  std::string path = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return fail_errno(error.value(), "find this program", "/proc/self/exe");
  return path;
}

Status run_ranks(int ranks, const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment) {
  WEIR_ASSIGN(const std::string self, this_program());
  Launch ranks_of_weir{.words = {build::mpiexec, "-n", std::to_string(ranks), self},
                       .environment = environment,
                       .share_cores = true,
                       .is_launcher = true};
  ranks_of_weir.words.insert(ranks_of_weir.words.end(), arguments.begin(), arguments.end());
  const PassSignalsOn while_waiting;
  WEIR_ASSIGN(const int code, launch(ranks_of_weir));
  if (code != 0 && while_waiting.came())
    return fail(ErrorCode::io, "told to end by a signal, before all was done");
  return outcome(fmt::format("{} -n {}", build::mpiexec, ranks), code);
}

Status outcome(const std::string& what, int code) {
  if (code == 0) return {};
  return fail(ErrorCode::io, code < 128 ? fmt::format("{} ended with code {}", what, code)
                                        : fmt::format("{} was ended by signal {}", what, code - 128));
}

namespace {

// Whether the plan names this machine and no other: then no launcher needs to hear of hosts.
bool runs_here(const Placement& placement) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return placement.hosts.size() <= 1 && (placement.hosts.empty() || placement.hosts[0] == host);
}

#ifdef OPEN_MPI
std::string host_slots(const Placement& placement) {
  std::string hosts;
  for (const RankRun& run : rank_runs(placement))
    hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", placement.hosts[run.node], run.count);
  return hosts;
}
#endif

}  // namespace

void allow_threads(std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] :
       {std::pair{"OMPI_MPI_THREAD_LEVEL", "3"}, {"MPIR_CVAR_DEFAULT_THREAD_LEVEL", "MPI_THREAD_MULTIPLE"}}) {
    if (std::getenv(name) == nullptr) environment[name] = value;
  }
}

std::vector<std::string> own_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view words = *entry;
    if (words.starts_with("WEIR_")) names.emplace_back(words.substr(0, words.find('=')));
  }
  std::ranges::sort(names);
  return names;
}

Result<LauncherCommand> launcher_for(const Plan& plan, const std::string& rank_file_path,
                                     const std::vector<std::string>& variables) {
  LauncherCommand command{.words = {build::mpiexec}};
  const std::string ranks = std::to_string(plan.ranks);
  const Placement& placement = plan.placement;
  const bool here = runs_here(placement);
  const EmitRequest request{.roles = plan.roles, .placement = placement, .name_hosts = !here};
#if defined(OPEN_MPI)
  // Open MPI 5 knows no OS numbers in rank files.
  if (OMPI_MAJOR_VERSION < 5 && !placement.pus_of.empty()) {
    // By its name also if it is this machine: "+n0" works only within an allocation.
    EmitRequest named = request;
    named.name_hosts = true;
    WEIR_ASSIGN(command.rank_file, emit_openmpi(named));
    command.words.insert(command.words.end(), {"--mca", "rmaps_rank_file_physical", "1",
                                               "--use-hwthread-cpus", "--rankfile", rank_file_path});
    command.binds = true;
  } else if (!placement.node_of.empty() && !here) {
    WEIR_TRY(check_emittable(request));
    if (std::is_sorted(placement.node_of.begin(), placement.node_of.end())) {
      command.words.insert(command.words.end(), {"--host", host_slots(placement)});
    } else {
      // --host adds up the slots of a host wherever it is named: an order of its own needs a host for each
      // rank.
      WEIR_ASSIGN(command.rank_file, emit_openmpi_seq(request));
      command.words.insert(command.words.end(), {"--map-by", "seq", "--hostfile", rank_file_path});
    }
  }
  for (const std::string& variable : variables) command.words.insert(command.words.end(), {"-x", variable});
  command.words.insert(command.words.end(), {"-n", ranks});
#elif defined(MPICH_VERSION)
  (void)rank_file_path, (void)variables;  // Hydra passes the environment on
  if (!placement.node_of.empty()) {
    WEIR_ASSIGN(const MpichOptions options, mpich_options(request));
    command.words.insert(command.words.end(), options.words.begin(), options.words.end());
    command.binds = options.binds;
  } else {
    command.words.insert(command.words.end(), {"-n", ranks});
  }
#else
  (void)rank_file_path, (void)variables;
  if (!here) {
    return fail(ErrorCode::unsupported, "this MPI's launcher is not known: it cannot be told where ranks go",
                "start the program with it yourself, and WEIR_PLAN set");
  }
  command.words.insert(command.words.end(), {"-n", ranks});
#endif
  return command;
}

}  // namespace weir::cli
