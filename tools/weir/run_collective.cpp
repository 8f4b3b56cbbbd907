#include "run_collective.hpp"

#include <fmt/format.h>

#include "aggregation/settings.hpp"
#include "launch.hpp"
#include "preload.hpp"

namespace weir::cli {

Result<std::map<std::string, std::string>> collective_environment(const std::string& configuration) {
  std::map<std::string, std::string> variables = {{"WEIR_COLLECTIVE", "on"}, {"WEIR_SUMMARY", "1"}};
  if (configuration.empty()) return variables;
  if (configuration == "original") {
    variables["WEIR_COLLECTIVE"] = "off";
    return variables;
  }
  WEIR_ASSIGN(const aggregation::Settings settings,
              in(aggregation::parse_configuration(configuration), "--configuration"));
  const auto algorithm = [&] {
    switch (settings.algorithm) {
      case aggregation::Algorithm::two_phase:
        return "T";
      case aggregation::Algorithm::direct:
        return "N";
      case aggregation::Algorithm::segmented:
        return "S";
      case aggregation::Algorithm::automatic:
        break;
    }
    return "auto";
  };
  variables["WEIR_TWO_PHASE"] = algorithm();
  variables["WEIR_AGG"] = settings.striping_aware ? "1" : "0";
  variables["WEIR_RR"] = settings.round_robin ? "1" : "0";
  variables["WEIR_REQ"] = std::to_string(settings.requests);
  if (settings.aggregators != 0) variables["WEIR_CB_NODES"] = std::to_string(settings.aggregators);
  return variables;
}

Result<int> run_collective(const std::vector<std::string>& words, const std::string& configuration,
                           bool dry_run) {
  if (words.empty()) {
    return fail(ErrorCode::invalid_argument,
                "no program: give the launcher and the program behind --, as in 'weir run --collective -- "
                "mpirun -n 4 ./app'");
  }
  WEIR_ASSIGN(auto variables, collective_environment(configuration));
  WEIR_ASSIGN(const Preloaded command, preloaded(words, std::move(variables)));
  if (dry_run) {
    std::string line;
    for (const auto& [name, value] : command.environment) line += fmt::format("{}={} ", name, value);
    for (const std::string& word : command.words) line += word + " ";
    line.back() = '\n';
    fmt::print("{}", line);
    return 0;
  }
  const PassSignalsOn while_running;
  return launch({.words = command.words, .environment = command.environment});
}

}  // namespace weir::cli
