// weir report: what the I/O system did, and which configuration is better.
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "score_report.hpp"

namespace weir::cli {

void add_report_command(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand("report", "Scores of configurations, and how far to trust them");
  const auto arguments = std::make_shared<ScoreArguments>();
  sub->add_option("--score-table", arguments->table,
                  "A CSV with a column 'configuration' and a column of ranks for each metric")
      ->option_text("FILE")
      ->required();
  sub->add_flag(
      "--measured", arguments->measured,
      "The table holds measured values, a line each run; a column 'throughput' teaches the weights");
  sub->add_option("--baseline", arguments->baseline,
                  "With --measured: what to compare with (default: the first)")
      ->option_text("NAME");
  sub->add_option("--json", arguments->json, "Write the scores as JSON; - for standard output")
      ->option_text("FILE");
  sub->footer(
      "Examples:\n"
      "  weir report --score-table ranks.csv                    the mean of the ranks, less is better\n"
      "  weir report --score-table ranks.csv --json scores.json\n"
      "  weir report --score-table runs.csv --measured --baseline original");
  sub->callback([arguments, &context] { context.exit_code = report(report_scores(*arguments)); });
}

}  // namespace weir::cli
