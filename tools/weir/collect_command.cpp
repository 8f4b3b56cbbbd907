// weir collect: sample this node's counters and keep or send them.
#include <memory>

#include "collect.hpp"
#include "commands.hpp"

namespace weir::cli {

void add_collect_command(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand("collect", "Sample this node's counters and store or send them");
  const auto arguments = std::make_shared<CollectArguments>();
  sub->add_option("--sources", arguments->sources,
                  "Only these, separated by commas (default: all that are here)")
      ->option_text("LIST")
      ->delimiter(',');
  sub->add_option("--interval", arguments->interval, "Time between samples")->option_text("TIME (1s)");
  sub->add_option("--for", arguments->duration, "Stop after this time (default: at SIGINT or SIGTERM)")
      ->option_text("TIME");
  sub->add_option(
         "--output", arguments->output,
         "Append lines as fluentd's out_file writes them; - for standard output, which is also the default")
      ->option_text("FILE");
  sub->add_option("--store", arguments->store, "Write to a store: a file, or postgresql://...")
      ->option_text("STORE");
  sub->add_option("--forward", arguments->forward,
                  "Send to a server of fluentd's forward protocol (weir ingest --listen)")
      ->option_text("HOST[:24224]");
  sub->add_option("--shared-key-file", arguments->shared_key_file,
                  "The key both sides know, in a file (or in the environment as WEIR_SHARED_KEY)")
      ->option_text("FILE");
  sub->add_option("--compress", arguments->compress, "What is sent: none, gzip or zstd")
      ->option_text("WORD (none)");
  sub->add_option("--spool", arguments->spool,
                  "Where samples wait until they are acknowledged (default: below ~/.local/state/weir); with "
                  "--store, a file in "
                  "which they wait while the store is away (default: none)")
      ->option_text("PATH");
  sub->add_option("--spool-size", arguments->spool_size,
                  "When the spool is full, the oldest samples are dropped and counted")
      ->option_text("BYTES (256M)");
  sub->add_option("--drain", arguments->drain,
                  "At the end, wait so long for the server; the rest stays in the spool")
      ->option_text("TIME (10s)");
  sub->add_option("--tag", arguments->tag, "fluentd's tag of the samples")->option_text("NAME (weir)");
  sub->add_option("--node", arguments->node, "The node's name in the samples (default: its host name)")
      ->option_text("NAME");
  sub->add_option("--root", arguments->root, "Read below this folder instead of /")->option_text("FOLDER");
  sub->add_flag("--list", arguments->list, "Say what would be sampled here");
  sub->add_flag("--overhead", arguments->overhead, "Measure for two seconds what sampling costs here");
  sub->add_flag("--json", arguments->json, "What is said about it, as JSON");
  sub->footer(
      "Sources:\n" + describe_sources() +
      "\n"
      "Examples:\n"
      "  weir collect --list                                    what there is to sample\n"
      "  weir collect --for 10s                                 ten seconds, to the screen\n"
      "  weir collect --sources block,net --output node.log     until interrupted, to a file\n"
      "  weir collect --forward loghost:24224 --compress zstd   to weir ingest --listen, or to fluentd\n"
      "  weir collect --overhead                                the price of a round");
  sub->callback([arguments, &context] { context.exit_code = report(collect(*arguments)); });
}

}  // namespace weir::cli
