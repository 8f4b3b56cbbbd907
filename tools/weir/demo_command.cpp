#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "bench_options.hpp"
#include "build_info.hpp"
#include "commands.hpp"
#include "core/options.hpp"
#include "demo.hpp"
#include "demo_report.hpp"
#include "launch.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

namespace {

struct Arguments {
  DemoSettings settings;
  std::string size = "64MiB";
  bool as_rank = false;
  bool storage_only = false;
};

// The demo's own folder; removed at the end unless the user wants to keep it.
class Folder {
 public:
  static Result<Folder> make(bool keep, const std::string& wanted) {
    if (keep) {
      const std::string path = wanted.empty() ? "weir-demo" : wanted;
      std::error_code error;
      fs::create_directories(path, error);
      if (error) return fail_errno(error.value(), "create", path);
      return Folder(path, false);
    }
    const char* base = std::getenv("TMPDIR");
    std::string path =
        (wanted.empty() ? std::string(base == nullptr || *base == '\0' ? "/tmp" : base) : wanted) +
        "/weir-demo-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return fail_errno(errno, "create a folder", path);
    return Folder(path, true);
  }
  Folder(Folder&& other) noexcept
      : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, false)) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (temporary_) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  Folder(std::string path, bool temporary) : path_(std::move(path)), temporary_(temporary) {}
  std::string path_;
  bool temporary_;
};

Status check_space(const std::string& folder, const DemoSettings& settings) {
  std::error_code error;
  const auto space = fs::space(folder, error);
  // Up to eight files, one at a time in memory, all of them on disk.
  const std::uint64_t room = space.available / 8 / static_cast<std::uint64_t>(settings.steps);
  if (error || room >= settings.bytes) return {};
  const std::uint64_t needed = settings.bytes > INT64_MAX / 8000
                                   ? INT64_MAX
                                   : 8 * settings.bytes * static_cast<std::uint64_t>(settings.steps);
  return fail(ErrorCode::io,
              fmt::format("{} has {} free, the demo needs about {}", folder, format_bytes(space.available),
                          format_bytes(needed)),
              "use --folder or a smaller --size");
}

void print_hints(const std::string& folder) {
  fmt::print("\nThe files are in {}. Look at them with Weir or with their own tools:\n", folder);
  fmt::print("  weir ls {}/demo-posix.dat\n", folder);
  if (*build::hdf5_version != '\0') fmt::print("  h5dump -H {}/demo.h5\n", folder);
  if (*build::adios2_version != '\0' && fs::exists(build::bpls))
    fmt::print("  {} {}/demo-bp5.bp\n", build::bpls, folder);
}

// The second half: what an I/O server hides.
Status show_servers(const std::string& folder, std::int64_t array_bytes, bool keep) {
  fmt::print(
      "\nA program that computes and writes by turns (STREAM), first by itself, then with an I/O server on a "
      "core of "
      "its own:\n\n");
  std::fflush(stdout);
  StreamArguments stream;
  stream.mappings = {"sequential", "consecutive"};
  stream.backends = {"all"};
  stream.arrays = "user";
  stream.size = std::to_string(array_bytes);
  stream.settings.folder = folder;
  stream.settings.repeats = 3;
  stream.settings.compare = stream.settings.verify = stream.settings.brief = true;
  stream.settings.store = folder + "/jobs.db";
  if (keep) stream.settings.plot = folder + "/demo";
  WEIR_TRY(bench_stream(stream));
  return show_demo_report(stream.settings.store, keep ? folder + "/report.html" : "");
}

Status demo(Arguments arguments) {
  WEIR_ASSIGN(const std::int64_t bytes, parse_bytes(arguments.size));
  if (bytes < 8) return fail(ErrorCode::invalid_argument, "--size: the array needs at least 8 bytes");
  arguments.settings.bytes = static_cast<std::uint64_t>(bytes);
  if (arguments.as_rank) return run_demo_rank(arguments.settings);

  WEIR_ASSIGN(const Folder folder, Folder::make(arguments.settings.keep, arguments.settings.folder));
  WEIR_TRY(check_space(folder.path(), arguments.settings));
  std::vector<std::string> words = {
      "demo",   "--as-rank",    "--folder", folder.path(),
      "--size", arguments.size, "--steps",  std::to_string(arguments.settings.steps)};
  if (arguments.settings.json) words.emplace_back("--json");
  if (arguments.settings.keep) words.emplace_back("--keep");
  // All ranks write themselves, whatever plan the user's programs have.
  WEIR_TRY(run_ranks(arguments.settings.ranks, words, {{"WEIR_PLAN", ""}}));
  if (!arguments.settings.json && !arguments.storage_only)
    WEIR_TRY(show_servers(folder.path(), std::max<std::int64_t>(bytes / 4, 8), arguments.settings.keep));
  if (!arguments.settings.json && arguments.settings.keep) {
    print_hints(folder.path());
  } else if (!arguments.settings.json) {
    fmt::print("\n{}\n", styled("Keep the files to look at them: weir demo --keep", Style::dim));
  }
  return {};
}

}  // namespace

void add_demo_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "demo",
      "The same array through every storage backend, then what an I/O server hides: verified and timed");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("-n,--ranks", arguments->settings.ranks, "MPI ranks of the table of backends; STREAM computes on one")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--size", arguments->size,
                   "Bytes of the array in each step; STREAM's arrays have a quarter of it")
      ->capture_default_str();
  command->add_option("--steps", arguments->settings.steps, "Steps written to each file")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--folder", arguments->settings.folder,
                      "Where to write (default: the temporary folder; with --keep: weir-demo)");
  command->add_flag("--keep", arguments->settings.keep, "Keep the files");
  command->add_flag("--storage-only", arguments->storage_only, "Only the table of backends");
  command->add_flag("--json", arguments->settings.json, "Print JSON, of the table of backends");
  command->add_flag("--as-rank", arguments->as_rank)->group("");
  command->footer(
      "Examples:\n  weir demo\n  weir demo --keep\n  weir demo -n 8 --size 256MiB --folder /scratch");
  command->callback([arguments, &context] { context.exit_code = report(demo(*arguments)); });
}

}  // namespace weir::cli
