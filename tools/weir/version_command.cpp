#include <fmt/format.h>

#include "build_info.hpp"
#include "commands.hpp"
#include "core/json.hpp"
#include "terminal.hpp"
#include "version_info.hpp"

#ifdef WEIR_WITH_MPI
#include <mpi.h>

#include "backends/backend.hpp"
#endif

namespace weir::cli {

namespace {

std::string mpi_library() {
#ifdef WEIR_WITH_MPI
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n\t"));
#else
  return "";
#endif
}

std::string or_without(const std::string& version) {
  return version.empty() ? "built without" : version;
}

Json build_json() {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json json = {{"version", version_text},
               {"compiler", build::compiler},
               {"build", build::build_type},
               {"sanitizers", build::sanitizers},
               {"mpi", or_null(mpi_library())},
               {"hdf5", or_null(build::hdf5_version)},
               {"adios2", or_null(build::adios2_version)},
               {"cairo", or_null(build::cairo_version)}};
  json["backends"] = Json::array();
#ifdef WEIR_WITH_MPI
  for (const backends::Entry& entry : backends::table()) {
    json["backends"].push_back({{"name", entry.name},
                                {"summary", entry.summary},
                                {"available", entry.missing.empty()},
                                {"missing", entry.missing}});
  }
#endif
  return json;
}

void print_backends(bool with_options) {
#ifdef WEIR_WITH_MPI
  Table table({"backend", "", ""}, {Table::Align::left, Table::Align::left, Table::Align::left});
  for (const backends::Entry& entry : backends::table()) {
    const bool there = entry.missing.empty();
    table.add({std::string(entry.name), there ? styled("yes", Style::green) : styled("no", Style::red),
               std::string(there ? entry.summary : entry.missing)});
  }
  fmt::print("\n{}", table.text());
  if (!with_options) {
    fmt::print("\n'weir version --backends' lists the options of each.\n");
    return;
  }
  for (const backends::Entry& entry : backends::table()) {
    if (entry.options.empty()) continue;
    fmt::print("\n{}\n{}", styled(fmt::format("options of {}", entry.name), Style::bold),
               describe_options(entry.options));
  }
#else
  (void)with_options;
  fmt::print("\nno storage backends: built without MPI\n");
#endif
}

struct Arguments {
  bool json = false;
  bool backends = false;
};

void print_version(const Arguments& arguments) {
  if (arguments.json) {
    fmt::print("{}\n", pretty(build_json()));
    return;
  }
  fmt::print("{}\n\n", version_text);
  Table table({"part", "version"}, {Table::Align::left, Table::Align::left});
  table.add({"MPI", or_without(mpi_library())});
  table.add({"HDF5", or_without(build::hdf5_version)});
  table.add({"ADIOS2", or_without(build::adios2_version)});
  table.add({"Cairo", or_without(build::cairo_version)});
  table.add(
      {"compiler",
       fmt::format("{}, {}{}", build::compiler, build::build_type,
                   *build::sanitizers == '\0' ? "" : fmt::format(", sanitizers {}", build::sanitizers))});
  fmt::print("{}", table.text());
  print_backends(arguments.backends);
}

}  // namespace

void add_version_command(CLI::App& app, Context&) {
  auto* command =
      app.add_subcommand("version", "What this build consists of, and which storage backends it has");
  auto arguments = std::make_shared<Arguments>();
  command->add_flag("--json", arguments->json, "Print JSON");
  command->add_flag("--backends", arguments->backends, "Also list the options of every backend");
  command->footer("Examples:\n  weir version\n  weir version --backends\n  weir version --json");
  command->callback([arguments] { print_version(*arguments); });
}

}  // namespace weir::cli
