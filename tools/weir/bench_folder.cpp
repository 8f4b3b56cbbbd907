#include "bench_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/file.hpp"
#include "core/options.hpp"

namespace weir::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::array<int, 3> ending_signals = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t noted_signal = 0;

void note_signal(int signal) {
  noted_signal = signal;
}

}  // namespace

Result<BenchFolder> BenchFolder::temporary(const std::string& parent) {
  const char* base = std::getenv("TMPDIR");
  std::string path =
      (parent.empty() ? std::string(base == nullptr || *base == '\0' ? "/tmp" : base) : parent) +
      "/weir-bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return fail_errno(errno, "create a folder", path);
  return BenchFolder(path, true);
}

Result<BenchFolder> BenchFolder::kept(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return fail_errno(error.value(), "create", path);
  return BenchFolder(path, false);
}

BenchFolder::BenchFolder(BenchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), temporary_(other.temporary_) {}

BenchFolder::~BenchFolder() {
  std::error_code ignored;
  if (!path_.empty() && temporary_) fs::remove_all(path_, ignored);
}

void remove_unfinished(const std::string& path) {
  std::error_code ignored;
  const std::string file = fs::path(path).filename().string();
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(file)) continue;
    const std::string_view rest = std::string_view(name).substr(file.size());
    const bool ours = rest.starts_with(".floor.") || rest.starts_with(".slowdown") ||
                      rest.starts_with(".warm-up") || rest.find(".partial.") != std::string_view::npos;
    if (ours) fs::remove_all(entry.path(), ignored);
  }
}

Interrupts::Interrupts() {
  noted_signal = 0;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  for (std::size_t i = 0; i < ending_signals.size(); ++i)
    ::sigaction(ending_signals[i], &action, &previous_[i]);
}

Interrupts::~Interrupts() {
  for (std::size_t i = 0; i < ending_signals.size(); ++i)
    ::sigaction(ending_signals[i], &previous_[i], nullptr);
}

Status Interrupts::check() {
  if (noted_signal == 0) return {};
  return fail(ErrorCode::io, fmt::format("ended by signal {}", static_cast<int>(noted_signal)));
}

Status check_room(const std::string& folder, double bytes) {
  const std::uint64_t room = free_space(folder);
  if (static_cast<double>(room) >= bytes) return {};
  const std::uint64_t needed = bytes < 1e18 ? static_cast<std::uint64_t>(bytes) : std::uint64_t{1} << 60U;
  return fail(ErrorCode::io,
              fmt::format("{} has {} free, the files need about {}", folder, format_bytes(room),
                          format_bytes(needed)),
              "use --folder, a smaller size or fewer writes");
}

Status check_writable(const std::string& path) {
  if (path.empty()) return {};
  if (path == "-")
    return fail(ErrorCode::invalid_argument, "'-': standard output has the table", "name a file");
  const fs::path folder = fs::absolute(path).parent_path();
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return fail_errno(EISDIR, "create a file", path);
  // Some file systems let root write, and yet have no room for new files.
  std::string trial = folder.string() + "/.weir-bench-XXXXXX";
  const int made = ::mkstemp(trial.data());
  if (made < 0) return fail_errno(errno, "create a file", path);
  ::close(made);
  ::unlink(trial.c_str());
  return {};
}

Status check_reports(const std::vector<Report>& reports) {
  const auto place = [](const std::string& path) {
    std::error_code ignored;
    return fs::weakly_canonical(fs::absolute(path), ignored);
  };
  for (auto report = reports.begin(); report != reports.end(); ++report) {
    if (report->path.empty()) continue;
    WEIR_TRY(in(check_writable(report->path), fmt::format("{}", report->option)));
    const auto same = std::find_if(reports.begin(), report, [&](const Report& other) {
      return !other.path.empty() && place(other.path) == place(report->path);
    });
    if (same != report)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} and {} are the same file, {}", same->option, report->option, report->path),
                  "name two files");
  }
  return {};
}

}  // namespace weir::cli
