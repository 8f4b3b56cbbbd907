// One rank of `weir bench hpcg`.
#include <optional>

#include "bench_rank.hpp"
#include "workloads/hpcg.hpp"
#include "workloads/memcpy_rate.hpp"
#include "workloads/share.hpp"

namespace weir::cli {

namespace {

using workloads::HpcgProblem;
using workloads::HpcgSettings;
using workloads::HpcgTimes;

workloads::GridPart part_of(Session& session, const Json& parameters) {
  const auto points = parameters.at("grid").get<std::vector<std::int64_t>>();
  auto part =
      workloads::make_grid({points.at(0), points.at(1), points.at(2)}, parameters.at("strong").get<bool>(),
                           workloads::rank_in(session.compute()), workloads::ranks_in(session.compute()));
  if (!part) throw part.error().to_exception();
  return *part;
}

class HpcgMeasure {
 public:
  HpcgMeasure(Session& session, const BenchJob& job)
      : session_(session), job_(job), part_(part_of(session, job.common)) {}

  BenchSample measure(const BenchJob::Case& one) {
    const HpcgSettings settings{.sets = job_.common.at("sets").get<int>(),
                                .iterations = job_.common.at("iterations").get<int>(),
                                .tests = one.tests,
                                .weir_arrays = one.arrays == "weir",
                                .path = one.path,
                                .backend = job_.backend};
    BenchSample sample;
    prepare(settings.weir_arrays, sample);
    RemovedFiles removed(session_);
    warm_up(settings, removed);
    if (job_.plain) {
      sample.values["plain_compute"] =
          workloads::run_plain_hpcg(session_, *problem_, settings).compute * settings.sets;
      std::vector<double> copy(problem_->matrix().size());
      sample.values["memcpy_bytes_per_second"] =
          workloads::memcpy_rate(session_.compute(), problem_->matrix(), copy);
    }
    workloads::HpcgSolutions kept;
    const TransportMeter transport(session_);
    removed.let_go();
    const HpcgTimes times = workloads::run_hpcg(session_, *problem_, settings, job_.verify ? &kept : nullptr);
    sample.values["compute"] = sample.values["slowed_compute"] = times.compute;
    sample.values["send"] = times.send;
    sample.values["wait"] = times.wait;
    sample.values["open_close"] = times.open_close;
    sample.values["wall"] = times.wall;
    sample.values["memory_traffic_bytes"] = times.traffic;
    sample.values["effective_bytes_per_second"] = times.effective_bandwidth();
    sample.values["relative_residual"] = times.relative_residual;
    sample.values["transport_bytes_per_second"] = transport.bytes_per_second();
    sample.values["server_peak_memory"] = static_cast<double>(session_.summary().peak_memory);
    if (job_.verify) {
      const Status right = workloads::verify_hpcg(session_, *problem_, settings, kept);
      sample.verified = right.has_value();
      if (!right) sample.failure = right.error().message();
    }
    return sample;
  }

 private:
  // Memory that was never used, here and in a server, is slow once: not while we measure.
  void warm_up(HpcgSettings once, RemovedFiles& removed) {
    once.sets = once.iterations = 1;
    once.path += ".warm-up";
    const auto run_and_remove = [&] {
      workloads::run_hpcg(session_, *problem_, once, nullptr);
      removed.add(job_, once.path);
    };
    run_and_remove();
    if (warm_) return;
    let_servers_warm_up(session_, job_, once.path,
                        [&] { workloads::run_plain_hpcg(session_, *problem_, once); });
    removed.add(job_, once.path);
    run_and_remove();
    warm_ = true;
  }

  void prepare(bool weir_arrays, BenchSample& sample) {
    if (!problem_ || problem_->weir_arrays() != weir_arrays) {
      problem_.emplace(session_, part_, weir_arrays);
    }
    if (!job_.validate) return;
    const auto found = workloads::validate_hpcg(session_, *problem_);
    if (!found) throw found.error().to_exception();
    sample.values["symmetry_matrix"] = found->symmetry.matrix;
    sample.values["symmetry_preconditioner"] = found->symmetry.preconditioner;
    sample.values["validation_iterations"] = found->solve.iterations;
    sample.values["validation_residual"] = found->solve.relative();
    sample.values["validation_error"] = found->error;
  }

  Session& session_;
  const BenchJob& job_;
  workloads::GridPart part_;
  std::optional<HpcgProblem> problem_;
  bool warm_ = false;
};

}  // namespace

Status run_hpcg_rank(const std::string& job_path) {
  return run_bench_rank(job_path, [](Session& session, const BenchJob& job) -> Measure {
    auto state = std::make_shared<HpcgMeasure>(session, job);
    return [state](const BenchJob::Case& one) { return state->measure(one); };
  });
}

}  // namespace weir::cli
