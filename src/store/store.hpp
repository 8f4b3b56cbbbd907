// The store: jobs, nodes, topology, and counters as series. A SQLite file, or a PostgreSQL database of a
// site.
//
//     auto store = Store::open("site.db");                        // or
//     "postgresql:///weir?host=/run/postgresql" store->write(batch); // returns when it is on disk
//     store->read({.counters = {"ost.write_bytes"}, .from = job.start_ns, .to = job.end_ns},
//                 [&](const telemetry::Series& series) -> Status { ...; return {}; });
//
// What is acknowledged stays: every call that writes returns success only after its transaction is on disk,
// and a call that fails leaves nothing of itself behind. A killed process loses only calls that had not
// returned. The same sample again (same series, same time) replaces the one before: the last write wins, in
// whatever order times arrive.
//
// How series are kept: `write` appends what it gets as one compressed block (block.hpp). When many small
// blocks have gathered they are sorted into blocks of 480 neighbouring series; `compact` does so at once.
// Readers see the same samples before and after. Memory is bounded by the batch written, by one block, and on
// reading by the samples of 480 series in the window asked for.
//
// Several processes may write to one store at a time, and read meanwhile. Threads: a Store belongs to one
// thread at a time; threads that work side by side open one each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "store/job.hpp"
#include "store/node.hpp"
#include "telemetry/record.hpp"
#include "telemetry/series.hpp"

namespace weir::store {

enum class Access {
  read,    // a store that exists; nothing is changed, and the file may be on a read-only disk
  write,   // a store that exists
  create,  // made where there is none
};

struct TimeRange {
  telemetry::Nanoseconds from = INT64_MIN;
  telemetry::Nanoseconds to = INT64_MAX;  // exclusive

  bool operator==(const TimeRange&) const = default;
};

// Which series, and when. An empty list asks for all.
struct SeriesQuery {
  std::vector<std::string> counters;  // names; one that this build does not know is invalid_argument
  std::vector<std::string> nodes;
  std::vector<std::string> components;
  std::vector<std::string> jobs;  // only series kept per job, of these jobs
  telemetry::Nanoseconds from = INT64_MIN;
  telemetry::Nanoseconds to = INT64_MAX;  // exclusive
  // The window is widened by this on both sides: differences of cumulative counters then reach over its
  // borders.
  telemetry::Nanoseconds margin = 0;
};

struct JobQuery {
  std::vector<std::string> ids;    // empty: all
  std::string user;                // empty: all
  TimeRange window;                // jobs that ran at some time in it
  std::size_t at_most = SIZE_MAX;  // the latest ones
  bool with_nodes = true;          // else `nodes` stays empty; node_count is always there
};

struct NodeQuery {
  std::vector<NodeRole> roles;     // empty: all
  std::vector<std::string> names;  // empty: all
};

struct CounterSummary {
  std::string name;
  std::uint64_t series = 0;
};

struct Summary {
  std::string location;
  std::string format;  // "SQLite" or "PostgreSQL"
  int version = 0;     // of the schema
  std::uint64_t bytes = 0;
  std::uint64_t jobs = 0, nodes = 0, series = 0, blocks = 0, small_blocks = 0;
  std::uint64_t samples = 0;  // those written again counted until they are compacted
  TimeRange times;            // of the samples, `to` exclusive; from == to: there are none
};

class Store {
 public:
  // A path, or postgresql://... Refused, with what to do, are files of other programs and stores of a newer
  // Weir; an older store is brought up to date when it is opened for writing.
  static Result<Store> open(const std::string& location, Access access = Access::create);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Series. `write` of columns is the quick way for much data: long series become blocks at once.
  Status write(const telemetry::Batch& batch);
  Status write(std::span<const telemetry::Series> columns);
  // Calls `each` once per series that has samples there, times ascending; ends early with the first failure
  // that `each` returns. `each` must not use the store.
  Status read(const SeriesQuery& query, const std::function<Status(const telemetry::Series&)>& each);
  Result<std::vector<telemetry::Series>> read_all(const SeriesQuery& query);  // all of it in memory
  Result<std::vector<CounterSummary>> counters();
  Result<TimeRange> times();  // of all samples; from == to: there are none

  // Jobs. A job written again replaces the one of that id.
  Status put(const Job& job);
  Status put(std::span<const Job> jobs);                      // all or none
  Result<Job> job(const std::string& id);                     // not_found names ids that are close
  Result<std::vector<Job>> jobs(const JobQuery& query = {});  // latest start first
  // Sets state, end and figures of a job that is there; figures are added to those it has.
  Status finish(const std::string& id, JobState state, telemetry::Nanoseconds end_ns,
                const std::map<std::string, double>& figures = {});

  // Nodes and topology. A node written again replaces the one of that name.
  Status put(std::span<const Node> nodes);                       // all or none
  Result<std::vector<Node>> nodes(const NodeQuery& query = {});  // in the order in which they were first put
  Status put(const Topology& topology);                          // a store has one
  Result<std::optional<Topology>> topology();

  // Upkeep.
  Result<Summary> summary();
  struct Compacted {
    std::uint64_t blocks_before = 0, blocks_after = 0;
  };
  Result<Compacted> compact();  // small blocks into large ones; in steps, each of them a transaction
  // Every block is unpacked and every row looked at; sentences of what is wrong, none if all is well.
  Result<std::vector<std::string>> check();

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weir::store
