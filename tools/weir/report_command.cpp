// weir report: what the I/O system did during a job, and which of several runs is better.
#include <fmt/format.h>

#include <memory>

#include "checks.hpp"
#include "commands.hpp"
#include "job_report.hpp"
#include "score_report.hpp"

namespace weir::cli {

namespace {

struct Arguments {
  JobReportArguments jobs;
  ScoreArguments scores;
};

Status run(Arguments& arguments) {
  if (arguments.scores.table.empty()) {
    if (arguments.scores.measured)
      return fail(ErrorCode::invalid_argument, "--measured is about a table", "give it by --score-table");
    const JobReportArguments& jobs = arguments.jobs;
    if (jobs.jobs.empty() && !(jobs.html + jobs.csv + jobs.png).empty())
      return fail(ErrorCode::invalid_argument, "--html, --csv and --png are about a job",
                  "name it, or say 'last'; 'weir report' alone lists the jobs there are");
    return report_jobs(jobs);
  }
  if (!arguments.jobs.jobs.empty())
    return fail(ErrorCode::invalid_argument, "a job and --score-table: only one of them can be reported");
  arguments.scores.baseline = arguments.jobs.baseline;
  arguments.scores.json = arguments.jobs.json;
  return report_scores(arguments.scores);
}

}  // namespace

void add_report_command(CLI::App& app, Context& context) {
  CLI::App* sub =
      app.add_subcommand("report", "What the I/O system did during a job; several jobs side by side");
  const auto arguments = std::make_shared<Arguments>();
  JobReportArguments& jobs = arguments->jobs;
  sub->add_option("job", jobs.jobs,
                  "Ids or names of jobs, 'last', or 'last~1' for the one before; none lists them")
      ->option_text("JOB...");
  sub->add_option("--store", jobs.store,
                  "Where the jobs are: a file or postgresql://... (default: WEIR_STORE, else the user's own)")
      ->option_text("STORE");
  sub->add_option("--html", jobs.html, "Write a page for a browser: one file, no network needed")
      ->option_text("FILE");
  sub->add_option("--json", jobs.json, "Write everything as JSON; - for standard output")
      ->option_text("FILE");
  sub->add_option("--csv", jobs.csv, "Write timelines, heat maps and tables as CSV files into a folder")
      ->option_text("DIR");
  sub->add_option("--png", jobs.png, "Write timelines and heat maps as pictures into a folder")
      ->option_text("DIR");
  sub->add_option("--baseline", jobs.baseline, "Of a comparison: what to compare with (default: the first)")
      ->option_text("NAME");
  sub->add_option("--thresholds", jobs.thresholds, "A JSON file that says when a figure becomes a finding")
      ->option_text("FILE");
  sub->add_option("--scale", jobs.target_scale,
                  "The end of the scale of heat maps of targets, in bytes/s (default: the largest value)")
      ->option_text("RATE")
      ->check(amount());
  sub->add_option(
         "--score-table", arguments->scores.table,
         "Instead of jobs: a CSV with a column 'configuration' and a column of ranks for each metric")
      ->option_text("FILE");
  sub->add_flag(
      "--measured", arguments->scores.measured,
      "The score table holds measured values, a line each run; a column 'throughput' teaches the weights");
  sub->footer(
      "Examples:\n"
      "  weir report                                             the jobs there are\n"
      "  weir run -- mpirun -n 4 ./app && weir report last       a summary\n"
      "  weir report last --html report.html                     a page with charts\n"
      "  weir report last last~1 --html both.html                two runs side by side\n"
      "  weir report 4711 --store site.db --csv out --png out    tables and pictures\n"
      "  weir report --score-table ranks.csv                     the mean of the ranks, less is better\n"
      "  weir report --score-table runs.csv --measured --baseline original");
  sub->callback([arguments, &context] { context.exit_code = report(run(*arguments)); });
}

}  // namespace weir::cli
