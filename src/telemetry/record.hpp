// Samples on their way: a batch of points of many series, and the records of fluentd that carry them.
//
// A record is a flat map, for one component at one moment:
//
//   {"node": "io0001", "link": "X+", "link.wait_cycles": 8112, "link.bytes": 91238, "time_ns":
//   1564617600004512000}
//
//   node        host name; also `host` or `hostname`                                            REQUIRED
//   component   part of the node; also `ost`, `link`, `device`, `interface` or `port`
//   job         job id, where a counter is kept per job; also `jobid` or `job_id`
//   time_ns     nanoseconds since 1970, UTC; else `time` in seconds (a fraction is kept); else the event's
//   time NAME        a counter by its full name (counter.hpp), or without what stands before the dot where
//   that is
//               clear: `wait_cycles` beside `link`, `write_bytes` beside `ost` (`job.` if there is a job),
//               `read_bytes` beside `device`, `rx_bytes` beside `interface`
//
// Other members are passed over and counted. A record without a node, without any counter, or with a counter
// that is not a whole number from 0 to 2^64 - 1, is rejected as a whole.
//
// Threads: a Batch belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "telemetry/series.hpp"

namespace weir::telemetry {

// One value of a series, which is named by its place in SeriesTable.
struct Point {
  std::uint32_t series = 0;
  Nanoseconds time = 0;
  std::uint64_t value = 0;
  bool operator==(const Point&) const = default;
};

// Series by number, in the order in which they were first seen. Looking one up costs one hash of its names
// per record, not per value.
class SeriesTable {
 public:
  SeriesTable();
  SeriesTable(SeriesTable&&) noexcept;
  SeriesTable& operator=(SeriesTable&&) noexcept;
  ~SeriesTable();

  // A component of a node (with a job), by number.
  std::uint32_t origin(std::string_view node, std::string_view component, std::string_view job);
  std::uint32_t series(std::uint32_t origin, CounterId counter);
  std::uint32_t series(const SeriesKey& key) {
    return series(origin(key.node, key.component, key.job), key.counter);
  }

  std::size_t size() const;
  SeriesKey key(std::uint32_t series) const;  // REQUIRES: < size()
  // Without a copy; valid until the table changes.
  CounterId counter_of(std::uint32_t series) const;
  std::string_view node_of(std::uint32_t series) const;
  std::string_view component_of(std::uint32_t series) const;
  std::string_view job_of(std::uint32_t series) const;
  bool same_origin(std::uint32_t series, std::uint32_t other) const;
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Batch {
  SeriesTable table;
  std::vector<Point> points;

  void add(const SeriesKey& key, Nanoseconds time, std::uint64_t value) {
    points.push_back({table.series(key), time, value});
  }
  void add(const Sample& sample) { add(sample.key, sample.time, sample.value); }
  Sample sample(std::size_t point) const;
  void clear();  // keeps the memory
};

// What came in and what did not.
struct Tally {
  std::uint64_t records = 0;   // taken in
  std::uint64_t samples = 0;   // their values
  std::uint64_t rejected = 0;  // records, lines or messages that were not taken in
  std::uint64_t ignored = 0;   // members of records that are no counters

  Tally& operator+=(const Tally& other);
  bool operator==(const Tally&) const = default;
};

// One record as JSON. `event_time` is the time that came with it. Nothing is added to the batch on failure.
Status add_record(Batch& batch, Nanoseconds event_time, const Json& record, Tally& tally);

// How many points from `first` on make one record: of one node, component, job and time.
std::size_t same_record(const Batch& batch, std::size_t first);

// Those points as such a record: what `weir collect` writes and sends.
Json record_to_json(const Batch& batch, std::size_t first, std::size_t count);

}  // namespace weir::telemetry
