// Samples this node: all sources, one round after another, at times that are multiples of the interval, so
// that nodes with good clocks sample in the same moment.
//
// Threads: a Collector belongs to one thread; `stop` may be made readable by anybody.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "telemetry/record.hpp"
#include "telemetry/source.hpp"

namespace weir::telemetry {

struct CollectorOptions {
  std::vector<std::string> sources;  // empty: all that find something
  SourceSetting setting;
  double interval = 1;             // seconds
  std::optional<double> duration;  // seconds; nothing: until stopped
  double rescan = 30;              // seconds between looks for new components
};

struct CollectorTally {
  std::uint64_t rounds = 0;
  std::uint64_t samples = 0;
  std::uint64_t late = 0;      // rounds that were left out because one before them took too long
  std::uint64_t problems = 0;  // lines that could not be read
  std::uint64_t failures = 0;  // rounds that could not be delivered
};

struct Overhead {
  std::size_t counters = 0;  // sampled in a round
  std::size_t rounds = 0;    // measured
  double round_seconds = 0;  // processor time of one, with packing it up for sending
  double share(double interval) const { return round_seconds / interval; }  // of a core
};

class Collector {
 public:
  static Result<Collector> open(CollectorOptions options);

  // One round into the batch.
  void sample(Batch& batch);
  const std::vector<std::unique_ptr<Source>>& sources() const { return sources_; }

  using Deliver = std::function<Status(const Batch&)>;
  using Problem = std::function<void(const std::string&)>;
  // A first round at once, then one at each multiple of the interval, and a last one at the end of the
  // duration. A round that cannot be delivered is told and counted; sampling goes on. `stop`: a descriptor,
  // or -1.
  CollectorTally run(const Deliver& deliver, const Problem& problem, int stop);

  // Samples for about this long, 50 times a second, and says what a round costs.
  Overhead measure(double seconds);

 private:
  explicit Collector(CollectorOptions options) : options_(std::move(options)) {}

  CollectorOptions options_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::string> problems_;  // of the last round
};

}  // namespace weir::telemetry
