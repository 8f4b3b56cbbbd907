// Running programs as MPI ranks, with the MPI library that Weir was built with.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "plan/plan.hpp"

namespace weir::cli {

// By which launchers tell a process its rank.
inline constexpr std::array rank_variables = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};

// The path of the running command.
Result<std::string> this_program();

// Runs `mpiexec -n RANKS weir ARGUMENTS` and waits for it. A rank count beyond the machine's cores, and root,
// are allowed: demos and benchmarks mean it. An interrupt reaches the ranks; this process stays to clean up
// after them.
Status run_ranks(int ranks, const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment = {});

// While one of these lives, an interrupt or a request to end (SIGINT, SIGTERM, SIGHUP) does not end this
// process: it goes to the launcher that launch() waits for, so that what was made for it can be removed
// afterwards. At most one at a time.
class PassSignalsOn {
 public:
  PassSignalsOn();
  ~PassSignalsOn();
  PassSignalsOn(const PassSignalsOn&) = delete;
  PassSignalsOn& operator=(const PassSignalsOn&) = delete;
  bool came() const;  // one of these signals, since it was made
};

struct Launch {
  std::vector<std::string> words;                  // the launcher, its options, the program, its arguments
  std::map<std::string, std::string> environment;  // added to ours
  bool share_cores = false;  // more ranks than cores: the launcher allows it, and waiting ranks yield
  bool is_launcher = false;  // the words are ours: a launcher that was told to end has not ended well,
                             // though MPICH's may say so
};

// Starts it and waits for its end. The exit code, or 128 + the signal that ended it; 127 if it could not be
// started. REQUIRES: a PassSignalsOn.
Result<int> launch(const Launch& launch);

// An exit code in words; success is 0.
Status outcome(const std::string& what, int code);

// Programs that start MPI for one thread can still use Weir's, unless the user says otherwise.
void allow_threads(std::map<std::string, std::string>& environment);

// The settings of Weir (WEIR_...) in the environment, by name: for ranks on other nodes, too.
std::vector<std::string> own_variables();

// The launcher and its options for the ranks of a plan, which get these variables of the environment wherever
// they run.
struct LauncherCommand {
  std::vector<std::string> words;
  std::string rank_file;  // for Open MPI: the text of the file that the words name
  bool binds = false;     // the launcher binds the ranks to their hardware threads
};
Result<LauncherCommand> launcher_for(const Plan& plan, const std::string& rank_file_path,
                                     const std::vector<std::string>& variables);

}  // namespace weir::cli
