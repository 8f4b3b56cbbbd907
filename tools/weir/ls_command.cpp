#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/json.hpp"
#include "input.hpp"
#include "terminal.hpp"

namespace weir::cli {

namespace {

struct Arguments : InputArguments {
  bool json = false;
};

// "0..99" where steps are evenly spaced, else the numbers themselves, shortened.
std::string describe_steps(const std::vector<std::int64_t>& steps) {
  if (steps.size() < 4) return fmt::format("{}", fmt::join(steps, ","));
  bool even = true;
  for (std::size_t i = 2; i < steps.size(); ++i)
    even = even && steps[i] - steps[i - 1] == steps[1] - steps[0];
  const std::string increment = steps[1] - steps[0] == 1 ? "" : fmt::format(" by {}", steps[1] - steps[0]);
  return even ? fmt::format("{}..{}{}", steps.front(), steps.back(), increment)
              : fmt::format("{},{},...,{}", steps[0], steps[1], steps.back());
}

std::string describe_value(const AttributeValue& value) {
  constexpr std::size_t most_shown = 8;
  if (const auto* text = std::get_if<std::string>(&value)) return fmt::format("\"{}\"", printable(*text));
  const auto& values = std::get<Values>(value);
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(values.size(), most_shown); ++i) {
    shown.push_back(format_element(values.type, values.bytes.data() + i * size_of(values.type)));
  }
  if (values.size() > most_shown) shown.push_back(fmt::format("... ({} in all)", values.size()));
  return fmt::format("{} [{}]", name_of(values.type), fmt::join(shown, ", "));
}

// Of an attribute: "title", "T:unit".
std::string full_name(const std::string& variable, const std::string& attribute) {
  return printable(variable.empty() ? attribute : variable + ":" + attribute);
}

std::uint64_t bytes_of(const files::Contents& entry) {
  return volume(entry.info.shape) * size_of(entry.info.type) * entry.info.slots;
}

Json to_json(const files::InputFile& file) {
  Json json = {{"file", file.path()}, {"backend", file.backend()}};
  json["variables"] = Json::array();
  for (const files::Contents& entry : file.contents()) {
    json["variables"].push_back({{"name", entry.info.name},
                                 {"type", name_of(entry.info.type)},
                                 {"shape", entry.info.shape},
                                 {"steps", entry.info.stepped ? Json(entry.steps) : Json()},
                                 {"bytes", bytes_of(entry)},
                                 {"checksums", file.has_checksums(entry.info.name)}});
  }
  json["attributes"] = Json::array();
  for (const backends::Attribute& attribute : file.attributes()) {
    Json item = {{"variable", attribute.variable.empty() ? Json() : Json(attribute.variable)},
                 {"name", attribute.name}};
    if (const auto* text = std::get_if<std::string>(&attribute.value)) {
      item["text"] = *text;
    } else {
      const auto& values = std::get<Values>(attribute.value);
      item["type"] = name_of(values.type);
      item["values"] = Json::array();
      for (std::size_t i = 0; i < values.size(); ++i) {
        item["values"].push_back(format_element(values.type, values.bytes.data() + i * size_of(values.type)));
      }
    }
    json["attributes"].push_back(std::move(item));
  }
  json["unreadable"] = Json::array();
  for (const backends::Unreadable& other : file.unreadable()) {
    json["unreadable"].push_back({{"variable", other.variable.empty() ? Json() : Json(other.variable)},
                                  {"attribute", other.attribute.empty() ? Json() : Json(other.attribute)},
                                  {"why", other.why}});
  }
  return json;
}

Status list(const Arguments& arguments) {
  WEIR_ASSIGN(auto file, open_input(arguments));
  if (arguments.json) {
    fmt::print("{}\n", pretty(to_json(*file)));
    return file->close();
  }
  fmt::print("{}: {}\n\n", file->path(), file->backend());
  using Align = Table::Align;
  Table table({"variable", "type", "shape", "steps", "size", "checksums"},
              {Align::left, Align::left, Align::left, Align::left, Align::right, Align::left});
  for (const files::Contents& entry : file->contents()) {
    const std::string steps =
        !entry.info.stepped ? "-" : fmt::format("{} ({})", entry.steps.size(), describe_steps(entry.steps));
    table.add({printable(entry.info.name), std::string(name_of(entry.info.type)),
               format_extent(entry.info.shape), steps, format_bytes(bytes_of(entry)),
               file->has_checksums(entry.info.name) ? "xxh3" : "-"});
  }
  const std::vector<backends::Unreadable> unreadable = file->unreadable();
  for (const backends::Unreadable& other : unreadable) {
    if (other.attribute.empty()) table.add({printable(other.variable), other.why, "-", "-", "-", "-"});
  }
  fmt::print("{}", table.text());
  for (const backends::Attribute& attribute : file->attributes()) {
    fmt::print("{} = {}\n", full_name(attribute.variable, attribute.name), describe_value(attribute.value));
  }
  for (const backends::Unreadable& other : unreadable) {
    if (!other.attribute.empty())
      fmt::print("{}: {}\n", full_name(other.variable, other.attribute), other.why);
  }
  return file->close();
}

}  // namespace

void add_ls_command(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("ls", "List the variables, steps and attributes of a file, whatever its format");
  auto arguments = std::make_shared<Arguments>();
  add_input_arguments(*command, *arguments);
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer("Examples:\n  weir ls run.h5\n  weir ls run.bp --json");
  command->callback([arguments, &context] { context.exit_code = report(list(*arguments)); });
}

}  // namespace weir::cli
