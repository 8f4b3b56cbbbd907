// weir store: what is in a store, and its upkeep.
#include <memory>

#include "checks.hpp"
#include "commands.hpp"
#include "job_store.hpp"
#include "store_work.hpp"

namespace weir::cli {

void add_store_command(CLI::App& app, Context& context) {
  CLI::App* store =
      app.add_subcommand("store", "Look into a store of jobs and counters, check it, give its content out");
  store->require_subcommand(1);
  const auto request = std::make_shared<StoreRequest>();
  const auto add = [&](const char* name, const char* what, Status (*work)(const StoreRequest&)) {
    CLI::App* sub = store->add_subcommand(name, what);
    sub->add_option("store,--store", request->store,
                    "The store: a file, or postgresql://... (else $WEIR_STORE, else the user's own)")
        ->option_text("FILE|URL");
    sub->add_flag("--json", request->json, "Print JSON");
    sub->callback([request, work, &context] {
      context.exit_code = report([&]() -> Status {
        WEIR_ASSIGN(request->store, store_location(request->store));
        return work(*request);
      }());
    });
    return sub;
  };
  add("show", "What is in it: jobs, nodes, counters, times, size", store_show)
      ->footer("Examples:\n  weir store show site.db\n  weir store show --store postgresql:///weir --json");
  CLI::App* jobs = add("jobs", "Its jobs, the latest first", store_jobs);
  jobs->add_option("--user", request->user, "Only of this user")->option_text("NAME");
  jobs->add_option("--most", request->at_most, "No more than this")
      ->option_text("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}))
      ->capture_default_str();
  jobs->footer("Examples:\n  weir store jobs site.db --user ada --most 5\n  weir store jobs site.db --json");
  add("check", "Unpack every block and look at every row", store_check)
      ->footer("Exit code 1 if anything is wrong.\n\nExamples:\n  weir store check site.db");
  add("compact", "Sort what came in bit by bit into large blocks", store_compact)
      ->footer(
          "Happens by itself while samples come in; after a long import, or before an archive, it saves "
          "space.\n\n"
          "Examples:\n  weir store compact site.db");
  CLI::App* out =
      add("export", "Give out samples, jobs and nodes as CSV, samples as TOKIO HDF5", store_export);
  out->add_option("--csv", request->csv, "Samples: time_ns,counter,node,component,job,value ('-': print)")
      ->option_text("FILE");
  out->add_option("--tokio", request->tokio, "Samples as TOKIO time series")->option_text("FILE");
  out->add_option("--jobs", request->jobs_csv, "Jobs, as `weir ingest --jobs` takes them")
      ->option_text("FILE");
  out->add_option("--nodes", request->nodes_csv, "Nodes, as `weir ingest --nodes` takes them")
      ->option_text("FILE");
  out->add_option("--counters", request->counters, "Only these counters")
      ->option_text("NAME ...")
      ->delimiter(',');
  out->add_option("--of-nodes", request->nodes, "Only series of these nodes (CSV)")
      ->option_text("NAME ...")
      ->delimiter(',');
  out->add_option("--job", request->job, "Only while this job ran")->option_text("ID");
  out->add_option("--from", request->from, "From this time on: 2019-08-01T12:00:00, or seconds since 1970")
      ->option_text("TIME");
  out->add_option("--to", request->to, "Before this time")->option_text("TIME");
  out->add_option("--row", request->row_seconds,
                  "Seconds a row of TOKIO's format stands for (default: as sampled)")
      ->option_text("SECONDS")
      ->check(amount());
  out->footer(
      "Examples:\n"
      "  weir store export site.db --csv samples.csv --counters ost.write_bytes,ost.read_bytes --job 4711\n"
      "  weir store export site.db --tokio day.hdf5 --from 2019-08-01T00:00:00 --to 2019-08-02T00:00:00 "
      "--row 60\n"
      "  weir store export site.db --jobs jobs.csv --nodes nodes.csv");
}

}  // namespace weir::cli
