#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "core/json.hpp"
#include "input.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

struct Arguments : InputArguments {
  std::string buffer = "64MiB";
  bool json = false;
};

constexpr std::size_t most_listed = 100;

// A line that rewrites itself, on a terminal only.
class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)) {}
  void show(std::uint64_t bytes) {
    if (!shown_on_terminal_ || bytes < next_) return;
    fmt::print(stderr, "\r{}: {} ", what_, format_bytes(bytes));
    next_ = bytes + (256U << 20U);
    written_ = true;
  }
  ~Progress() {
    if (written_) fmt::print(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  std::string what_;
  std::uint64_t next_ = 256U << 20U;
  bool shown_on_terminal_ = isatty(STDERR_FILENO) != 0;
  bool written_ = false;
};

Status verify(const Arguments& arguments) {
  WEIR_ASSIGN(const std::int64_t budget, parse_bytes(arguments.buffer));
  WEIR_ASSIGN(auto file, open_input(arguments));
  Json json = {{"file", file->path()}, {"backend", file->backend()}};
  json["variables"] = Json::array();
  std::size_t checked = 0;
  std::uint64_t damaged = 0;
  std::vector<std::string> listed;  // of those, as many as a person may want to see
  for (const files::Contents& entry : file->contents()) {
    const std::string& name = entry.info.name;
    if (!file->has_checksums(name)) {
      json["variables"].push_back({{"name", name}, {"checksums", false}});
      if (!arguments.json)
        fmt::print("{:<9} {}: the file holds no checksums for it\n", "unchecked", printable(name));
      continue;
    }
    Progress progress(printable(name));
    WEIR_ASSIGN(const auto verdict, in(file->verify(name, static_cast<std::uint64_t>(budget),
                                                    [&](std::uint64_t b) { progress.show(b); }),
                                       fmt::format("verify variable '{}'", name), file->path()));
    ++checked;
    json["variables"].push_back({{"name", name},
                                 {"checksums", true},
                                 {"blocks", verdict.blocks},
                                 {"bytes", verdict.bytes},
                                 {"damaged_blocks", verdict.damaged_blocks},
                                 {"damaged", verdict.damaged}});
    if (!arguments.json) {
      const bool good = verdict.damaged_blocks == 0;
      fmt::print("{:<9} {}: {} blocks, {}\n",
                 good ? styled("ok", Style::green) + "       " : styled("DAMAGED", Style::red) + "  ",
                 printable(name), verdict.blocks, format_bytes(verdict.bytes));
    }
    damaged += verdict.damaged_blocks;
    for (const std::string& block : verdict.damaged) {
      if (listed.size() < most_listed) listed.push_back(printable(block));
    }
  }
  if (arguments.json) fmt::print("{}\n", pretty(json));
  WEIR_TRY(file->close());
  if (damaged > 0) {
    std::string list;
    for (const std::string& block : listed) list += "\n  " + block;
    if (damaged > listed.size()) list += fmt::format("\n  and {} more", damaged - listed.size());
    const std::string_view match =
        damaged == 1 ? " does not match its checksum" : "s do not match their checksums";
    return in(Status(fail(ErrorCode::corrupt, fmt::format("{} block{}:{}", damaged, match, list))), "verify",
              file->path());
  }
  if (checked == 0) {
    return in(Status(fail(ErrorCode::not_found, "the file holds no checksums",
                          "write it with checksums on to have something to verify")),
              "verify", file->path());
  }
  return {};
}

}  // namespace

void add_verify_command(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("verify", "Read a file and compare every block with its stored checksum");
  auto arguments = std::make_shared<Arguments>();
  add_input_arguments(*command, *arguments);
  command->add_option("--buffer", arguments->buffer, "Memory to use")->capture_default_str();
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(
      "Exits with 1 if a block is damaged or the file holds no checksums.\n\nExample:\n  weir verify run.h5");
  command->callback([arguments, &context] { context.exit_code = report(verify(*arguments)); });
}

}  // namespace weir::cli
