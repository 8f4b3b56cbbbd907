// weir ingest: logs, job records and node tables into a store.
#include <memory>

#include "checks.hpp"
#include "commands.hpp"
#include "ingest.hpp"

namespace weir::cli {

void add_ingest_command(CLI::App& app, Context& context) {
  CLI::App* sub =
      app.add_subcommand("ingest", "Take in logs of servers and links, job records and node tables");
  const auto request = std::make_shared<IngestRequest>();
  sub->add_option("files", request->files, "Files that fluentd's out_file wrote, plain or gzip")
      ->option_text("FILE ...");
  sub->add_option("--store", request->store, "The store: a file, or postgresql://... (else $WEIR_STORE)")
      ->option_text("FILE|URL")
      ->envname("WEIR_STORE")
      ->required();

  sub->add_option("--listen", request->listen,
                  "Take in what fluentd, fluent-bit or `weir collect` sends to this address")
      ->option_text("HOST:PORT")
      ->group("Listening");
  sub->add_option("--shared-key-file", request->shared_key_file, "Clients have to know the key in this file")
      ->option_text("FILE")
      ->group("Listening");
  sub->add_option("--for", request->seconds,
                  "End after so many seconds (default: when told to, by SIGINT or SIGTERM)")
      ->option_text("SECONDS")
      ->check(amount(false))
      ->group("Listening");
  sub->add_option("--spool", request->spool,
                  "Keep samples in this file while the store is away, and bring them later")
      ->option_text("FILE")
      ->group("Listening");
  sub->add_option("--spool-limit", request->spool_bytes,
                  "Bytes the spool may grow to; then senders have to wait")
      ->option_text("BYTES")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str()
      ->group("Listening");
  sub->add_option("--spool-retry", request->spool_retry_seconds,
                  "Seconds until a store that is away is tried again, when samples come")
      ->option_text("SECONDS")
      ->check(CLI::Range(0.01, 86'400.0))
      ->capture_default_str()
      ->group("Listening");
  sub->add_option("--ready-file", request->ready_file,
                  "Write the address to this file once it listens (port 0: any)")
      ->option_text("FILE")
      ->group("Listening");

  sub->add_option("--prometheus", request->prometheus, "Prometheus text: a file, or a page of this machine")
      ->option_text("FILE|http://127.0.0.1:PORT/metrics")
      ->group("Other sources");
  sub->add_option("--node", request->node, "The node of metrics that name none (default: this one)")
      ->option_text("NAME")
      ->group("Other sources");
  sub->add_option("--tokio", request->tokio, "TOKIO time series (HDF5)")
      ->option_text("FILE")
      ->group("Other sources");
  sub->add_option("--sacct", request->sacct, "Jobs as `sacct -X -a -P -o JobIDRaw,User,...` prints them")
      ->option_text("FILE")
      ->group("Jobs and nodes");
  sub->add_option("--jobs", request->jobs, "Jobs as CSV: id,user,name,state,submit,start,end,nodes,shape,...")
      ->option_text("FILE")
      ->group("Jobs and nodes");
  sub->add_option("--nodes", request->nodes, "Nodes as CSV: name,role,rack,targets,servers,X,Y,Z,...")
      ->option_text("FILE")
      ->group("Jobs and nodes");
  sub->add_option("--topology", request->topology,
                  "The topology as JSON: dimensions, links, their speed, serving rule")
      ->option_text("FILE")
      ->group("Jobs and nodes");
  sub->add_option("--time-zone", request->zone, "Of times that name none: Z, +09:00")
      ->option_text("ZONE")
      ->capture_default_str()
      ->group("Jobs and nodes");

  sub->add_option("--synthetic", request->synthetic,
                  "Logs of a site that never was, to try things on: k-computer")
      ->option_text("SITE")
      ->group("Synthetic sites");
  sub->add_option("--intervals", request->intervals, "How many samples of each counter")
      ->option_text("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}))
      ->capture_default_str()
      ->group("Synthetic sites");
  sub->add_option("--interval", request->interval_seconds, "Seconds between them")
      ->option_text("SECONDS")
      ->check(CLI::Range(0.001, 86'400.0))
      ->capture_default_str()
      ->group("Synthetic sites");
  sub->add_option("--seed", request->seed, "Another seed, other jobs")
      ->option_text("N")
      ->check(whole_number())
      ->capture_default_str()
      ->group("Synthetic sites");
  sub->add_flag("--jobs-only", request->jobs_only,
                "Only the part of the machine that serves a job: smaller, and sooner done")
      ->group("Synthetic sites");
  sub->add_option("--answers", request->answers,
                  "Write to this file what is wrong with which job; the store does not say")
      ->option_text("FILE")
      ->group("Synthetic sites");

  sub->add_flag("--json", request->json, "Print what came in as JSON");
  sub->add_flag("--quiet", request->quiet, "Print no problems; they are counted all the same");
  sub->footer(
      "Records and lines that are wrong are told with their place and counted; the rest is kept. What was "
      "taken in stays\n"
      "in the store, whatever happens then.\n\n"
      "Examples:\n"
      "  weir ingest --store site.db /var/log/fluent/tofu.*.log\n"
      "  weir ingest --store site.db --listen 127.0.0.1:24224\n"
      "  weir ingest --store postgresql:///weir --listen 0.0.0.0:24224 --shared-key-file key --spool "
      "/var/spool/weir.db\n"
      "  sacct -X -a -P -o JobIDRaw,User,JobName,State,Submit,Start,End,NNodes,NodeList > jobs.txt\n"
      "  weir ingest --store site.db --sacct jobs.txt --time-zone +09:00\n"
      "  weir ingest --store site.db --nodes nodes.csv --topology site.json\n"
      "  weir ingest --store k.db --synthetic k-computer; weir report last --store k.db");
  sub->callback([request, &context] { context.exit_code = report(ingest(*request)); });
}

}  // namespace weir::cli
