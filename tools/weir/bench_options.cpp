#include "bench_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backends/backend.hpp"
#include "bench_folder.hpp"
#include "bench_report.hpp"

namespace weir::cli {

namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// 'all' leaves out what this machine cannot have; a mapping that was named must be possible.
Result<std::vector<std::string>> mappings_of(const BenchArguments& arguments,
                                             std::vector<std::string>& notes) {
  std::vector<std::string> names;
  for (const std::string& name : arguments.mappings) {
    if (name != "all") {
      WEIR_TRY(launch_of(name, arguments.settings.compute));
      add_once(names, name);
      continue;
    }
    for (const std::string& each : bench_mappings()) {
      if (const auto launch = launch_of(each, arguments.settings.compute)) {
        add_once(names, each);
      } else if (launch.error().code == ErrorCode::unsupported) {
        notes.push_back("Left out: " + launch.error().message() + ".");
      } else {
        return tl::make_unexpected(launch.error());
      }
    }
  }
  return names;
}

Result<std::vector<std::string>> backends_of(const BenchArguments& arguments) {
  std::vector<std::string> names;
  for (const std::string& name : arguments.backends) {
    if (name == "all") {
      for (const backends::Entry& entry : backends::table()) {
        if (entry.missing.empty() && entry.stores_files && entry.name != "faulty")
          add_once(names, std::string(entry.name));
      }
      continue;
    }
    WEIR_ASSIGN(const backends::Entry* entry, backends::find(name));
    if (!entry->stores_files) {
      return fail(ErrorCode::invalid_argument, fmt::format("--backend: '{}' stores no files", name),
                  "use one that does: 'weir version' lists them");
    }
    add_once(names, name);
  }
  return names;
}

Result<std::vector<std::string>> arrays_of(const BenchArguments& arguments) {
  std::string name = arguments.arrays;
  if (name.empty()) name = arguments.settings.compare ? "both" : "user";
  if (arguments.weir_arrays && arguments.arrays.empty()) name = "weir";
  if (arguments.weir_arrays && name == "user")
    return fail(ErrorCode::invalid_argument, "--weir-arrays contradicts --arrays user");
  if (name == "both") return std::vector<std::string>{"user", "weir"};
  return std::vector<std::string>{name};
}

}  // namespace

void add_bench_options(CLI::App& command, BenchArguments& arguments) {
  BenchSettings& settings = arguments.settings;
  command
      .add_option(
          "--mapping", arguments.mappings,
          "Where the I/O happens: sequential, consecutive, hyperthread, oversubscribe, thread, or all")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--backend", arguments.backends, "Backends that store files, or all")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("-n,--compute", settings.compute, "Compute ranks")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command.add_flag("--strong", settings.strong,
                   "Strong scaling: the size is that of all ranks together, not of each");
  command.add_option("--tests", arguments.tests, "Calls of test() within the computation: on, off or both")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off", "both"}));
  command
      .add_option("--arrays", arguments.arrays,
                  "Who allocates the arrays: user, weir or both (default: user; with --compare: both)")
      ->check(CLI::IsMember({"user", "weir", "both"}));
  command.add_flag("--weir-arrays", arguments.weir_arrays, "The same as --arrays weir");
  command.add_option("--repeats", settings.repeats, "Rounds that count; one more comes before, to warm up")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command.add_flag("--compare", settings.compare,
                   "Compare with the sequential mapping, with the computation alone, and with memcpy");
  command
      .add_option("--storage", settings.storage,
                  "When a write is over: cache: when the system has the data; disk: when it is on the disk")
      ->capture_default_str()
      ->check(CLI::IsMember({"cache", "disk"}));
  command.add_flag("--verify", settings.verify, "Read every file back and compare every element");
  command.add_option("--json", settings.json, "Store everything that was measured in this file");
  command.add_option("--csv", settings.csv, "Store a line for each row and round in this file");
  command.add_option("--plot", settings.plot, "Draw PREFIX-wall and PREFIX-breakdown, as .png and .svg")
      ->type_name("PREFIX");
  command.add_option("--folder", settings.folder,
                     "Where to write (default: the temporary folder; with --keep: weir-bench)");
  command.add_option("--store", settings.store,
                     "Register every launch that counts as a job there, for weir report --store");
  command.add_flag("--keep", settings.keep, "Keep the files of the last round");
  command.add_option("--as-rank", arguments.as_rank)->group("");
}

Result<BenchSettings> settle(const BenchArguments& arguments, std::vector<std::string>& notes) {
  BenchSettings settings = arguments.settings;
  WEIR_ASSIGN(settings.mappings, mappings_of(arguments, notes));
  WEIR_ASSIGN(settings.backends, backends_of(arguments));
  WEIR_ASSIGN(settings.arrays, arrays_of(arguments));
  if (arguments.tests != "on") settings.tests.push_back(false);
  if (arguments.tests != "off") settings.tests.push_back(true);
  std::vector<Report> reports = {{"--json", settings.json}, {"--csv", settings.csv}};
  if (!settings.plot.empty()) {
    for (const char* name : {"-wall.png", "-wall.svg", "-breakdown.png", "-breakdown.svg"})
      reports.push_back({"--plot", settings.plot + name});
  }
  WEIR_TRY(check_reports(reports));
  return settings;
}

}  // namespace weir::cli
