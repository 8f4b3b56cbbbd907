// Site logs to try things on: the K computer as section 3.1 of the EARTH paper gives it, with jobs and
// counters that never were. Some of the jobs have something wrong with them; which ones, and what, is told by
// planted() and written nowhere in the store, so that an analysis has to find it.
//
// The machine: X x Y = 24 x 18 cabinets, each with Z = 0..16, A = 0..1, B = 0..2, C = 0..1. Z = 0 are the
// 5,184 I/O nodes, the rest are the 82,944 compute nodes. A cabinet is two racks of 96 compute and 6 I/O
// nodes: Z = 1..8 with the I/O nodes of A = 0, and Z = 9..16 with those of A = 1. Of its 12 I/O nodes the six
// with C = 0 are local-I/O nodes with two OSTs each; of the others B = 0 are boot-I/O and B = 1, 2 global-I/O
// nodes. So the paper's job of 8 x 12 x 32 nodes, which is 4 x 4 cabinets, has 192 OSTs: 16 x 12 of them in
// the plane.
//
// Everything follows from the options; the same options give the same samples. Memory does not grow with the
// time generated. Threads: plain values and functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.hpp"

namespace weir::store {

std::vector<Node> k_computer_nodes();  // compute nodes first
Topology k_computer_topology();

enum class Fault {
  none,
  slow_target,         // one OST is far slower than the others
  half_of_targets,     // half of the OSTs carry all the load
  other_job,           // another job on the same servers makes most of the traffic
  hot_link,            // packets wait at one link of one I/O node
  deep_queues,         // requests queue up at the servers while the links are idle
  sampling_gap,        // samples are missing
  counter_reset,       // servers began to count anew
  unbalanced_servers,  // the load differs much from server to server
};
std::string_view to_string(Fault fault);

struct SyntheticOptions {
  telemetry::Nanoseconds start = 1'564'617'600'000'000'000;  // 2019-08-01 00:00 UTC
  telemetry::Nanoseconds interval = 60'000'000'000;
  std::uint64_t intervals = 90;
  std::uint64_t seed = 1;
  bool whole_machine = true;  // else only the I/O nodes that serve a job, and only nodes of their cabinets
  bool busy = false;  // every part of the machine runs one healthy job after another, beside the usual ones
};

struct PlannedJob {
  Job job;
  Fault fault = Fault::none;
  int x = 0, y = 0;              // its first cabinet; it has 4 x 4 of them
  int first_z = 1, last_z = 16;  // and these of their compute nodes
  double target_rate = 0;        // bytes/s written to each of its OSTs
};

// The jobs, in order of their start. Which one has which fault depends on the seed.
std::vector<PlannedJob> k_computer_jobs(const SyntheticOptions& options);

// What there is to find: id of a job, and its fault. Jobs with none are left out.
struct Planted {
  std::string job;
  Fault fault = Fault::none;
};
std::vector<Planted> planted(const SyntheticOptions& options);

// Nodes, topology, jobs and counters into a store. `progress` hears how many samples are written.
struct SyntheticTally {
  std::uint64_t nodes = 0, jobs = 0, series = 0, samples = 0;
};
Result<SyntheticTally> write_k_computer(Store& store, const SyntheticOptions& options,
                                        const std::function<void(std::uint64_t samples)>& progress = {});

// The counters alone, to measure how quickly a store takes them: `each` gets many series over a stretch of
// time.
Status generate_k_counters(const SyntheticOptions& options,
                           const std::function<Status(const std::vector<telemetry::Series>&)>& each);

}  // namespace weir::store
