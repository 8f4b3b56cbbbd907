// A program launched as a job: registered, watched, and told about.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"
#include "launch.hpp"

namespace weir::cli {

inline constexpr const char* sample_no_others = "none";  // RecordingArguments::sample

struct RecordingArguments {
  bool off = false;
  bool report = false;  // the whole summary at the end, not a line
  bool quiet = false;   // nothing at the end
  std::string store;    // empty: the user's own
  std::string interval = "0.25s";
  std::string name;              // empty: the program's
  std::string configuration;     // under which runs are compared; or empty
  std::string sample;            // other nodes to sample, as a host list; empty: those that are known
  std::string reach = "ssh {}";  // the command that runs programs there
  std::string sample_sources;    // what is sampled there; empty: all that is there
  std::string folder;            // for samples on their way
};

Status check(const RecordingArguments& arguments);

// As launch(). `program` is what the user wants to run, without launchers and options of ours; `summary_file`
// is where its sessions leave their figures (WEIR_SUMMARY_FILE). What cannot be recorded is a warning. The id
// of the job goes to `id`, if that is given.
Result<int> launch_recorded(const Launch& job, const RecordingArguments& arguments,
                            const std::vector<std::string>& program, const std::string& summary_file,
                            const PassSignalsOn& signals, std::string* id = nullptr);

}  // namespace weir::cli
