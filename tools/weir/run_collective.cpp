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
  WEIR_ASSIGN(auto named, in(aggregation::variables_of(configuration), "--collective"));
  variables.merge(named);
  return variables;
}

}  // namespace weir::cli
