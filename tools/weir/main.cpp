#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>

#include "commands.hpp"
#include "version_info.hpp"

namespace weir::cli {

int report(const Status& status) {
  if (status) return 0;
  std::fflush(stdout);
  fmt::print(stderr, "weir: {}\n", status.error().message());
  return status.error().code == ErrorCode::invalid_argument ? 2 : 1;
}

}  // namespace weir::cli

namespace {

std::string unknown_command(const CLI::App& app, std::span<char* const> words) {
  if (words.empty() || *words[0] == '-' || app.get_require_subcommand_min() == 0) return {};
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
    if (names.back() == words[0]) return unknown_command(*command, words.subspan(1));
  }
  const std::string within = app.get_parent() == nullptr ? "" : " of " + app.get_name();
  return fmt::format("weir: unknown command '{}'{}{}\n", words[0], within, weir::suggest(words[0], names));
}

// The exit code, unless what was printed did not get out.
int flushed(int code) {
  if (std::fflush(stdout) == 0) return code;
  std::perror("weir: write to standard output");
  return 1;
}

int run(int argc, char** argv) {
  using namespace weir::cli;
  CLI::App app("Weir decides where the I/O of a parallel program happens, and shows what the I/O system did.",
               "weir");
  app.set_version_flag("--version", weir::version_text);
  app.require_subcommand(1);
  Context context;
#ifdef WEIR_WITH_MPI
  add_demo_command(app, context);
  add_run_command(app, context);
  add_record_command(app, context);
  add_bench_command(app, context);
  add_ls_command(app, context);
  add_cat_command(app, context);
  add_verify_command(app, context);
#endif
  add_plan_command(app, context);
  add_platform_command(app, context);
  add_report_command(app, context);
  add_ingest_command(app, context);
  add_store_command(app, context);
  add_collect_command(app, context);
  add_version_command(app, context);
  add_completion_command(app, context);
  // Last: subcommands made before do not inherit it.
  app.footer(
      "Start here:\n"
      "  weir demo              every storage backend, and what an I/O server hides\n"
      "  weir run -- mpirun -n 4 ./app && weir report last     a program of yours, and what its I/O did\n"
      "  weir run --mapping consecutive -n 2 -- ./app          the same with I/O servers\n"
      "  weir version           what this build can do\n"
      "  weir COMMAND --help    each command, with examples");
  // CLI11 would only say that a subcommand is required.
  if (const std::string unknown =
          unknown_command(app, std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0));
      !unknown.empty()) {
    fmt::print(stderr, "{}", unknown);
    return 2;
  }
  if (argc < 2) {
    fmt::print("{}", app.help());
    return flushed(2);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11's own codes run past 100; ours has one for a wrong command line.
    return flushed(app.exit(error) == 0 ? 0 : 2);
  }
  return flushed(context.exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "weir: internal error: {}\n", error.what());
    return 1;
  }
}
