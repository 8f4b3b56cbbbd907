// Counters of other nodes while a job runs: on each a `weir collect`, reached by a command such as ssh, its
// samples kept in a file here until the end.
//
// LOCAL. Threads: belongs to the thread that started it, and ends with it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/error.hpp"
#include "telemetry/record.hpp"

namespace weir::cli {

struct RemoteSettings {
  std::vector<std::string> nodes;
  std::string reach;    // "ssh {}", "tools/vcluster exec {} --": {} is the node's name
  std::string sources;  // as `weir collect --sources` takes them; empty: all that are there
  double interval_seconds = 0.25;
  std::string folder;  // for the samples on their way
};

class RemoteSamples {
 public:
  // Returns when every node has given its first sample; one that does not within 20 s is a failure, and so is
  // a reach without {}.
  static Result<RemoteSamples> start(const RemoteSettings& settings);
  RemoteSamples(RemoteSamples&& other) noexcept;
  RemoteSamples& operator=(RemoteSamples&&) = delete;
  ~RemoteSamples();  // ends what still runs

  // One more round, then the end: all samples.
  Result<telemetry::Batch> finish();

 private:
  RemoteSamples() = default;
  struct Child {
    pid_t pid = 0;
    std::string node;
    std::string file;
  };
  void end();
  std::vector<Child> children_;
  double interval_seconds_ = 1;
};

}  // namespace weir::cli
