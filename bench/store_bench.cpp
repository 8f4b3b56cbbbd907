// How quickly a store takes in counters, how much room they take, and how long a query of one job takes;
// beside the same data as rows of SQLite. The data is the synthetic K computer's: 129,600 series.
//
//   store_bench [--intervals 60] [--rows 2000000] [--store FILE] [--k-day]
//
// --k-day: a whole day at one minute, all parts of the machine at work: 187 million samples.
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "store/store.hpp"
#include "store/synthetic_k.hpp"

namespace {

using namespace weir;
using weir::store::Store;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}
double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "store_bench: {}\n", result.error().message());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// The same samples, a row each, in one transaction: the plain way. Stops after `most` rows.
void rows_in_sqlite(const store::SyntheticOptions& options, const std::string& path, std::uint64_t most) {
  sqlite3* handle = nullptr;
  sqlite3_open(path.c_str(), &handle);
  sqlite3_exec(handle,
               "PRAGMA journal_mode = WAL; CREATE TABLE samples (series INTEGER, time INTEGER, value "
               "INTEGER, PRIMARY KEY "
               "(series, time)) WITHOUT ROWID; BEGIN",
               nullptr, nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(handle, "INSERT INTO samples VALUES (?, ?, ?)", -1, &insert, nullptr);
  std::uint64_t rows = 0;
  double spent = 0;
  std::int64_t series_base = 0;
  (void)store::generate_k_counters(options, [&](const std::vector<telemetry::Series>& series) -> Status {
    const double start = now();
    for (std::size_t s = 0; s < series.size(); ++s) {
      for (std::size_t i = 0; i < series[s].times.size(); ++i, ++rows) {
        sqlite3_bind_int64(insert, 1, series_base + static_cast<std::int64_t>(s));
        sqlite3_bind_int64(insert, 2, series[s].times[i]);
        sqlite3_bind_int64(insert, 3, static_cast<std::int64_t>(series[s].values[i]));
        sqlite3_step(insert);
        sqlite3_reset(insert);
      }
    }
    series_base += static_cast<std::int64_t>(series.size());
    spent += now() - start;
    if (rows >= most) return fail(ErrorCode::state, "enough");
    return {};
  });
  const double start = now();
  sqlite3_finalize(insert);
  sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  spent += now() - start;
  fmt::print("rows in SQLite     {:8.2f} M values/s   {:6.2f} bytes a sample   ({} rows)\n",
             static_cast<double>(rows) / spent * 1e-6,
             static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(rows), rows);
}

// Samples as a listener gets them: every minute one of each series, in one batch, sorted into blocks now and
// then.
void batches_as_they_come(const std::string& path) {
  store::SyntheticOptions options;
  options.intervals = 30;
  std::vector<telemetry::Batch> batches(options.intervals);
  must(store::generate_k_counters(options, [&](const std::vector<telemetry::Series>& series) -> Status {
    for (const telemetry::Series& one : series) {
      for (std::size_t i = 0; i < one.times.size(); ++i) batches[i].add(one.key, one.times[i], one.values[i]);
    }
    return {};
  }));
  Store store = must(Store::open(path));
  must(store.write(batches[0]));  // names all series
  std::uint64_t samples = 0;
  const double begin = now(), cpu = cpu_seconds();
  for (std::size_t i = 1; i < batches.size(); ++i) {
    must(store.write(batches[i]));
    samples += batches[i].points.size();
  }
  must(store.compact());
  fmt::print(
      "batch by batch     {:8.2f} M values/s   {:6.2f} bytes a sample   ({:.2f} M values per second of "
      "CPU)\n",
      static_cast<double>(samples) / (now() - begin) * 1e-6,
      static_cast<double>(must(store.summary()).bytes) / static_cast<double>(samples),
      static_cast<double>(samples) / (cpu_seconds() - cpu) * 1e-6);
}

}  // namespace

int main(int argc, char** argv) {
  store::SyntheticOptions options;
  options.intervals = 60;
  std::uint64_t rows = 2'000'000;
  std::string kept;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--k-day") {
      options.intervals = 1440;
      options.busy = true;
    } else if (word == "--intervals" && more) {
      options.intervals = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--rows" && more) {
      rows = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--store" && more) {
      kept = argv[++i];
    } else {
      fmt::print(stderr, "usage: store_bench [--intervals N] [--rows N] [--store FILE] [--k-day]\n");
      return 2;
    }
  }
  std::string folder = (std::filesystem::temp_directory_path() / "weir-store-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  const std::string path = kept.empty() ? folder + "/bench.db" : kept;

  Store store = must(Store::open(path));
  must(store.put(store::k_computer_topology()));
  must(store.put(store::k_computer_nodes()));
  std::vector<store::Job> jobs;
  for (store::PlannedJob& planned : store::k_computer_jobs(options)) jobs.push_back(std::move(planned.job));
  must(store.put(jobs));
  const std::uint64_t before = must(store.summary()).bytes;
  std::uint64_t samples = 0;
  double spent = 0, cpu = 0;
  const double start = now();
  must(store::generate_k_counters(options, [&](const std::vector<telemetry::Series>& series) -> Status {
    const double begin = now(), cpu_begin = cpu_seconds();
    const Status status = store.write(series);
    spent += now() - begin;
    cpu += cpu_seconds() - cpu_begin;
    for (const telemetry::Series& one : series) samples += one.times.size();
    return status;
  }));
  const auto summary = must(store.summary());
  fmt::print("{} samples of {} series, {} blocks; {:.1f} s with making them; peak memory {:.0f} MiB\n",
             samples, summary.series, summary.blocks, now() - start, peak_mib());
  fmt::print(
      "into the store     {:8.2f} M values/s   {:6.2f} bytes a sample   ({:.2f} M values per second of "
      "CPU)\n",
      static_cast<double>(samples) / spent * 1e-6,
      static_cast<double>(summary.bytes - before) / static_cast<double>(samples),
      static_cast<double>(samples) / cpu * 1e-6);
  batches_as_they_come(folder + "/batches.db");
  if (rows > 0) rows_in_sqlite(options, folder + "/rows.db", rows);

  // A job as a report reads it: its 192 I/O nodes, all their counters, its window.
  const store::Job job = must(store.jobs({.at_most = SIZE_MAX})).back();
  std::vector<std::string> nodes;
  const store::PlannedJob planned = store::k_computer_jobs(options).front();
  for (const store::Node& node : must(store.nodes(
           {.roles = {store::NodeRole::boot_io, store::NodeRole::global_io, store::NodeRole::local_io}}))) {
    const int x = node.coordinates[0] - planned.x, y = node.coordinates[1] - planned.y;
    if (x >= 0 && x < 4 && y >= 0 && y < 4) nodes.push_back(node.name);
  }
  for (const bool links_only : {true, false}) {
    double best = 1e9;
    std::uint64_t read = 0, count = 0;
    for (int round = 0; round < 3; ++round) {
      Store reader = must(Store::open(path, store::Access::read));
      read = count = 0;
      const double begin = now();
      must(reader.read(
          {.counters = links_only ? std::vector<std::string>{"link.bytes"} : std::vector<std::string>{},
           .nodes = nodes,
           .from = planned.job.start_ns,
           .to = planned.job.end_ns},
          [&](const telemetry::Series& series) -> Status {
            read += series.times.size();
            ++count;
            return {};
          }));
      best = std::min(best, now() - begin);
    }
    fmt::print("query of one job   {:8.1f} ms           {} nodes, {} series, {} samples\n", best * 1e3,
               nodes.size(), count, read);
  }
  std::filesystem::remove_all(folder);
  return 0;
}
