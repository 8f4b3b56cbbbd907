// One rank of `weir bench stream`.
#include <sched.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "bench_rank.hpp"
#include "core/core_distance.hpp"
#include "core/no_signals.hpp"
#include "core/this_thread.hpp"
#include "workloads/memcpy_rate.hpp"
#include "workloads/plain_writer.hpp"
#include "workloads/share.hpp"
#include "workloads/stream.hpp"

namespace weir::cli {

namespace {

using workloads::kernel_names;
using workloads::PlainWriter;
using workloads::StreamArrays;
using workloads::StreamSettings;
using workloads::StreamTimes;

void add_kernels(BenchSample& sample, const std::string& prefix, const StreamTimes& times) {
  sample.values[prefix + "compute"] = times.compute();
  for (std::size_t k = 0; k < kernel_names.size(); ++k)
    sample.values[prefix + kernel_names[k]] = times.kernels[k];
}

bool may_run_on_any(const std::vector<int>& cores) {
  cpu_set_t mine;
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return true;
  return std::any_of(cores.begin(), cores.end(),
                     [&](int core) { return CPU_ISSET(static_cast<std::size_t>(core), &mine); });
}

class StreamMeasure {
 public:
  StreamMeasure(Session& session, const BenchJob& job)
      : session_(session),
        job_(job),
        arrays_(session, job.common.at("elements").get<std::uint64_t>()),
        removed_(session),
        writer_cores_(cores_of_server(workloads::rank_in(session.compute()))),
        turns_(workloads::slowest(writer_cores_.empty() ? 1 : 0, session.compute()) > 0
                   ? 1
                   : job.common.at("turns").get<int>()) {}

  BenchSample measure(const BenchJob::Case& one) {
    const StreamSettings settings{.elements = job_.common.at("elements").get<std::uint64_t>(),
                                  .loops = one.parameters.at("loops").get<int>(),
                                  .write_every = one.parameters.at("write_every").get<int>(),
                                  .spread = one.parameters.at("spread").get<bool>(),
                                  .tests = one.tests,
                                  .weir_arrays = one.arrays == "weir",
                                  .path = one.path,
                                  .backend = job_.backend};
    BenchSample sample;
    warm_up(settings);
    // Half of plain STREAM before and half after, so that a machine that changes meanwhile hits both alike.
    Comparison here;
    if (job_.plain) here.plain += plain_stream(settings, (settings.loops + 1) / 2);
    const TransportMeter transport(session_);
    removed_.let_go();
    const StreamTimes times = workloads::run_stream(session_, arrays_, settings);
    sample.values["transport_bytes_per_second"] = transport.bytes_per_second();
    verify(settings, sample);
    if (job_.plain) {
      const auto other_rhythm = one.parameters.find("slowdown_write_every");
      if (other_rhythm == one.parameters.end()) add_floor(here, settings);
      here.plain += plain_stream(settings, settings.loops / 2);
      here.slowed = times;
      if (other_rhythm == one.parameters.end()) {
        add_comparison(sample, here);
      } else {
        if (!job_.keep) removed_.add(job_, settings.path);
        sample.values["busy_plain_compute"] = here.plain.compute();
        add_comparison(sample, compare(settings, other_rhythm->get<int>()));
      }
      add_memcpy(sample);
      add_distance(sample);
    }
    add_kernels(sample, "", times);
    sample.values["send"] = times.send;
    sample.values["wait"] = times.wait;
    sample.values["open_close"] = times.open_close;
    sample.values["wall"] = times.wall;
    sample.values["server_peak_memory"] = static_cast<double>(session_.summary().peak_memory);
    return sample;
  }

 private:
  void verify(const StreamSettings& settings, BenchSample& sample) {
    if (!job_.verify) return;
    const Status right = workloads::verify_stream(session_, settings);
    sample.verified = right.has_value();
    if (!right) sample.failure = right.error().message();
  }

  // The same loops without the library, beside it, and beside somebody who merely writes.
  struct Comparison {
    StreamTimes plain, slowed, floor;
    bool has_floor = false;
  };

  static void add_comparison(BenchSample& sample, const Comparison& comparison) {
    add_kernels(sample, "plain_", comparison.plain);
    add_kernels(sample, "slowed_", comparison.slowed);
    if (comparison.has_floor) add_kernels(sample, "floor_", comparison.floor);
  }

  StreamArrays& arrays_for(const StreamSettings& settings) {
    if (settings.elements == job_.common.at("elements").get<std::uint64_t>()) return arrays_;
    if (!slowdown_arrays_) slowdown_arrays_.emplace(session_, settings.elements);
    return *slowdown_arrays_;
  }

  StreamTimes plain_stream(StreamSettings settings, int loops) {
    settings.loops = loops;
    return loops > 0 ? workloads::run_plain_stream(session_, arrays_for(settings), settings) : StreamTimes{};
  }

  // Programs compute more between writes than is needed to hide them; how much they are slowed by them is
  // another question than how much is hidden at the least, asked in another rhythm and with other arrays.
  Comparison compare(StreamSettings settings, int write_every) {
    settings.elements = job_.common.at("slowdown_elements").get<std::uint64_t>();
    settings.write_every = write_every;
    settings.loops = job_.common.at("slowdown_writes").get<int>() * write_every;
    settings.path += ".slowdown";
    run_and_remove(settings);
    Comparison comparison;
    for (int turn = 0; turn < turns_; ++turn) {
      comparison.plain += plain_stream(settings, (settings.loops + 1) / 2);
      comparison.slowed += run_and_remove(settings);
      add_floor(comparison, settings);
      comparison.plain += plain_stream(settings, settings.loops / 2);
    }
    return comparison;
  }

  StreamTimes run_and_remove(const StreamSettings& settings) {
    removed_.let_go();
    const StreamTimes times = workloads::run_stream(session_, arrays_for(settings), settings);
    removed_.add(job_, settings.path);
    return times;
  }

  // Memory that was never used, here, in a server and in the system, is slow once: not while we measure.
  void warm_up(StreamSettings settings) {
    settings.path += ".warm-up";
    run_and_remove(settings);
    if (warm_ || !job_.plain) return;
    let_servers_warm_up(session_, job_, settings.path, [&] { plain_stream(settings, 1); });
    removed_.add(job_, settings.path);
    run_and_remove(settings);  // what was not in use the first time since others were slower
    warm_ = true;
  }

  // Virtual machines move their cores about, and what a neighbour costs depends on how near it is.
  void add_distance(BenchSample& sample) const {
    double nanoseconds = 0;
    if (!writer_cores_.empty() && !may_run_on_any(writer_cores_)) {
      CoreDistance distance;
      std::thread there = thread_without_signals([&] {
        run_this_thread_on(writer_cores_);
        distance.answer();
      });
      nanoseconds = distance.measure().value_or(0);
      there.join();
    }
    nanoseconds = workloads::slowest(nanoseconds, session_.compute());
    if (nanoseconds > 0) sample.values["core_distance_ns"] = nanoseconds;
  }

  // Plain STREAM beside somebody who writes as much at the same moments, on the server's core, and copies it
  // before if it is the program's: no server can be a better neighbour.
  void add_floor(Comparison& comparison, const StreamSettings& settings) {
    const bool has_none = writer_cores_.empty() || may_run_on_any(writer_cores_);
    if (workloads::slowest(has_none ? 1 : 0, session_.compute()) > 0) return;
    PlainWriter writer(
        {.path = settings.path + ".floor." + std::to_string(workloads::rank_in(session_.compute())),
         .bytes = arrays_for(settings).a.size() * sizeof(double),
         .copies = !settings.weir_arrays,
         .to_disk = job_.to_disk,
         .cores = writer_cores_});
    removed_.let_go();
    const StreamTimes times =
        workloads::run_plain_stream(session_, arrays_for(settings), settings, [&] { writer.write(); });
    comparison.has_floor = writer.finish().has_value();
    if (comparison.has_floor) comparison.floor += times;
  }

  void add_memcpy(BenchSample& sample) {
    const auto compute = [&] {
      StreamSettings loop;
      workloads::run_plain_stream(session_, arrays_, loop);
    };
    std::vector<double> copy(arrays_.a.size());
    sample.values["memcpy_bytes_per_second"] =
        workloads::memcpy_rate(session_.compute(), arrays_.a, copy, compute);
    sample.values["memcpy_again_bytes_per_second"] =
        workloads::memcpy_rate(session_.compute(), arrays_.a, copy);
  }

  Session& session_;
  const BenchJob& job_;
  StreamArrays arrays_;
  std::optional<StreamArrays> slowdown_arrays_;  // of another size
  RemovedFiles removed_;
  std::vector<int> writer_cores_;
  // Where nobody writes beside the program there is nothing to be told apart closely: once is enough.
  int turns_;
  bool warm_ = false;
};

}  // namespace

Status run_stream_rank(const std::string& job_path) {
  return run_bench_rank(job_path, [](Session& session, const BenchJob& job) -> Measure {
    auto state = std::make_shared<StreamMeasure>(session, job);
    return [state](const BenchJob::Case& one) { return state->measure(one); };
  });
}

}  // namespace weir::cli
