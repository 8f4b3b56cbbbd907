// The side of the ranks of `weir bench`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench.hpp"
#include "core/file.hpp"
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

// What cases wrote, removed, but its memory not free yet. A virtual machine may give memory that is free for
// a second back to its host, and gets it again page by page, at a tenth of the speed of a write: what is let
// go of just before the next file is written, that file has at once. COLLECTIVE over the compute ranks.
class RemovedFiles {
 public:
  explicit RemovedFiles(Session& session) : session_(session) {}
  ~RemovedFiles() { let_go(); }
  RemovedFiles(const RemovedFiles&) = delete;
  RemovedFiles& operator=(const RemovedFiles&) = delete;
  void add(const BenchJob& job, const std::string& path);
  void let_go();

 private:
  Session& session_;
  std::vector<Descriptor> open_;  // on the first rank
};

// Computes for a while beside an open file, in which servers take memory into use that they will need: not
// while we measure. Programs compute before they write, too. Nothing where there is no server. COLLECTIVE
// over the compute ranks.
void let_servers_warm_up(Session& session, const BenchJob& job, const std::string& path,
                         const std::function<void()>& compute);

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
