#include "record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "core/json.hpp"
#include "core/options.hpp"
#include "launch.hpp"
#include "pattern/pattern_file.hpp"
#include "preload.hpp"
#include "recording/recording_file.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

namespace {

Json totals_json(const pattern::Pattern& pattern, const pattern::AccessTable& table) {
  const pattern::Totals totals = pattern.totals(table);
  return {{"ranks", totals.ranks},
          {"bytes", totals.bytes},
          {"pieces", totals.pieces},
          {"begin", totals.begin},
          {"end", totals.end},
          {"accesses", totals.accesses},
          {"collective_calls", table.collective_calls}};
}

Json pattern_json(const pattern::Pattern& pattern, const std::string& path) {
  Json json = {{"recording", path}, {"ranks", pattern.ranks}, {"files", Json::array()}};
  for (const pattern::FilePattern& file : pattern.files) {
    json["files"].push_back({{"name", file.name},
                             {"reads", totals_json(pattern, file.reads)},
                             {"writes", totals_json(pattern, file.writes)}});
  }
  return json;
}

void print_pattern(const pattern::Pattern& pattern, const std::string& path) {
  using Align = Table::Align;
  Table table({"file", "", "ranks", "bytes", "pieces", "from", "to", "collective calls"},
              {Align::left, Align::left, Align::right, Align::right, Align::right, Align::right, Align::right,
               Align::right});
  for (const pattern::FilePattern& file : pattern.files) {
    bool touched = false;
    for (const pattern::Direction direction : {pattern::Direction::read, pattern::Direction::write}) {
      const pattern::AccessTable& accesses = table_of(file, direction);
      const pattern::Totals totals = pattern.totals(accesses);
      if (totals.bytes == 0) continue;
      touched = true;
      table.add({file.name, direction == pattern::Direction::read ? "read" : "written",
                 std::to_string(totals.ranks), format_bytes(totals.bytes), std::to_string(totals.pieces),
                 std::to_string(totals.begin), std::to_string(totals.end),
                 std::to_string(accesses.collective_calls)});
    }
    if (!touched) table.add({file.name, "opened", "", "", "", "", "", ""});
  }
  fmt::print("{}: {} ranks, {} file{}\n{}", path, pattern.ranks, pattern.files.size(),
             pattern.files.size() == 1 ? "" : "s", pattern.files.empty() ? "" : table.text());
}

void warn_of_lost(const recording::Loaded& loaded) {
  if (loaded.lost > 0)
    fmt::print(stderr, "weir: {} of {} calls are left out: they reach beyond any file\n", loaded.lost,
               loaded.worked_out);
}

// A name beside the recording that is removed unless it became the recording.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& target)
      : path_(fs::absolute(target).string() + fmt::format(".partial.{}", ::getpid())) {}
  ~Unfinished() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Result<int> record(const RecordRequest& request) {
  if (request.words.empty())
    return fail(ErrorCode::invalid_argument,
                "no program: give it behind --, as in 'weir record -- mpirun -n 4 ./app'");
  std::error_code error;
  if (fs::is_other(request.output, error)) {
    return fail(ErrorCode::invalid_argument, fmt::format("'{}' is a device or a pipe", request.output),
                "give the name of a file with -o");
  }
  if (fs::is_directory(request.output, error))
    return fail_errno(EISDIR, "write the recording to", request.output);
  const fs::path folder = fs::absolute(request.output).parent_path();
  if (::access(folder.c_str(), W_OK) != 0)
    return fail_errno(errno, "write the recording into", folder.string());

  // First, so that nothing is left behind whenever a signal comes.
  const PassSignalsOn while_running;
  const Unfinished unfinished(request.output);
  WEIR_ASSIGN(const Preloaded command, preloaded(request.words, {{"WEIR_RECORD", unfinished.path()}}));
  if (!request.quiet) fmt::print(stderr, "weir: recording what {} does to its files\n", request.words[0]);
  WEIR_ASSIGN(const int code, launch({.words = command.words, .environment = command.environment}));

  const bool recorded = fs::exists(unfinished.path(), error);
  if (!recorded) {
    const std::string why =
        code == 0 ? "libweir-mpiio said above why; if it did not, the program called no MPI_Finalize that "
                    "could be seen: is it an MPI program, linked dynamically, with the MPI library that Weir "
                    "was built with (weir version)?"
                  : fmt::format("the program ended with code {} before MPI_Finalize", code);
    fmt::print(stderr, "weir: there is no recording: {}\n", why);
    return code == 0 ? 1 : code;
  }
  WEIR_ASSIGN(const recording::Loaded loaded, recording::load(unfinished.path()));
  const pattern::Pattern& pattern = loaded.pattern;
  if (pattern.files.empty()) {
    fmt::print(stderr, "weir: the program opened no file by MPI-IO: there is nothing to record\n");
    return code == 0 ? 1 : code;
  }
  warn_of_lost(loaded);
  if (loaded.worked_out > 0) WEIR_TRY(pattern::save(pattern, unfinished.path()));
  fs::rename(unfinished.path(), request.output, error);
  if (error) return fail_errno(error.value(), "rename to", request.output);
  if (request.json)
    fmt::print("{}\n", pretty(pattern_json(pattern, request.output)));
  else if (!request.quiet)
    print_pattern(pattern, request.output);
  if (code != 0) fmt::print(stderr, "weir: the program ended with code {}\n", code);
  return code;
}

Status show_recording(const std::string& path, bool json) {
  WEIR_ASSIGN(const recording::Loaded loaded, recording::load(path));
  const pattern::Pattern& pattern = loaded.pattern;
  warn_of_lost(loaded);
  if (json)
    fmt::print("{}\n", pretty(pattern_json(pattern, path)));
  else
    print_pattern(pattern, path);
  return {};
}

}  // namespace weir::cli
