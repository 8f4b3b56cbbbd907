// Launching the ranks of an I/O benchmark, on this machine or on a virtual cluster.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "bench_folder.hpp"
#include "bench_io.hpp"
#include "build_info.hpp"
#include "core/file.hpp"
#include "launch.hpp"

namespace weir::cli {

namespace {

namespace fs = std::filesystem;

Status run_words(std::vector<std::string> words, bool share_cores, const std::string& what) {
  const PassSignalsOn while_waiting;
  WEIR_ASSIGN(
      const int code,
      launch(
          {.words = std::move(words), .environment = {}, .share_cores = share_cores, .is_launcher = true}));
  if (code == 77) return fail(ErrorCode::unsupported, what + ": this machine cannot carry virtual clusters");
  return outcome(what, code);
}

// What the tool says of itself is of no interest; what goes wrong is.
std::vector<std::string> quietly(std::vector<std::string> words) {
  std::vector<std::string> quiet = {"/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/null"};
  quiet.insert(quiet.end(), words.begin(), words.end());
  return quiet;
}

// Variables that ranks get wherever they run, and nobody else does: a library that is loaded before others
// must not reach the launcher.
void add_environment(const IoConfig& config, std::vector<std::string>& words) {
  for (const auto& [name, value] : config.environment) {
#if defined(MPICH_VERSION)
    words.insert(words.end(), {"-genv", name, value});
#else
    words.insert(words.end(), {"-x", name + "=" + value});
#endif
  }
}

Result<std::vector<std::string>> words_of(const IoRun& run, const IoCase& one, const std::string& job_file) {
  WEIR_ASSIGN(const std::string self, this_program());
  const std::string ranks = std::to_string(workloads::ranks_of(run.workload));
  std::vector<std::string> words;
  if (run.cluster.empty()) {
    words = {build::mpiexec, "-n", ranks};
  } else {
    WEIR_ASSIGN(const std::string tool, vcluster_tool());
    words = {tool, "run", "--name", run.cluster, "-n", ranks, "--timeout", "900"};
#if defined(MPICH_VERSION)
    words.insert(words.end(), {"-f", one.host_file});
#else
    words.insert(words.end(), {"--map-by", "seq", "--hostfile", one.host_file});
#endif
  }
  words.insert(words.end(), one.config.launcher.begin(), one.config.launcher.end());
  add_environment(one.config, words);
  if (!run.cluster.empty()) words.emplace_back("--");
  words.insert(words.end(), {self, "bench", run.workload.name, "--as-rank", job_file});
  return words;
}

Status take(const Json& results, const std::string& direction, bool verify, IoRow& row) {
  WEIR_ASSIGN(const JsonObject object, JsonObject::of(results, direction));
  WEIR_ASSIGN(const Json* samples, object.array("samples"));
  for (const Json& sample : *samples) {
    IoSample taken;
    for (const auto& [name, value] : sample.items()) taken.values[name] = value.get<double>();
    row.samples.push_back(std::move(taken));
  }
  WEIR_ASSIGN(const bool verified, object.boolean("verified"));
  row.verified = row.verified && (verified || !verify);
  return {};
}

// One launch: all of one case. `rows` has its directions.
Status run_case(const IoRun& run, const IoCase& one, std::vector<IoRow*> rows) {
  WEIR_TRY(Interrupts::check());
  const std::string job_file = run.scratch + "/job.json", results_file = run.scratch + "/results.json";
  const bool verify = !run.arguments.no_verify;
  const std::string path = run.files + "/" + run.workload.name + ".dat";
  const Json job = {{"workload", workloads::io_workload_to_json(run.workload)},
                    {"planned", !one.aggregators.empty()},
                    {"bare", one.config.bare},
                    {"segmented", run.arguments.algorithm == "segmented"},
                    {"aggregators", one.aggregators},
                    {"path", path},
                    {"read_path", run.arguments.same_file ? path : path + ".read"},
                    {"results", results_file},
                    {"verify", verify},
                    {"samples", run.arguments.samples}};
  std::error_code ignored;
  fs::remove(results_file, ignored);
  WEIR_TRY(write_text_atomically(job_file, job.dump()));
  WEIR_ASSIGN(auto words, words_of(run, one, job_file));
  const std::string what = fmt::format("run {}, {}", one.mapping, one.config.name);
  WEIR_TRY(run_words(std::move(words), run.cluster.empty(), what));
  WEIR_TRY(Interrupts::check());
  WEIR_ASSIGN(const Json results, in(load_json(results_file), what));
  if (results.contains("failure")) {
    for (IoRow* row : rows) {
      row->failure = results["failure"].get<std::string>();
      row->verified = false;
    }
    return {};
  }
  for (IoRow* row : rows) {
    if (!results.contains(row->direction)) return fail(ErrorCode::corrupt, what + ": results are missing");
    WEIR_TRY(in(take(results[row->direction], row->direction, verify, *row), what));
  }
  return {};
}

}  // namespace

Status run_io_rounds(IoRun& run, const std::vector<IoCase>& cases) {
  for (const IoCase& one : cases) {
    for (const char* direction : {"write", "read"}) run.rows.push_back({one, direction, {}, true, {}});
  }
  for (int round = 0; round < run.arguments.repeats; ++round) {
    for (std::size_t turn = 0; turn < cases.size(); ++turn) {
      const std::size_t number = (turn + static_cast<std::size_t>(round)) % cases.size();
      std::vector<IoRow*> rows = {&run.rows[2 * number], &run.rows[2 * number + 1]};
      if (!rows[0]->failure.empty()) continue;
      if (isatty(STDERR_FILENO) != 0)
        fmt::print(stderr, "\rround {} of {}: {}, {}\x1b[K", round + 1, run.arguments.repeats,
                   cases[number].mapping, cases[number].config.name);
      WEIR_TRY(run_case(run, cases[number], rows));
    }
  }
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\x1b[K");
  return {};
}

Result<std::string> vcluster_tool() {
  if (const char* said = std::getenv("WEIR_VCLUSTER"); said != nullptr && *said != '\0')
    return std::string(said);
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& place : {folder / "vcluster", fs::path(build::vcluster)}) {
    if (fs::exists(place, ignored)) return place.string();
  }
  return fail(ErrorCode::not_found, "the tool 'vcluster' is not here", "name it in WEIR_VCLUSTER");
}

std::string vcluster_name() {
  return fmt::format("bench{}", ::getpid());
}

Result<VirtualCluster> VirtualCluster::make(const std::string& name, const std::string& shape,
                                            const std::string& rate) {
  WEIR_ASSIGN(const std::string tool, vcluster_tool());
  WEIR_TRY(run_words(quietly({tool, "up", shape, "--rate", rate, "--name", name}), false,
                     fmt::format("make a virtual cluster of {}", shape)));
  return VirtualCluster(name);
}

VirtualCluster::~VirtualCluster() {
  if (name_.empty()) return;
  if (const auto tool = vcluster_tool())
    (void)run_words(quietly({*tool, "down", "--name", name_}), false, "remove the virtual cluster");
}

}  // namespace weir::cli
