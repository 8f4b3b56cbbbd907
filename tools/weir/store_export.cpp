#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "core/file.hpp"
#include "core/json.hpp"
#include "platform/host_list.hpp"
#include "store/store.hpp"
#include "store/tokio.hpp"
#include "store_work.hpp"
#include "telemetry/fluentd_file.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c == '\n' || c == '\r' ? ' ' : c;  // a line stays a line
  }
  return field + '"';
}

// A file that appears under its name when it is whole; "-" is standard output.
class CsvFile {
 public:
  static Result<CsvFile> open(const std::string& path) {
    CsvFile file;
    file.path_ = path;
    if (path == "-") {
      file.stream_.reset(stdout);
      return file;
    }
    // A device or a pipe is written to; only a file can be replaced by a whole one.
    std::error_code error;
    const auto kind = std::filesystem::status(path, error).type();
    file.replaces_ =
        kind == std::filesystem::file_type::regular || kind == std::filesystem::file_type::not_found;
    file.stream_.reset(std::fopen((file.replaces_ ? path + ".part" : path).c_str(), "w"));
    if (!file.stream_) return fail_errno(errno, "create", path);
    return file;
  }
  Status line(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stream_.get()) != text.size() ||
        std::fputc('\n', stream_.get()) == EOF)
      return fail_errno(errno, "write", path_);
    return {};
  }
  Status finish() {
    if (std::fflush(stream_.get()) != 0) return fail_errno(errno, "write", path_);
    if (path_ == "-") return {};
    if (std::fclose(stream_.release()) != 0) return fail_errno(errno, "write", path_);
    return replaces_ ? rename_path(path_ + ".part", path_) : Status();
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };
  std::string path_;
  bool replaces_ = false;
  std::unique_ptr<std::FILE, Close> stream_;
};

Result<std::int64_t> time_of(const std::string& text, std::int64_t fallback) {
  if (text.empty()) return fallback;
  if (const auto time = telemetry::parse_log_time(text)) return *time;
  if (const auto time = telemetry::parse_log_time(text + "Z")) return *time;
  return fail(ErrorCode::invalid_argument, fmt::format("'{}' is no time", text),
              "write it as 2019-08-01T12:00:00 or in seconds since 1970");
}

Result<std::uint64_t> export_samples(store::Store& store, const StoreRequest& request,
                                     const store::TimeRange& window) {
  WEIR_ASSIGN(CsvFile file, CsvFile::open(request.csv));
  WEIR_TRY(file.line("time_ns,counter,node,component,job,value"));
  std::uint64_t samples = 0;
  const auto write = [&](const telemetry::Series& series) -> Status {
    const std::string key =
        fmt::format("{},{},{},{}", telemetry::counter(series.key.counter).name, csv_field(series.key.node),
                    csv_field(series.key.component), csv_field(series.key.job));
    for (std::size_t i = 0; i < series.times.size(); ++i)
      WEIR_TRY(file.line(fmt::format("{},{},{}", series.times[i], key, series.values[i])));
    samples += series.times.size();
    return {};
  };
  WEIR_TRY(store.read(
      {.counters = request.counters, .nodes = request.nodes, .from = window.from, .to = window.to}, write));
  WEIR_TRY(file.finish());
  return samples;
}

Result<std::uint64_t> export_jobs(store::Store& store, const StoreRequest& request,
                                  const store::TimeRange& window) {
  WEIR_ASSIGN(const std::vector<store::Job> jobs, store.jobs({.window = window}));
  std::set<std::string> figures, labels;
  for (const store::Job& job : jobs) {
    for (const auto& [name, value] : job.figures) figures.insert(name);
    for (const auto& [name, value] : job.labels) labels.insert(name);
  }
  WEIR_ASSIGN(CsvFile file, CsvFile::open(request.jobs_csv));
  std::string titles = "id,user,name,state,submit,start,end,nodes,shape";
  for (const std::set<std::string>* names : {&figures, &labels}) {
    for (const std::string& name : *names) titles += "," + csv_field(name);
  }
  WEIR_TRY(file.line(titles));
  const auto time = [](std::int64_t ns) { return ns == 0 ? std::string() : telemetry::format_log_time(ns); };
  for (const store::Job& job : jobs) {
    std::string line = fmt::format(
        "{},{},{},{},{},{},{},{},{}", csv_field(job.id), csv_field(job.user), csv_field(job.name),
        to_string(job.state), time(job.submit_ns), time(job.start_ns), time(job.end_ns),
        csv_field(job.nodes.empty() ? "" : format_host_list(job.nodes)), fmt::join(job.shape, "x"));
    for (const std::string& name : figures) {
      const auto found = job.figures.find(name);
      line += found == job.figures.end() ? "," : fmt::format(",{}", found->second);
    }
    for (const std::string& name : labels) {
      const auto found = job.labels.find(name);
      line += found == job.labels.end() ? "," : "," + csv_field(found->second);
    }
    WEIR_TRY(file.line(line));
  }
  WEIR_TRY(file.finish());
  return jobs.size();
}

Result<std::uint64_t> export_nodes(store::Store& store, const StoreRequest& request) {
  WEIR_ASSIGN(const std::vector<store::Node> nodes, store.nodes());
  WEIR_ASSIGN(CsvFile file, CsvFile::open(request.nodes_csv));
  WEIR_TRY(file.line("name,role,rack,coordinates,targets,servers"));
  for (const store::Node& node : nodes)
    WEIR_TRY(file.line(fmt::format("{},{},{},{},{},{}", node.name, to_string(node.role), csv_field(node.rack),
                                   fmt::join(node.coordinates, " "),
                                   csv_field(fmt::format("{}", fmt::join(node.targets, " "))),
                                   csv_field(fmt::format("{}", fmt::join(node.servers, " "))))));
  WEIR_TRY(file.finish());
  return nodes.size();
}

}  // namespace

Status store_export(const StoreRequest& request) {
  if (request.csv.empty() && request.tokio.empty() && request.jobs_csv.empty() && request.nodes_csv.empty())
    return fail(ErrorCode::invalid_argument, "there is nothing to give out",
                "name a file with --csv, --tokio, --jobs or --nodes");
  WEIR_ASSIGN(store::Store store, store::Store::open(request.store, store::Access::read));
  store::TimeRange window;
  if (!request.job.empty()) {
    WEIR_ASSIGN(const store::Job job, store.job(request.job));
    window.from = job.start_ns;
    if (job.end_ns != 0) window.to = job.end_ns;
  }
  WEIR_ASSIGN(window.from, time_of(request.from, window.from));
  WEIR_ASSIGN(window.to, time_of(request.to, window.to));
  Json done = Json::object();
  if (!request.csv.empty()) {
    WEIR_ASSIGN(done["samples"], export_samples(store, request, window));
  }
  if (!request.tokio.empty()) {
    WEIR_ASSIGN(const store::TokioTally tally,
                store::export_tokio(
                    store, request.tokio,
                    {.counters = request.counters, .window = window, .seconds = request.row_seconds}));
    done["tokio_series"] = tally.series;
    done["tokio_values"] = tally.samples;
  }
  if (!request.jobs_csv.empty()) {
    WEIR_ASSIGN(done["jobs"], export_jobs(store, request, window));
  }
  if (!request.nodes_csv.empty()) {
    WEIR_ASSIGN(done["nodes"], export_nodes(store, request));
  }
  const bool to_stdout = request.csv == "-" || request.jobs_csv == "-" || request.nodes_csv == "-";
  if (request.json) {
    fmt::print(to_stdout ? stderr : stdout, "{}\n", pretty(done));
  } else {
    std::string text;
    for (const auto& [what, number] : done.items())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number.get<std::uint64_t>(), what);
    fmt::print(to_stdout ? stderr : stdout, "gave out {}\n", text);
  }
  return {};
}

}  // namespace weir::cli
