#include "interpose/hints.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <sstream>

namespace weir::interpose {

namespace {

std::optional<std::string> variable(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

Hints read_hints(MPI_Info info) {
  Hints hints;
  if (info == MPI_INFO_NULL) return hints;
  for (const aggregation::SettingName& name : aggregation::setting_names()) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    const std::string key(name.hint);
    if (PMPI_Info_get(info, key.c_str(), MPI_MAX_INFO_VAL, value, &found) == MPI_SUCCESS && found != 0)
      hints[key] = value;
  }
  return hints;
}

std::vector<std::string> drop_useless(Hints& hints) {
  std::vector<std::string> messages;
  std::erase_if(hints, [&](const auto& hint) {
    if (is_of_weir(hint.first)) return false;
    const Status usable = aggregation::check_hint(hint.first, hint.second);
    if (!usable) messages.push_back(usable.error().message());
    return !usable;
  });
  return messages;
}

std::vector<std::string> take_advice_of_first(const mpi::Comm& comm, Hints& hints) {
  std::vector<std::string> names, mine;
  std::string words;  // each ends with a zero
  for (const aggregation::SettingName& name : aggregation::setting_names()) {
    if (is_of_weir(name.hint)) continue;
    const auto found = hints.find(names.emplace_back(name.hint));
    words += mine.emplace_back(found == hints.end() ? "" : found->second) + '\0';
  }
  std::istringstream of_first(comm.broadcast(words, 0));
  std::vector<std::int64_t> differs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string first;
    std::getline(of_first, first, '\0');
    differs.push_back(first != mine[i] ? 1 : 0);
    if (first.empty())
      hints.erase(names[i]);
    else
      hints[names[i]] = first;
  }
  differs = comm.sum(std::move(differs));
  std::vector<std::string> differing;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (differs[i] > 0) differing.push_back(names[i]);
  return differing;
}

MPI_Info with_advice(MPI_Info info, const Hints& hints) {
  MPI_Info copy = MPI_INFO_NULL;
  if (info == MPI_INFO_NULL)
    PMPI_Info_create(&copy);
  else
    PMPI_Info_dup(info, &copy);
  for (const auto& [key, value] : read_hints(copy))
    if (!is_of_weir(key)) PMPI_Info_delete(copy, key.c_str());
  for (const auto& [key, value] : hints)
    if (!is_of_weir(key)) PMPI_Info_set(copy, key.c_str(), value.c_str());
  return copy;
}

Result<aggregation::Settings> settings_of(const Hints& hints, const aggregation::Settings& base) {
  const aggregation::Lookup hint = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = hints.find(std::string(name));
    if (found == hints.end()) return std::nullopt;
    return found->second;
  };
  return aggregation::read_settings(hint, variable, base);
}

namespace {

Result<bool> is_on(const char* name) {
  const std::optional<std::string> value = variable(name);
  if (!value || *value == "off" || *value == "0" || *value == "no") return false;
  if (*value == "on" || *value == "1" || *value == "yes") return true;
  return fail(ErrorCode::invalid_argument, fmt::format("{} is '{}'; it can be on or off", name, *value));
}

}  // namespace

Result<bool> collective_wanted() {
  return is_on("WEIR_COLLECTIVE");
}
Result<bool> nonblocking_wanted() {
  return is_on("WEIR_NONBLOCKING");
}

void report_hints(MPI_Info info, const Hints& used, const aggregation::Settings& settings) {
  // The MPI library has kept what the program said, right or wrong.
  for (const auto& [key, value] : read_hints(info))
    if (is_of_weir(key) && !used.contains(key)) PMPI_Info_delete(info, key.c_str());
  for (const auto& [key, value] : used) PMPI_Info_set(info, key.c_str(), value.c_str());
  PMPI_Info_set(info, "weir_collective", aggregation::configuration_of(settings).c_str());
}

}  // namespace weir::interpose
