#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "checks.hpp"
#include "core/json.hpp"
#include "input.hpp"

namespace weir::cli {

namespace {

struct Arguments : InputArguments {
  std::string variable;
  std::optional<std::int64_t> step;
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> count;
  bool raw = false;
  bool json = false;
};

constexpr std::uint64_t bytes_at_a_time = 16U << 20U;

Status write_to_stdout(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    return fail_errno(errno, "write", "standard output");
  return {};
}

// A line per row of the fastest dimension, a blank line between planes.
std::string as_text(Type type, const Box& piece, const Box& whole, const std::byte* data,
                    std::uint64_t first_element) {
  const std::uint64_t row = whole.count.back();
  const std::uint64_t plane = whole.count.size() > 1 ? row * whole.count[whole.count.size() - 2] : 0;
  std::string text;
  for (std::uint64_t i = 0; i < volume(piece.count); ++i) {
    const std::uint64_t element = first_element + i;
    if (element > 0 && element % row == 0) text += plane != 0 && element % plane == 0 ? "\n\n" : "\n";
    if (element % row != 0) text += ' ';
    text += format_element(type, data + i * size_of(type));
  }
  return text;
}

// Numbers where JSON has them, texts elsewhere (NaN, complex, long double).
std::string as_json(Type type, const Box& piece, const std::byte* data, std::uint64_t first_element) {
  std::string text;
  for (std::uint64_t i = 0; i < volume(piece.count); ++i) {
    if (first_element + i > 0) text += ", ";
    const std::string element = format_element(type, data + i * size_of(type));
    text += type != Type::long_double && Json::accept(element) ? element : Json(element).dump();
  }
  return text;
}

// All that JSON says of the elements before they come, in C order.
std::string json_opening(const files::InputFile& file, const files::Contents& entry,
                         const Arguments& arguments, const Box& wanted) {
  const Json step =
      !entry.info.stepped ? Json() : Json(arguments.step.value_or(entry.steps.empty() ? 0 : entry.steps[0]));
  std::string opening =
      Json{{"file", file.path()}, {"variable", entry.info.name}, {"type", name_of(entry.info.type)},
           {"step", step},        {"offset", wanted.offset},     {"count", wanted.count}}
          .dump(-1, ' ', false, Json::error_handler_t::replace);
  opening.back() = ',';
  return opening + "\n\"values\": [";
}

// Asked here as well as on reading, since nothing is read of an empty array.
Status check_step(const files::Contents& entry, std::optional<std::int64_t> step) {
  if (!step || std::find(entry.steps.begin(), entry.steps.end(), *step) != entry.steps.end()) return {};
  return fail(ErrorCode::not_found, fmt::format("variable '{}' has no step {}", entry.info.name, *step),
              "'weir ls' lists the steps");
}

Status print_variable(const Arguments& arguments) {
  WEIR_ASSIGN(auto file, open_input(arguments));
  WEIR_ASSIGN(const files::Contents* entry, in(file->find(arguments.variable), "look up", file->path()));
  const backends::Variable& info = entry->info;
  WEIR_TRY(check_step(*entry, arguments.step));
  Box wanted{Extent(arguments.offset.begin(), arguments.offset.end()),
             Extent(arguments.count.begin(), arguments.count.end())};
  if (wanted.offset.empty()) wanted.offset.assign(info.shape.size(), 0);
  if (wanted.count.empty()) {
    for (std::size_t d = 0; d < info.shape.size() && d < wanted.offset.size(); ++d) {
      wanted.count.push_back(info.shape[d] - std::min(info.shape[d], wanted.offset[d]));
    }
  }
  WEIR_TRY(in(check_box(wanted, info.shape), fmt::format("print variable '{}'", info.name), file->path()));

  const std::size_t size = size_of(info.type);
  const auto shown = [&](const Box& piece, const std::vector<std::byte>& bytes, std::uint64_t first) {
    if (arguments.raw) return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (arguments.json) return as_json(info.type, piece, bytes.data(), first);
    return as_text(info.type, piece, wanted, bytes.data(), first);
  };
  if (arguments.json) WEIR_TRY(write_to_stdout(json_opening(*file, *entry, arguments, wanted)));
  std::vector<std::byte> buffer;
  std::uint64_t element = 0;
  for (const Box& piece : split(wanted, bytes_at_a_time / size)) {
    buffer.resize(volume(piece.count) * size);
    WEIR_TRY(file->read({.name = info.name,
                         .type = info.type,
                         .offset = piece.offset,
                         .count = piece.count,
                         .step = arguments.step,
                         .data = buffer.data(),
                         .elements = volume(piece.count)}));
    WEIR_TRY(write_to_stdout(shown(piece, buffer, element)));
    element += volume(piece.count);
  }
  if (arguments.json) {
    WEIR_TRY(write_to_stdout("]}\n"));
  } else if (!arguments.raw && element > 0) {
    WEIR_TRY(write_to_stdout("\n"));
  }
  return file->close();
}

}  // namespace

void add_cat_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("cat", "Print the elements of a variable, or of a part of it");
  auto arguments = std::make_shared<Arguments>();
  add_input_arguments(*command, *arguments);
  command->add_option("variable", arguments->variable, "The variable, as 'weir ls' names it")->required();
  command->add_option("--step", arguments->step, "The step (needed when there are several)")
      ->check(whole_number(INT64_MIN));
  command->add_option("--offset", arguments->offset, "First element in each dimension: 0,3")
      ->delimiter(',')
      ->check(whole_number());
  command->add_option("--count", arguments->count, "Elements in each dimension: 1,10")
      ->delimiter(',')
      ->check(whole_number());
  auto* raw = command->add_flag("--raw", arguments->raw, "Bytes as they are in memory, for another program");
  command->add_flag("--json", arguments->json, "Print JSON: the elements in C order")->excludes(raw);
  command->footer(
      "Examples:\n"
      "  weir cat run.h5 T --step 3\n"
      "  weir cat run.bp T --step 3 --offset 0,0 --count 1,10\n"
      "  weir cat run.dat T --raw > T.bin");
  command->callback([arguments, &context] { context.exit_code = report(print_variable(*arguments)); });
}

}  // namespace weir::cli
