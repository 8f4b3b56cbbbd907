// How long the analysis of a job takes over a big store, and how much memory. The data is the synthetic K
// computer's.
//
//   report_bench [--intervals 90] [--store FILE] [--k-day] [--day-job]
//
// --k-day:   a whole day at one minute, all parts of the machine at work: 187 million samples
// --store:   kept, and used again if it is there
// --day-job: a job of 3,072 nodes that lasts as long as the data, beside those that there are
//
// The analysis runs in a process of its own, so that its peak of memory is not that of making the data.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "analysis/analyse.hpp"
#include "store/store.hpp"
#include "store/synthetic_k.hpp"

namespace {

using namespace weir;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

rusage used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

double cpu_seconds() {
  const rusage usage = used();
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Memory of our own in MB, at most so far: pages of the store's file, which is mapped, belong to the system's
// cache.
long own_peak() {
  std::ifstream status("/proc/self/status");
  std::string word;
  long peak = 0;
  long mapped = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> peak;
    if (word == "RssFile:") status >> mapped;
  }
  return (peak - mapped) / 1024;
}

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "report_bench: {}\n", result.error().message());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void fill(const std::string& path, const store::SyntheticOptions& options) {
  store::Store store = must(store::Store::open(path));
  const double start = now();
  const store::SyntheticTally tally = must(store::write_k_computer(store, options));
  fmt::print("made {} samples of {} series and {} jobs in {:.0f} s\n", tally.samples, tally.series,
             tally.jobs, now() - start);
}

void add_day_job(const std::string& path) {
  store::Store store = must(store::Store::open(path));
  const std::vector<store::Job> jobs = must(store.jobs());
  const auto largest = std::max_element(
      jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.nodes.size() < b.nodes.size(); });
  store::Job job = *largest;
  job.id = "day";
  const store::TimeRange times = must(store.times());
  job.start_ns = times.from;
  job.end_ns = times.to;
  must(store.put(job));
}

void analyse_all(const std::string& path) {
  store::Store store = must(store::Store::open(path, store::Access::read));
  const store::Summary summary = must(store.summary());
  fmt::print(
      "store: {} samples, {} series, {} jobs, {:.2f} bytes a sample\n", summary.samples, summary.series,
      summary.jobs,
      static_cast<double>(summary.bytes) / static_cast<double>(std::max<std::uint64_t>(1, summary.samples)));
  std::vector<store::Job> jobs = must(store.jobs({.with_nodes = false}));
  std::sort(jobs.begin(), jobs.end(),
            [](const auto& a, const auto& b) { return a.end_ns - a.start_ns > b.end_ns - b.start_ns; });
  if (jobs.size() > 5) jobs.resize(5);
  for (const store::Job& job : jobs) {
    const double start = now();
    const double cpu = cpu_seconds();
    const analysis::ServerFinder finder = must(analysis::read_servers(store));
    const double found = cpu_seconds();
    const analysis::JobAnalysis result = must(analysis::analyse(store, finder, job.id));
    fmt::print(
        "job {:<8} {:>6.0f} s long, {:>4} OSTs, {:>8} samples: {:>5.2f} s; processor {:>5.2f} s, of which "
        "{:>4.2f} s for the node table; "
        "{:>4} MB; {} findings\n",
        job.id, result.job.elapsed_seconds, result.job.targets, result.completeness.samples, now() - start,
        cpu_seconds() - cpu, found - cpu, own_peak(), result.insights.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--analyse") {
    analyse_all(argv[2]);
    return 0;
  }
  store::SyntheticOptions options;
  std::string path;
  bool day_job = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--intervals" && more) {
      options.intervals = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--store" && more) {
      path = argv[++i];
    } else if (argument == "--k-day") {
      options.intervals = 1440;
      options.busy = true;
    } else if (argument == "--day-job") {
      day_job = true;
    } else {
      fmt::print(stderr, "report_bench [--intervals N] [--store FILE] [--k-day] [--day-job]\n");
      return 2;
    }
  }
  const bool keep = !path.empty();
  if (!keep)
    path = (std::filesystem::temp_directory_path() / fmt::format("report_bench.{}.db", getpid())).string();
  if (!std::filesystem::exists(path)) fill(path, options);
  if (day_job) add_day_job(path);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    // The peak of a fork is counted from here, not from what its parent had used.
    execl("/proc/self/exe", "report_bench", "--analyse", path.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!keep) std::filesystem::remove(path);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
