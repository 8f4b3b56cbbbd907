// Where samples of this node come from: one interface over Lustre servers, interconnects, network interfaces,
// block devices and the node itself.
//
// A source finds its components under a root folder ("/" on a real machine, a folder of recorded files in
// tests), keeps their files open, and reads them again at each sampling: 0.4 us a counter. Components that
// appear or vanish are noticed by looking again (rescan), which the sampler does now and then.
//
// Threads: a source belongs to one thread.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "telemetry/record.hpp"

namespace weir::telemetry {

struct SourceSetting {
  std::filesystem::path root = "/";
  std::string node;  // the name under which samples are filed
};

// A round of sampling puts everything here.
struct Round {
  Nanoseconds time = 0;  // of the whole round: series that are sampled together share their times
  Batch& batch;
  std::vector<std::string> problems = {};  // "/proc/...: line 3: ...": lines that could not be read
};

class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view name() const = 0;  // as `--sources` names it

  // Looks for components. None is not a failure: this machine has no such thing.
  virtual void rescan() = 0;
  virtual std::size_t components() const = 0;
  // Reads all components. A file that vanished is passed over until the next rescan.
  virtual void sample(Round& round) = 0;
};

struct SourceEntry {
  std::string_view name;
  std::string_view what;  // one line for --help
  std::unique_ptr<Source> (*make)(const SourceSetting&);
};

// Every source, in the order in which they are sampled.
std::span<const SourceEntry> source_table();

// Those named, or all that find something here if no name is given. An unknown name is a failure with a
// suggestion; a named source without components is one too.
Result<std::vector<std::unique_ptr<Source>>> open_sources(const std::vector<std::string>& names,
                                                          const SourceSetting& setting);

// Now, in nanoseconds since 1970.
Nanoseconds now();
// The node's name as its kernel has it.
std::string host_name();

}  // namespace weir::telemetry
