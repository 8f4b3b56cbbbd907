// The figures of a job made of what was observed: metrics as the paper on holistic logs defines them and ours
// beside them, timelines, and the matrices of heat maps.
//
// Threads: pure functions.
#pragma once

#include <vector>

#include "analysis/job_analysis.hpp"
#include "analysis/observations.hpp"
#include "analysis/serving.hpp"

namespace weir::analysis {

// What turns counts into seconds and shares, and the scales of pictures.
struct Machine {
  double link_bytes_per_second = 0;  // one direction; 0: not known
  double clock_hz = 0;               // of wait counters; 0: not known
  double target_scale = 0;  // highest throughput of a target in heat maps, bytes/s; 0: what the job reached
  std::vector<std::string> links;  // in the order in which they are shown
};

// The K computer's pictures run to 160 MiB/s.
Machine machine_of(const std::optional<store::Topology>& topology);

std::vector<Timeline> make_timelines(const Observations& seen, const Machine& machine);

// `timelines` give the spread over time and the correlation with throughput.
std::vector<Metric> make_metrics(const Observations& seen, const Machine& machine,
                                 const std::vector<Timeline>& timelines);

std::vector<Matrix> make_matrices(const Observations& seen, const Serving& serving, const Machine& machine);

// The counters that tell a job's reads and writes: of OSTs, else of the disks below file systems.
struct Traffic {
  const CounterParts* read = nullptr;
  const CounterParts* write = nullptr;
  std::string part;  // "OST", "device", or empty: neither is known
};
Traffic traffic_of(const Observations& seen);

// Devices made of other devices (loop, dm, md, ...) would count bytes twice.
bool is_stacked_device(std::string_view name);

// The next of 1, 2, 5, 10, ... times a power of ten; for scales. 1 for what is not positive.
double round_up(double value);

}  // namespace weir::analysis
