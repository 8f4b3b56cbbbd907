#include "bench_rank.hpp"

#include <fcntl.h>
#include <sched.h>

#include <cstdlib>

#include <fmt/format.h>
#include <mpi.h>

#include <filesystem>

#include "backends/backend.hpp"
#include "core/file.hpp"
#include "plan/plan_json.hpp"
#include "workloads/share.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

std::vector<int> cores_of_server(int compute_rank) {
  const char* path = std::getenv("WEIR_PLAN");
  const auto plan = path == nullptr ? Result<Plan>(Plan()) : load_plan(path);
  const auto rank = static_cast<std::size_t>(compute_rank);
  if (!plan || plan->roles.server_of.size() <= rank) return {};
  const std::uint32_t server = plan->roles.server_of[rank];
  if (plan->placement.pus_of.size() <= server) return {};
  const auto pus = plan->placement.pus_of[server];
  return {pus.begin(), pus.end()};
}

TransportMeter::TransportMeter(Session& session) : session_(session), before_(session.summary()) {}

double TransportMeter::bytes_per_second() const {
  const Summary now = session_.summary();
  const double seconds =
      workloads::slowest(now.transport_seconds - before_.transport_seconds, session_.compute());
  auto bytes = static_cast<double>(now.transport_bytes - before_.transport_bytes);
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, session_.compute());
  return seconds > 0 ? bytes / seconds : 0;
}

namespace {

// The kernel keeps the pages of a removed file for the core that removed it, and new ones can be slow (in a
// virtual machine, ten times): so files are removed on the core that writes the next one. Synchronous writers
// are not helped by this more than servers are.
class OnWritersCore {
 public:
  OnWritersCore() {
    const std::vector<int> pus = cores_of_server(0);
    if (pus.empty() || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (const int pu : pus) CPU_SET(static_cast<std::size_t>(pu), &cores);
    moved_ = ::sched_setaffinity(0, sizeof cores, &cores) == 0;
  }
  OnWritersCore(const OnWritersCore&) = delete;
  OnWritersCore& operator=(const OnWritersCore&) = delete;
  ~OnWritersCore() {
    if (moved_) ::sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  bool moved_ = false;
};

}  // namespace

void RemovedFiles::add(const BenchJob& job, const std::string& path) {
  MPI_Barrier(session_.compute());
  if (workloads::rank_in(session_.compute()) != 0) return;
  const auto hold = [&](const fs::path& file) {
    if (auto held = open_file(file, O_RDONLY)) open_.push_back(std::move(*held));
  };
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    for (const auto& entry : fs::recursive_directory_iterator(path, ignored)) {
      if (entry.is_regular_file(ignored)) hold(entry.path());
    }
  } else {
    hold(path);
  }
  fs::remove_all(path, ignored);
  if (const auto entry = backends::find(job.backend)) {
    for (const std::string_view companion : (*entry)->companions)
      fs::remove(path + std::string(companion), ignored);
  }
}

void RemovedFiles::let_go() {
  if (open_.empty()) return;
  const OnWritersCore here;
  open_.clear();
}

void let_servers_warm_up(Session& session, const BenchJob& job, const std::string& path,
                         const std::function<void()>& compute) {
  constexpr double enough = 0.8;  // seconds
  const bool has_one = !cores_of_server(workloads::rank_in(session.compute())).empty();
  if (workloads::slowest(has_one ? 1 : 0, session.compute()) == 0) return;
  File idle = session.create(path, {.backend = job.backend});
  const double start = MPI_Wtime();
  for (double passed = 0; passed < enough;
       passed = workloads::slowest(MPI_Wtime() - start, session.compute()))
    compute();
  idle.close();
}

namespace {

BenchSample measured(const Measure& measure, const BenchJob::Case& one) {
  try {
    return measure(one);
  } catch (const Error& error) {
    return {.values = {}, .verified = false, .failure = error.what()};
  }
}

// On the compute ranks; the servers stay inside the session's constructor.
Result<Json> run_job(const BenchJob& job, const Prepare& prepare) {
  try {
    Session session(MPI_COMM_WORLD);
    std::vector<BenchSample> samples;
    {
      const Measure measure = prepare(session, job);
      for (const BenchJob::Case& one : job.cases) {
        samples.push_back(measured(measure, one));
        if (!job.keep) RemovedFiles(session).add(job, one.path);
      }
    }
    const Summary summary = session.summary();
    session.end();
    return Json{{"samples", samples_to_json(samples)}, {"transports", summary.transports}};
  } catch (const Error& error) {  // a plan that cannot be followed, say: the same on every rank
    return fail(error.code(), error.what());
  }
}

}  // namespace

Status run_bench_rank(const std::string& job_path, const Prepare& prepare) {
  // Threads may write beside us. Where MPI has less to offer, the mode that needs them says so itself.
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto run = [&]() -> Status {
    WEIR_ASSIGN(const Json json, load_json(job_path));
    WEIR_ASSIGN(const BenchJob job, job_from_json(json));
    const Result<Json> results = run_job(job, prepare);
    if (rank != 0) return {};  // the first rank computes in every mapping
    return write_text_atomically(job.results,
                                 (results ? *results : Json{{"failure", results.error().message()}}).dump());
  };
  Status status;
  try {
    status = run();
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "weir: rank {}: out of memory; use a smaller size or fewer ranks\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}

}  // namespace weir::cli
