#include "telemetry/counter.hpp"

#include <unordered_map>

namespace weir::telemetry {

std::optional<CounterId> find_counter(std::string_view name) {
  static const auto ids = [] {
    std::unordered_map<std::string_view, CounterId> table;
    table.reserve(4 * counter_count);
    for (std::size_t i = 0; i < counter_count; ++i)
      table.emplace(counter_table[i].name, static_cast<CounterId>(i));
    return table;
  }();
  const auto found = ids.find(name);
  if (found == ids.end()) return std::nullopt;
  return found->second;
}

}  // namespace weir::telemetry
