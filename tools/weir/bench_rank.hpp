// The side of the ranks of `weir bench`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench.hpp"
#include "weir/weir.hpp"

namespace weir::cli {

// Measures one case; throws weir::Error, the same on every compute rank. COLLECTIVE over them.
using Measure = std::function<BenchSample(const BenchJob::Case&)>;
// Makes what all cases of a job share: arrays, say.
using Prepare = std::function<Measure(Session&, const BenchJob&)>;

// Runs a job: initialises and finalises MPI, starts the session (I/O servers stay in it), measures all cases,
// stores what was measured. Failures are stored, too, those of a case with the case: the result is a failure
// only when nothing could be stored. Not more than once in a process.
Status run_bench_rank(const std::string& job_path, const Prepare& prepare);

// Removes what a case wrote. COLLECTIVE over the compute ranks.
void remove_bench_file(Session& session, const BenchJob& job, const std::string& path);

// The cores of the server of a compute rank, as the plan in the environment says; empty: it has none. LOCAL.
std::vector<int> cores_of_server(int compute_rank);

// How fast data has been moved to the servers since it was made: bytes a second of all ranks, 0 where none
// was moved. COLLECTIVE over the compute ranks.
class TransportMeter {
 public:
  explicit TransportMeter(Session& session);
  double bytes_per_second() const;

 private:
  Session& session_;
  Summary before_;
};

Status run_stream_rank(const std::string& job_path);
Status run_hpcg_rank(const std::string& job_path);

}  // namespace weir::cli
