#include <fmt/format.h>

#include <cstdio>
#include <exception>

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

int run(int argc, char** argv) {
  using namespace weir::cli;
  CLI::App app("Weir decides where the I/O of a parallel program happens, and shows what the I/O system did.", "weir");
  app.set_version_flag("--version", weir::version_text);
  app.require_subcommand(1);
  app.footer(
      "Start here:\n"
      "  weir demo              the same array through every storage backend, verified and timed\n"
      "  weir version           what this build can do\n"
      "  weir COMMAND --help    each command, with examples");
  Context context;
#ifdef WEIR_WITH_MPI
  add_demo_command(app, context);
  add_ls_command(app, context);
  add_cat_command(app, context);
  add_verify_command(app, context);
#endif
  add_platform_command(app, context);
  add_version_command(app, context);
  add_completion_command(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11's own codes run past 100; ours has one for a wrong command line.
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (std::fflush(stdout) != 0) {
    std::perror("weir: write to standard output");
    return 1;
  }
  return context.exit_code;
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
