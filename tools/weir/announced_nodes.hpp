// Nodes that a launcher announces while its job is about to start: a launcher that makes or knows nodes of
// its own (tools/vcluster) finds the name of a file in WEIR_NODES_FILE, writes there which nodes there are
// and how they are reached (sampled_nodes.hpp), moves it into place whole, and waits until the file with
// ".answer" behind its name exists. By then their counters are sampled, or it has been found that they cannot
// be.
//
// LOCAL. Threads: the functions are called by one thread; the one that waits and samples is inside.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "job_recorder.hpp"
#include "remote_samples.hpp"

namespace weir::cli {

class AnnouncedNodes {
 public:
  static constexpr const char* variable = "WEIR_NODES_FILE";

  // `settings` without nodes; its folder is where the file is waited for.
  static Result<std::unique_ptr<AnnouncedNodes>> start(const RemoteSettings& settings);
  ~AnnouncedNodes();  // ends what still runs
  AnnouncedNodes(const AnnouncedNodes&) = delete;
  AnnouncedNodes& operator=(const AnnouncedNodes&) = delete;

  const std::string& path() const;  // for the launcher's environment
  JoinedNodes joined() const;       // what was announced so far and is sampled
  // One more round, then the end: all samples. Fails if nodes were announced and could not be sampled.
  Result<telemetry::Batch> finish();

 private:
  struct State;
  explicit AnnouncedNodes(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weir::cli
