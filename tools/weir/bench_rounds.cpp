// Launching the cases of a benchmark, in interleaved rounds.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "backends/backend.hpp"
#include "bench.hpp"
#include "bench_folder.hpp"
#include "bench_record.hpp"
#include "core/file.hpp"
#include "launch.hpp"
#include "plan/plan_json.hpp"

namespace weir::cli {

namespace {

std::string file_of(const BenchRun& run, const BenchCase& one) {
  std::string extension = ".dat";
  if (const auto entry = backends::find(one.backend); entry && !(*entry)->extensions.empty())
    extension = (*entry)->extensions.front();
  return fmt::format("{}/{}-{}{}", run.files, run.workload, one.name(), extension);
}

// A setting that the ranks find in their environment; the user's own comes back afterwards.
class InEnvironment {
 public:
  InEnvironment(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name); before != nullptr) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~InEnvironment() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  InEnvironment(const InEnvironment&) = delete;
  InEnvironment& operator=(const InEnvironment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// Ranks that were ended leave files behind under their temporary names.
class Cleanup {
 public:
  explicit Cleanup(const BenchJob& job) : job_(job) {}
  ~Cleanup() {
    for (const auto& one : job_.cases) remove_unfinished(one.path);
  }
  Cleanup(const Cleanup&) = delete;
  Cleanup& operator=(const Cleanup&) = delete;

 private:
  const BenchJob& job_;
};

// One line that is rewritten, on a terminal only.
class Progress {
 public:
  Progress(int rounds, std::size_t launches) : rounds_(rounds), launches_(launches) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(int round, std::size_t launch, const BenchCase& one) {
    if (isatty(STDERR_FILENO) == 0) return;
    shown_ = true;
    const std::size_t done = static_cast<std::size_t>(round) * launches_ + launch;
    const std::size_t all = static_cast<std::size_t>(rounds_) * launches_;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    const std::string left =
        done < launches_ ? ""
                         : fmt::format(", about {:.0f} s left", passed.count() / static_cast<double>(done) *
                                                                    static_cast<double>(all - done));
    fmt::print(stderr, "\r{} of {}: {}, {}{}\x1b[K",
               round == 0 ? "warming up, round 1" : fmt::format("round {}", round + 1), rounds_, one.mapping,
               one.backend, left);
    std::fflush(stderr);
  }

 private:
  int rounds_;
  std::size_t launches_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Rows of the same mapping and backend, by their numbers: one launch each. Mappings of a backend follow each
// other, since they are compared.
std::vector<std::vector<std::size_t>> groups_of(const std::vector<BenchRow>& rows) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const BenchCase& other = rows[group.front()].what;
      return other.mapping == rows[i].what.mapping && other.backend == rows[i].what.backend;
    });
    if (same == groups.end()) {
      groups.push_back({i});
    } else {
      same->push_back(i);
    }
  }
  return groups;
}

void take(BenchRow& row, BenchSample sample, bool counts) {
  if (!sample.failure.empty()) {
    row.failure = sample.failure;
    row.verified = false;
    return;
  }
  row.verified = row.verified && sample.verified;
  if (counts) row.samples.push_back(std::move(sample));
}

// What only the first round finds out goes with the later ones.
void keep_validation(std::vector<BenchRow>& rows, const std::vector<std::map<std::string, double>>& found) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (BenchSample& sample : rows[i].samples) sample.values.insert(found[i].begin(), found[i].end());
  }
}

}  // namespace

Result<std::vector<BenchSample>> launch_cases(const BenchRun& run, const std::vector<BenchCase>& cases,
                                              bool plain, bool validate, bool record) {
  WEIR_TRY(Interrupts::check());
  const BenchLaunch& launch = run.launches.at(cases.front().mapping);
  const std::string plan = run.scratch + "/plan.json";
  const std::string job_file = run.scratch + "/job.json";
  BenchJob job{.backend = cases.front().backend,
               .results = run.scratch + "/results.json",
               .verify = run.settings.verify,
               .keep = run.settings.keep,
               .plain = plain,
               .to_disk = run.settings.storage == "disk",
               .validate = validate,
               .common = run.common};
  for (const BenchCase& one : cases) {
    job.cases.push_back(
        {.path = file_of(run, one), .arrays = one.arrays, .tests = one.tests, .parameters = one.parameters});
  }
  const Cleanup cleanup(job);
  std::error_code ignored;
  std::filesystem::remove(job.results, ignored);
  WEIR_TRY(save_plan(launch.plan, plan));
  WEIR_TRY(write_text_atomically(job_file, job_to_json(job).dump()));
  const InEnvironment with_plan("WEIR_PLAN", plan);
  const InEnvironment with_storage("WEIR_FSYNC", job.to_disk ? "write" : "");
  const std::string what = fmt::format("run {}, {}", cases.front().mapping, cases.front().backend);
  const std::vector<std::string> words = {"bench", run.workload, "--as-rank", job_file};
  if (record && !run.settings.store.empty()) {
    WEIR_TRY(in(run_recorded_ranks(launch.ranks, words,
                                   {.store = run.settings.store,
                                    .name = fmt::format("{}, {}", run.workload, cases.front().backend),
                                    .configuration = cases.front().mapping,
                                    .summary_file = run.scratch + "/sessions.json"}),
                what));
  } else {
    WEIR_TRY(in(run_ranks(launch.ranks, words), what));
  }
  WEIR_TRY(Interrupts::check());
  WEIR_ASSIGN(const Json results, in(load_json(job.results), what));
  auto samples = in(samples_from_json(results), what);
  if (samples && samples->size() != cases.size())
    return fail(ErrorCode::corrupt,
                fmt::format("{}: {} samples of {} cases", what, samples->size(), cases.size()));
  return samples;
}

Status run_rounds(const BenchRun& run, std::vector<BenchRow>& rows, const Warmed& warmed) {
  const auto groups = groups_of(rows);
  const int rounds = run.settings.repeats + 1;
  std::vector<std::map<std::string, double>> validation(rows.size());
  std::vector<BenchSample> warm_ups(rows.size());
  Progress progress(rounds, groups.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      // Rotated, so that nobody always follows the same neighbour or comes first.
      std::vector<std::size_t> group = groups[(i + static_cast<std::size_t>(round)) % groups.size()];
      std::erase_if(group, [&](std::size_t row) { return !rows[row].failure.empty(); });
      if (group.empty()) continue;
      std::rotate(group.begin(), group.begin() + round % static_cast<int>(group.size()), group.end());
      std::vector<BenchCase> cases;
      for (const std::size_t row : group) cases.push_back(rows[row].what);
      progress.show(round, i, cases.front());
      WEIR_ASSIGN(auto samples, launch_cases(run, cases, run.settings.compare, round == 0, round > 0));
      for (std::size_t k = 0; k < group.size(); ++k) {
        if (round == 0) {
          for (const auto& [name, value] : samples[k].values) {
            if (name.starts_with("symmetry_") || name.starts_with("validation_"))
              validation[group[k]][name] = value;
          }
          warm_ups[group[k]] = samples[k];
        }
        take(rows[group[k]], std::move(samples[k]), round > 0);
      }
    }
    if (round == 0 && warmed) warmed(rows, warm_ups);
  }
  keep_validation(rows, validation);
  return {};
}

std::vector<BenchCase> cases_of(const BenchSettings& settings) {
  std::vector<BenchCase> cases;
  std::vector<std::string> mappings = settings.mappings;
  if (settings.compare) {
    std::erase(mappings, "sequential");
    mappings.insert(mappings.begin(), "sequential");
  }
  for (const std::string& backend : settings.backends) {
    for (const std::string& mapping : mappings) {
      if (settings.compare && mapping == "sequential") {
        cases.push_back({.mapping = mapping, .backend = backend});  // the ordinary program, to compare with
        continue;
      }
      for (const std::string& arrays : settings.arrays) {
        for (const bool tests : settings.tests)
          cases.push_back({.mapping = mapping, .backend = backend, .arrays = arrays, .tests = tests});
      }
    }
  }
  return cases;
}

Result<std::map<std::string, BenchLaunch>> launches_of(const BenchSettings& settings) {
  std::map<std::string, BenchLaunch> launches;
  for (const std::string& mapping : settings.mappings) {
    WEIR_ASSIGN(launches[mapping], launch_of(mapping, settings.compute));
  }
  if (settings.compare) {
    WEIR_ASSIGN(launches["sequential"], launch_of("sequential", settings.compute));
  }
  return launches;
}

}  // namespace weir::cli
