#include "job_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/comparison.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "job_store.hpp"
#include "report/job_document.hpp"
#include "report/quantity.hpp"
#include "report/text.hpp"
#include "telemetry/source.hpp"
#include "terminal.hpp"
#include "version_info.hpp"

namespace weir::cli {

namespace {

constexpr std::size_t most_listed = 20;

// A job whose `weir run` was killed is not running. A store that cannot be written is read as it is.
Result<store::Store> open_settled(const std::string& wanted) {
  WEIR_ASSIGN(const std::string location, store_location(wanted));
  auto writable = open_job_store(location, store::Access::write);
  if (writable) {
    if (settle_lost_jobs(*writable)) return writable;
  } else if (writable.error().code == ErrorCode::not_found) {
    return writable;
  }
  return open_job_store(location, store::Access::read);
}

std::string bytes_of(const store::Job& job) {
  const auto found = job.figures.find(std::string(store::figure::bytes_written));
  return found == job.figures.end() ? "-" : report::format_quantity(found->second, "B");
}

double elapsed_of(const store::Job& job) {
  const std::int64_t end = job.end_ns != 0 ? job.end_ns : telemetry::now();
  return job.start_ns == 0 ? analysis::unknown : static_cast<double>(end - job.start_ns) * 1e-9;
}

Status list_jobs(store::Store& store, const JobReportArguments& arguments) {
  WEIR_ASSIGN(const std::vector<store::Job> jobs, store.jobs({.at_most = most_listed, .with_nodes = false}));
  if (!arguments.json.empty()) {
    Json list = Json::array();
    for (const store::Job& job : jobs)
      list.push_back({{"id", job.id},
                      {"name", job.name},
                      {"user", job.user},
                      {"state", store::to_string(job.state)},
                      {"start_ns", job.start_ns},
                      {"end_ns", job.end_ns},
                      {"figures", job.figures}});
    return put(arguments.json, pretty({{"weir_jobs", 1}, {"jobs", std::move(list)}}) + "\n");
  }
  if (jobs.empty()) {
    fmt::print("No jobs yet: 'weir run -- PROGRAM' adds one.\n");
    return {};
  }
  using Align = Table::Align;
  Table table({"job", "name", "state", "started", "elapsed", "written"},
              {Align::left, Align::left, Align::left, Align::left, Align::right, Align::right});
  for (const store::Job& job : jobs) {
    constexpr std::size_t widest = 32;
    table.add({report::clean(job.id), report::shorten_columns(report::clean(job.name), widest),
               std::string(store::to_string(job.state)), report::format_time(job.start_ns),
               report::format_duration(elapsed_of(job)), bytes_of(job)});
  }
  fmt::print("{}\n{}\n", table.text(),
             styled("weir report JOB shows one of them, weir report last the latest.", Style::dim));
  return {};
}

Status write_files(const report::Document& document, const JobReportArguments& arguments) {
  const auto said = [](const std::string& what) { fmt::print(stderr, "weir: wrote {}\n", what); };
  if (!arguments.html.empty()) {
    WEIR_ASSIGN(const std::string page, report::render_html(document));
    WEIR_TRY(write_text_atomically(arguments.html, page));
    said(arguments.html);
  }
  if (!arguments.csv.empty()) {
    WEIR_ASSIGN(const auto files, report::save_csv(document, arguments.csv));
    said(fmt::format("{} files to {}", files.size(), arguments.csv));
  }
  if (!arguments.png.empty()) {
    WEIR_ASSIGN(const auto files, report::save_png(document, arguments.png));
    said(fmt::format("{} pictures to {}", files.size(), arguments.png));
  }
  return {};
}

}  // namespace

Result<JobReport> make_report(const JobReportArguments& arguments) {
  WEIR_ASSIGN(store::Store store, open_settled(arguments.store));
  analysis::AnalyseOptions options{.target_scale = arguments.target_scale};
  if (!arguments.thresholds.empty()) {
    WEIR_ASSIGN(options.thresholds, analysis::load_thresholds(arguments.thresholds));
  }
  std::vector<std::string> ids;
  for (const std::string& word : arguments.jobs) {
    WEIR_ASSIGN(std::string id, find_job(store, word));
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
  }
  // Jobs that were sampled on purpose need no samples from around them, which may be of other jobs.
  bool sampled = true;
  bool one_node = true;
  for (const std::string& id : ids) {
    WEIR_ASSIGN(const store::Job job, store.job(id));
    const auto recorder = job.labels.find("recorder");
    one_node = one_node && job.node_count <= 1;
    sampled = sampled && recorder != job.labels.end() && recorder->second == recorder_label;
  }
  if (sampled) options.margin_seconds = one_node ? 0.001 : 2;  // other nodes sample at times of their own
  JobReport made;
  if (ids.size() == 1) {
    WEIR_ASSIGN(const analysis::JobAnalysis job,
                in(analysis::analyse(store, ids[0], options), "analyse job " + ids[0]));
    made.document = report::job_document(job);
    made.analyses.push_back(analysis::to_json(job));
  } else {
    analysis::CompareOptions how;
    if (!arguments.baseline.empty()) {
      const auto job = find_job(store, arguments.baseline);  // else a configuration
      how.baseline = job ? *job : arguments.baseline;
    }
    WEIR_ASSIGN(const analysis::Comparison comparison, analysis::compare(store, ids, options, how));
    made.document = report::job_document(comparison);
    for (const analysis::JobAnalysis& job : comparison.jobs) made.analyses.push_back(analysis::to_json(job));
    made.comparison = analysis::to_json(comparison);
    made.comparison.erase("jobs");  // they are there already
  }
  made.document.made_by = version_text;
  made.document.made_at = report::format_time(telemetry::now());
  return made;
}

Status write_report(const JobReport& made, const JobReportArguments& arguments) {
  const auto save = [&]() -> Status {
    WEIR_TRY(write_files(made.document, arguments));
    if (arguments.json.empty()) return {};
    Json json = report::to_json(made.document);
    for (std::size_t i = 0; i < made.analyses.size(); ++i) json["jobs"][i]["analysis"] = made.analyses[i];
    if (!made.comparison.is_null()) json["comparison"]["analysis"] = made.comparison;
    const std::string text = pretty(json) + "\n";
    WEIR_TRY(put(arguments.json, text));
    if (arguments.json != "-") fmt::print(stderr, "weir: wrote {}\n", arguments.json);
    return {};
  };
  Status saved = save();
  // Whoever cannot save a page, for want of space perhaps, can still read.
  if (arguments.json != "-")
    fmt::print("{}", report::render_summary(made.document,
                                            {.width = terminal_width(), .colour = stdout_has_colors()}));
  return saved;
}

Status report_jobs(const JobReportArguments& arguments) {
  if (arguments.jobs.empty()) {
    WEIR_ASSIGN(store::Store store, open_settled(arguments.store));
    return list_jobs(store, arguments);
  }
  WEIR_ASSIGN(const JobReport made, make_report(arguments));
  return write_report(made, arguments);
}

}  // namespace weir::cli
