#include "telemetry/tofu_pa.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "telemetry/text_fields.hpp"

namespace weir::telemetry {

TofuCounters parse_tofu_pa(std::string_view text) {
  constexpr std::size_t most_problems = 10;
  TofuCounters counters;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_line(text);
    const std::string_view name = take_word(line);
    if (name.empty() || name.front() == '#') continue;
    std::string wrong;
    const auto link = std::find(tofu_links.begin(), tofu_links.end(), name);
    if (link == tofu_links.end()) {
      wrong = "is no link; links are X+ X- Y+ Y- Z+ Z- A B+ B- C";
    } else if (std::any_of(counters.links.begin(), counters.links.end(),
                           [&](const TofuLink& known) { return known.name == name; })) {
      wrong = "occurs twice";
    }
    TofuLink read;
    std::optional<std::uint64_t> cycles;
    std::optional<std::uint64_t> bytes;
    while (wrong.empty()) {
      const std::string_view key = take_word(line);
      if (key.empty()) break;
      const auto value = whole_number(take_word(line));
      if (!value) {
        wrong = fmt::format("has no whole number behind '{}'", shown(key));
      } else if (key == "wait_cycles") {
        cycles = value;
      } else if (key == "bytes") {
        bytes = value;
      } else if (key == "packets") {
        read.packets = value;
      } else {
        wrong = fmt::format("has an unknown counter '{}'", shown(key));
      }
    }
    if (wrong.empty() && !cycles) wrong = "has no wait_cycles";
    if (wrong.empty() && !bytes) wrong = "has no bytes";
    if (wrong.empty()) {
      read.name = *link;
      read.wait_cycles = *cycles;
      read.bytes = *bytes;
      counters.links.push_back(read);
    } else if (counters.problems.size() < most_problems) {
      counters.problems.push_back(fmt::format("line {}: '{}' {}", number, shown(name), wrong));
    }
  }
  return counters;
}

}  // namespace weir::telemetry
