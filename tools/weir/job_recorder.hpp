// A job while it runs: registered in the store when it starts, its counters sampled by a thread, its end and
// figures written when it ends.
//
// Nothing here stands in the way of the program: what cannot be recorded is said at the end, once.
// LOCAL. Threads: start, finish and the destructor are called by one thread; the sampling thread is inside.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "store/job.hpp"

namespace weir::cli {

struct RecordingSettings {
  std::string store;                         // a location, as store_location() gives it
  std::string name;                          // of the job; empty: the program's
  std::string configuration;                 // a label under which runs are compared; or empty
  std::vector<std::string> words;            // the command
  std::vector<std::string> more_nodes = {};  // beside this one
  double interval_seconds = 0.25;            // from sample to sample
  std::vector<std::string> sources = {"block", "net", "host"};  // those of them that are here
};

// Nodes that became known after the start, and when the program began to run on them.
struct JoinedNodes {
  std::vector<std::string> nodes;
  std::int64_t since = 0;
};

class JobRecorder {
 public:
  static Result<std::unique_ptr<JobRecorder>> start(const RecordingSettings& settings);
  ~JobRecorder();  // without finish(): the job is cancelled
  JobRecorder(const JobRecorder&) = delete;
  JobRecorder& operator=(const JobRecorder&) = delete;

  const std::string& id() const;
  // Takes the last samples and writes the end of the job. The job as it is in the store then.
  Result<store::Job> finish(store::JobState state, const std::map<std::string, double>& figures,
                            const JoinedNodes& joined = {});
  // What went wrong with the samples, in a sentence; empty: nothing.
  std::string problem() const;

 private:
  struct State;
  explicit JobRecorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Bytes that the kernel says this process's ended children wrote and read, and their processor time.
std::map<std::string, double> child_figures();

// 0: completed; ended by a signal, or after one was passed on to it: cancelled; else failed.
store::JobState state_of_exit(int code, bool interrupted);

// "job ID completed in 12.4 s: 1.2 GiB written, 3.2 s of it in I/O (26 %)"
std::string one_line(const store::Job& job);

}  // namespace weir::cli
