#include "run_collective.hpp"

#include "aggregation/settings.hpp"

namespace weir::cli {

Result<std::map<std::string, std::string>> collective_environment(const std::string& configuration) {
  std::map<std::string, std::string> variables = {{"WEIR_COLLECTIVE", "on"}, {"WEIR_SUMMARY", "1"}};
  if (configuration == "auto") return variables;  // what the environment says holds
  if (configuration == "original") {
    variables["WEIR_COLLECTIVE"] = "off";
    return variables;
  }
  WEIR_ASSIGN(const aggregation::Settings settings,
              in(aggregation::parse_configuration(configuration), "--collective"));
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
  if (settings.buffer != 0) variables["WEIR_CB_BUFFER"] = std::to_string(settings.buffer);
  if (settings.domains != aggregation::DomainKind::automatic)
    variables["WEIR_DOMAINS"] = to_string(settings.domains);
  return variables;
}

}  // namespace weir::cli
