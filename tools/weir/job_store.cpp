#include "job_store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/file.hpp"
#include "core/options.hpp"
#include "telemetry/source.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_listed = 5;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_file(const std::string& location) {
  return location.find("://") == std::string::npos;
}

// A line of the kernel's, without its end; empty where there is none.
std::string kernel_line(const std::string& path) {
  auto text = read_text(path);
  if (!text) return {};
  text->erase(std::min(text->find('\n'), text->size()));
  return *text;
}

// The 22nd field of /proc/PID/stat: ticks since the boot. The second, the program's name, may hold blanks.
std::string start_ticks(const std::string& pid) {
  const std::string line = kernel_line("/proc/" + pid + "/stat");
  std::size_t at = line.rfind(')');
  if (at == std::string::npos) return {};
  for (int field = 2; field < 22; ++field) {
    at = line.find(' ', at + 1);
    if (at == std::string::npos) return {};
  }
  return line.substr(at + 1, line.find(' ', at + 1) - at - 1);
}

std::string boot_id() {
  return kernel_line("/proc/sys/kernel/random/boot_id");
}

std::string label(const std::map<std::string, std::string>& labels, const char* name) {
  const auto found = labels.find(name);
  return found == labels.end() ? "" : found->second;
}

// The end of the samples that follow the start without a long pause: later ones are of other jobs.
Result<telemetry::Nanoseconds> last_sample(store::Store& store, const store::Job& job) {
  constexpr telemetry::Nanoseconds pause = 60'000'000'000;
  telemetry::Nanoseconds last = job.start_ns;
  const store::SeriesQuery query{.counters = {"host.cpu_busy_ms"}, .nodes = job.nodes, .from = job.start_ns};
  WEIR_TRY(store.read(query, [&](const telemetry::Series& series) -> Status {
    telemetry::Nanoseconds seen = job.start_ns;
    for (const telemetry::Nanoseconds time : series.times) {
      if (time - seen > pause) break;
      seen = time;
    }
    last = std::max(last, seen);
    return {};
  }));
  return last;
}

tl::unexpected<Failure> unknown_job(const std::string& word, const std::vector<store::Job>& latest,
                                    const std::string& near) {
  std::vector<std::string> lines;
  for (const store::Job& job : latest)
    lines.push_back(job.name.empty() ? job.id : job.id + " (" + job.name + ")");
  const std::string list =
      lines.empty() ? "the store has no jobs" : fmt::format("the latest are {}", fmt::join(lines, ", "));
  return fail(ErrorCode::not_found, fmt::format("there is no job '{}'{}", word, near),
              lines.empty() ? list + ": 'weir run -- PROGRAM' adds one" : list);
}

}  // namespace

Result<std::string> store_location(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  if (const std::string given = environment("WEIR_STORE"); !given.empty()) return given;
  if (const std::string data = environment("XDG_DATA_HOME"); data.starts_with('/'))
    return data + "/weir/jobs.db";
  if (const std::string home = environment("HOME"); home.starts_with('/'))
    return home + "/.local/share/weir/jobs.db";
  return fail(ErrorCode::invalid_argument, "there is no home folder to keep jobs in",
              "name a file by --store or WEIR_STORE");
}

Result<store::Store> open_job_store(const std::string& location, store::Access access) {
  if (is_file(location)) {
    std::error_code error;
    const fs::path path = location;
    if (access == store::Access::create && path.has_parent_path()) {
      fs::create_directories(path.parent_path(), error);
      if (error) return fail_errno(error.value(), "create", path.parent_path().string());
    } else if (access != store::Access::create && !fs::exists(path, error)) {
      return fail(ErrorCode::not_found, fmt::format("there are no jobs yet: {} does not exist", location),
                  "'weir run -- PROGRAM' makes it; or name another by --store");
    }
  }
  return store::Store::open(location, access);
}

Result<std::string> find_job(store::Store& store, const std::string& word) {
  WEIR_ASSIGN(const std::vector<store::Job> latest,
              store.jobs({.at_most = most_listed, .with_nodes = false}));
  if (word == "last" || word.starts_with("last~")) {
    std::int64_t back = 0;
    if (word != "last") {
      const auto number = parse_integer(word.substr(5));
      if (!number || *number < 0)
        return fail(ErrorCode::invalid_argument, fmt::format("'{}' is not a job", word),
                    "say last~1, last~2, ...");
      back = *number;
    }
    if (back < static_cast<std::int64_t>(latest.size())) return latest[static_cast<std::size_t>(back)].id;
    if (back > INT32_MAX) return unknown_job(word, latest, "");
    WEIR_ASSIGN(const std::vector<store::Job> all,
                store.jobs({.at_most = static_cast<std::size_t>(back) + 1, .with_nodes = false}));
    if (static_cast<std::size_t>(back) < all.size()) return all[static_cast<std::size_t>(back)].id;
    return unknown_job(word, latest, "");
  }
  const auto by_id = store.job(word);
  if (by_id) return by_id->id;
  if (by_id.error().code != ErrorCode::not_found && by_id.error().code != ErrorCode::invalid_argument)
    return tl::make_unexpected(by_id.error());
  constexpr std::size_t most_searched = 10000;
  WEIR_ASSIGN(const std::vector<store::Job> jobs,
              store.jobs({.at_most = most_searched, .with_nodes = false}));
  std::vector<std::string> words;
  for (const store::Job& job : jobs) {
    if (job.name == word) return job.id;
    words.push_back(job.id);
    if (!job.name.empty()) words.push_back(job.name);
  }
  const std::string hint = words.empty() ? "" : suggest(word, words);
  return unknown_job(word, latest, hint.find("did you mean") == std::string::npos ? "" : hint);
}

std::map<std::string, std::string> marks_of_this_process() {
  const std::string pid = std::to_string(::getpid());
  return {{"pid", pid},
          {"pid_start", start_ticks(pid)},
          {"boot_id", boot_id()},
          {"host", telemetry::host_name()}};
}

bool is_gone(const std::map<std::string, std::string>& labels) {
  const std::string pid = label(labels, "pid");
  if (pid.empty() || label(labels, "host") != telemetry::host_name()) return false;
  if (pid.find_first_not_of("0123456789") != std::string::npos) return false;
  return label(labels, "boot_id") != boot_id() || start_ticks(pid) != label(labels, "pid_start");
}

Result<std::vector<std::string>> settle_lost_jobs(store::Store& store) {
  constexpr std::size_t most_searched = 1000;  // of the latest: older ones were settled before
  WEIR_ASSIGN(const std::vector<store::Job> jobs, store.jobs({.at_most = most_searched}));
  std::vector<std::string> lost;
  for (const store::Job& job : jobs) {
    if (job.state != store::JobState::running || !is_gone(job.labels)) continue;
    WEIR_ASSIGN(const telemetry::Nanoseconds end, last_sample(store, job));
    WEIR_TRY(store.finish(job.id, store::JobState::lost, end));
    lost.push_back(job.id);
  }
  return lost;
}

}  // namespace weir::cli
