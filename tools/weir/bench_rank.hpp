// The side of the ranks of `weir bench`.
#pragma once

#include <functional>
#include <string>

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

Status run_stream_rank(const std::string& job_path);
Status run_hpcg_rank(const std::string& job_path);

}  // namespace weir::cli
