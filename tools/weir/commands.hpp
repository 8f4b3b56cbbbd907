// The subcommands of `weir`, one file each. main() knows nothing of them but this list.
#pragma once

#include <CLI/CLI.hpp>

#include "core/error.hpp"

namespace weir::cli {

// What the subcommands share. Outlives the parsing; a callback sets exit_code.
struct Context {
  int exit_code = 0;
};

void add_version_command(CLI::App& app, Context& context);
void add_platform_command(CLI::App& app, Context& context);
void add_plan_command(CLI::App& app, Context& context);
void add_report_command(CLI::App& app, Context& context);
void add_completion_command(CLI::App& app, Context& context);
void add_ingest_command(CLI::App& app, Context& context);
void add_store_command(CLI::App& app, Context& context);
void add_collect_command(CLI::App& app, Context& context);
// Only in a build with MPI.
void add_ls_command(CLI::App& app, Context& context);
void add_cat_command(CLI::App& app, Context& context);
void add_verify_command(CLI::App& app, Context& context);
void add_demo_command(CLI::App& app, Context& context);
void add_run_command(CLI::App& app, Context& context);
void add_bench_command(CLI::App& app, Context& context);

// Exit codes: 0 done; 1 it failed; 2 the command line or an argument is wrong.
// Prints a failure as "weir: ..." on stderr and gives the exit code for it.
int report(const Status& status);

}  // namespace weir::cli
