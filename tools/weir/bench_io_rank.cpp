// One rank of an I/O benchmark.
#include <fmt/format.h>
#include <mpi.h>

#include <filesystem>
#include <memory>

#include "bench_io.hpp"
#include "core/file.hpp"
#include "mpi/comm.hpp"
#include "workloads/collective_io.hpp"
#include "workloads/planned_shuffle.hpp"
#include "workloads/share.hpp"

namespace weir::cli {

namespace {

struct IoJob {
  workloads::IoWorkload workload;
  std::vector<int> aggregators;
  bool planned = false, bare = false, segmented = false, verify = true;
  std::string path;       // of the file that is written
  std::string read_path;  // of the file that is read
  std::string results;
  std::int64_t samples = 1;
};

Result<IoJob> job_from(const std::string& file) {
  WEIR_ASSIGN(const Json json, load_json(file));
  WEIR_ASSIGN(const JsonObject object, JsonObject::of(json, "job"));
  IoJob job;
  WEIR_ASSIGN(const Json* workload, object.any("workload"));
  WEIR_ASSIGN(job.workload, workloads::io_workload_from_json(*workload));
  WEIR_ASSIGN(job.planned, object.boolean("planned"));
  WEIR_ASSIGN(job.bare, object.boolean("bare"));
  WEIR_ASSIGN(job.segmented, object.boolean("segmented"));
  WEIR_ASSIGN(job.verify, object.boolean("verify"));
  WEIR_ASSIGN(job.path, object.text("path"));
  WEIR_ASSIGN(job.read_path, object.text("read_path"));
  WEIR_ASSIGN(job.results, object.text("results"));
  WEIR_ASSIGN(job.samples, object.integer("samples"));
  WEIR_ASSIGN(const Json* aggregators, object.array("aggregators"));
  for (const Json& rank : *aggregators) job.aggregators.push_back(rank.get<int>());
  return job;
}

// The program of this rank in one of the two ways, again and again.
class Bench {
 public:
  Bench(const mpi::Comm& comm, const IoJob& job)
      : comm_(comm),
        job_(job),
        program_(workloads::program_of(job.workload, static_cast<std::uint64_t>(comm.rank()))),
        accesses_(program_.all_accesses()),
        good_(program_.bytes()),
        read_(program_.bytes()) {
    workloads::fill(accesses_, good_.data());
    if (job.planned)
      shuffle_ = std::make_unique<workloads::PlannedShuffle>(
          comm.get(), job.workload, job.aggregators,
          job.segmented ? workloads::PlannedShuffle::Kind::segmented
                        : workloads::PlannedShuffle::Kind::two_phase);
  }

  Result<Json> measure(bool writes) {
    Json samples = Json::array();
    bool verified = true;
    if (!writes) {  // a file that is right whoever reads it
      if (job_.read_path == job_.path) remove_files();
      WEIR_TRY(mpi::agree(comm_, workloads::write_directly(job_.read_path, program_, good_.data())));
      comm_.barrier();
    }
    for (std::int64_t sample = 0; sample <= job_.samples; ++sample) {  // the first one warms up
      if (writes) remove_files();
      std::fill(read_.begin(), read_.end(), std::byte{});
      WEIR_ASSIGN(Json values, once(writes));
      if (job_.verify) {
        if (writes)
          verified = workloads::read_directly(job_.path, program_, read_.data()).has_value() && verified;
        verified = verified && !workloads::find_wrong(accesses_, read_.data());
      }
      if (sample > 0) samples.push_back(std::move(values));
    }
    return Json{{"samples", samples}, {"verified", job_.verify && comm_.min(verified ? 1 : 0) == 1}};
  }

  void remove_files() {
    comm_.barrier();
    std::error_code ignored;
    if (comm_.rank() == 0) {
      std::filesystem::remove(job_.path, ignored);
      std::filesystem::remove(job_.read_path, ignored);
    }
    comm_.barrier();
  }

 private:
  Result<Json> once(bool writes) {
    const auto total = static_cast<double>(comm_.sum(static_cast<std::int64_t>(program_.bytes())));
    if (shuffle_) {
      WEIR_ASSIGN(const workloads::ShuffleTimes times, writes ? shuffle_->write(job_.path, good_.data())
                                                              : shuffle_->read(job_.read_path, read_.data()));
      return Json{{"communication_seconds", times.communication},
                  {"io_seconds", times.io},
                  {"pack_seconds", times.pack},
                  {"assemble_seconds", times.assemble},
                  {"bytes", total},
                  {"cross_node_bytes", times.sent_between_nodes}};
    }
    if (job_.bare) return alone(writes, total);
    WEIR_ASSIGN(const workloads::CollectiveTimes times,
                writes ? workloads::write_collectively(comm_.get(), job_.path, program_, good_.data())
                       : workloads::read_collectively(comm_.get(), job_.read_path, program_, read_.data()));
    return Json{{"transfer_seconds", times.transfer},
                {"open_seconds", times.open},
                {"close_seconds", times.close},
                {"bytes", total},
                {"mb_per_s", total / times.transfer / 1e6},
                {"cross_node_bytes", times.sent_between_nodes}};
  }

  Result<Json> alone(bool writes, double total) {
    const workloads::NodeTraffic traffic(comm_.get());
    const std::uint64_t before = traffic.sent();
    comm_.barrier();
    const double start = MPI_Wtime();
    const Status done = writes ? workloads::write_directly(job_.path, program_, good_.data())
                               : workloads::read_directly(job_.read_path, program_, read_.data());
    // Who shares a core may begin when others are done: the first to leave one meeting waits in the next.
    comm_.barrier();
    const double seconds = workloads::slowest(MPI_Wtime() - start, comm_.get());
    WEIR_TRY(mpi::agree(comm_, done));
    return Json{{"transfer_seconds", seconds},
                {"bytes", total},
                {"mb_per_s", total / seconds / 1e6},
                {"cross_node_bytes", traffic.sent() - before}};
  }

  const mpi::Comm& comm_;
  const IoJob& job_;
  workloads::IoProgram program_;
  std::vector<pattern::Access> accesses_;
  std::vector<std::byte> good_, read_;
  std::unique_ptr<workloads::PlannedShuffle> shuffle_;
};

Result<Json> run_job(const mpi::Comm& comm, const IoJob& job) {
  if (workloads::ranks_of(job.workload) != static_cast<std::uint64_t>(comm.size()))
    return fail(ErrorCode::invalid_argument,
                fmt::format("a workload of {} ranks on {}", workloads::ranks_of(job.workload), comm.size()));
  Bench bench(comm, job);
  Json results = Json::object();
  for (const bool writes : {true, false}) {
    auto measured = bench.measure(writes);
    if (!measured) {
      bench.remove_files();
      return measured;
    }
    results[writes ? "write" : "read"] = std::move(*measured);
  }
  bench.remove_files();
  return results;
}

}  // namespace

Status run_io_rank(const std::string& job_file) {
  MPI_Init(nullptr, nullptr);
  Status status;
  try {
    const mpi::Comm comm = mpi::Comm::duplicate(MPI_COMM_WORLD);
    const auto job = job_from(job_file);
    if (!job) {
      status = tl::make_unexpected(job.error());
    } else {
      const Result<Json> results = run_job(comm, *job);
      if (comm.rank() == 0)
        status = write_text_atomically(
            job->results, (results ? *results : Json{{"failure", results.error().message()}}).dump());
    }
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "weir: out of memory; use a smaller size or fewer ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}

}  // namespace weir::cli
