#include <fmt/format.h>

#include "commands.hpp"

namespace weir::cli {

namespace {

// The words that may follow a command: its subcommands and options.
std::string words_after(const CLI::App& command) {
  std::string words;
  for (const CLI::App* sub : command.get_subcommands({})) words += sub->get_name() + " ";
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // not for people: --help does not show it either
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

// One line per command path: "weir platform show) words=...".
void append_cases(const CLI::App& command, const std::string& path, std::string& cases) {
  cases += fmt::format("    '{}') words='{}' ;;\n", path, words_after(command));
  for (const CLI::App* sub : command.get_subcommands({}))
    append_cases(*sub, path + " " + sub->get_name(), cases);
}

// Made from the same declarations as the parser, so it knows every command and option there is.
std::string bash_completion(const CLI::App& app) {
  std::string cases;
  append_cases(app, "weir", cases);
  return fmt::format(R"(_weir() {{
  local word path=weir words
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    [[ $word == -* ]] || case " $(_weir_words "$path") " in *" $word "*) path="$path $word" ;; esac
  done
  words=$(_weir_words "$path")
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
  [[ ${{#COMPREPLY[@]}} -gt 0 ]] || compopt -o default
}}
_weir_words() {{
  local words=
  case "$1" in
{}  esac
  printf '%s' "$words"
}}
complete -F _weir weir ./weir
)",
                     cases);
}

}  // namespace

void add_completion_command(CLI::App& app, Context&) {
  auto* command =
      app.add_subcommand("completion", "Print a completion script for bash (zsh: run bashcompinit first)");
  command->footer("Example:\n  source <(weir completion)");
  command->callback([&app] { fmt::print("{}", bash_completion(app)); });
}

}  // namespace weir::cli
