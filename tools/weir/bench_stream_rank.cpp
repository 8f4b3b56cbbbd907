// One rank of `weir bench stream`.
#include "bench_rank.hpp"
#include "workloads/memcpy_rate.hpp"
#include "workloads/stream.hpp"

namespace weir::cli {

namespace {

using workloads::kernel_names;
using workloads::StreamArrays;
using workloads::StreamSettings;
using workloads::StreamTimes;

void add_kernels(BenchSample& sample, const std::string& prefix, const StreamTimes& times) {
  sample.values[prefix + "compute"] = times.compute();
  for (std::size_t k = 0; k < kernel_names.size(); ++k)
    sample.values[prefix + kernel_names[k]] = times.kernels[k];
}

class StreamMeasure {
 public:
  StreamMeasure(Session& session, const BenchJob& job)
      : session_(session),
        job_(job),
        elements_(job.common.at("elements").get<std::uint64_t>()),
        arrays_(session, elements_) {}

  BenchSample measure(const BenchJob::Case& one) {
    StreamSettings settings{.elements = elements_,
                            .loops = one.parameters.at("loops").get<int>(),
                            .write_every = one.parameters.at("write_every").get<int>(),
                            .spread = one.parameters.at("spread").get<bool>(),
                            .tests = one.tests,
                            .weir_arrays = one.arrays == "weir",
                            .path = one.path,
                            .backend = job_.backend};
    // Memory that was never used, here and in a server, is slow once: not while we measure.
    StreamSettings once = settings;
    once.path += ".warm-up";
    workloads::run_stream(session_, arrays_, once);
    remove_bench_file(session_, job_, once.path);

    BenchSample sample;
    // Half of plain STREAM before and half after, so that a machine that changes meanwhile hits both alike.
    StreamSettings half = settings;
    half.loops = (settings.loops + 1) / 2;
    StreamTimes plain;
    if (job_.plain) plain += workloads::run_plain_stream(session_, arrays_, half);
    const StreamTimes times = workloads::run_stream(session_, arrays_, settings);
    if (job_.plain) {
      half.loops = settings.loops / 2;
      if (half.loops > 0) plain += workloads::run_plain_stream(session_, arrays_, half);
      add_kernels(sample, "plain_", plain);
      sample.values["memcpy_bytes_per_second"] =
          workloads::memcpy_rate(session_.compute(), arrays_.a, arrays_.c);
    }
    add_kernels(sample, "", times);
    sample.values["send"] = times.send;
    sample.values["wait"] = times.wait;
    sample.values["open_close"] = times.open_close;
    sample.values["wall"] = times.wall;
    const Summary summary = session_.summary();
    sample.values["transport_bytes_per_second"] = summary.transport_bytes_per_second;
    sample.values["server_peak_memory"] = static_cast<double>(summary.peak_memory);
    if (job_.verify) {
      const Status right = workloads::verify_stream(session_, settings);
      sample.verified = right.has_value();
      if (!right) sample.failure = right.error().message();
    }
    return sample;
  }

 private:
  Session& session_;
  const BenchJob& job_;
  std::uint64_t elements_;
  StreamArrays arrays_;
};

}  // namespace

Status run_stream_rank(const std::string& job_path) {
  return run_bench_rank(job_path, [](Session& session, const BenchJob& job) -> Measure {
    auto state = std::make_shared<StreamMeasure>(session, job);
    return [state](const BenchJob::Case& one) { return state->measure(one); };
  });
}

}  // namespace weir::cli
