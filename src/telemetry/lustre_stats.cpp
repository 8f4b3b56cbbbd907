#include "telemetry/lustre_stats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "telemetry/text_fields.hpp"

namespace weir::telemetry {

namespace {

constexpr std::size_t most_lines = 1000;
constexpr std::size_t most_problems = 10;
constexpr std::uint64_t latest_second = 9'000'000'000;

// What is wrong with the line, or nothing.
std::string_view read_line(std::string_view words, LustreLine& line) {
  line.name = take_word(words);
  const auto count = whole_number(take_word(words));
  if (!count) return "the number of samples is not a whole number";
  line.count = *count;
  if (take_word(words) != "samples") return "the word 'samples' is missing";
  line.unit = take_word(words);
  if (line.unit.size() < 2 || line.unit.front() != '[' || line.unit.back() != ']')
    return "the [unit] is missing";
  line.unit = line.unit.substr(1, line.unit.size() - 2);
  if (const auto minimum = take_word(words); minimum.empty()) return {};  // calls that are only counted
  take_word(words);  // the maximum: since the counter began, so of no use to anybody
  line.sum = whole_number(take_word(words));
  if (!line.sum) return "the sum is missing or not a whole number";
  if (const auto squares = take_word(words); !squares.empty()) {
    line.sumsq = whole_number(squares);
    if (!line.sumsq) return "the sum of squares is not a whole number";
  }
  return {};
}

}  // namespace

const LustreLine* LustreStats::find(std::string_view name) const {
  const auto found =
      std::find_if(lines.begin(), lines.end(), [&](const LustreLine& l) { return l.name == name; });
  return found == lines.end() ? nullptr : &*found;
}

std::optional<Nanoseconds> parse_lustre_time(std::string_view words) {
  const std::string_view number = take_word(words);
  const std::string_view unit = take_word(words);
  const auto point = number.find('.');
  const auto seconds = whole_number(number.substr(0, point));
  if (!seconds || *seconds > latest_second) return std::nullopt;
  std::uint64_t fraction = 0;
  if (point != std::string_view::npos) {
    const auto digits = whole_number(number.substr(point + 1));
    const std::uint64_t most = unit == "secs.usecs" ? 999'999 : 999'999'999;
    if (!digits || *digits > most) return std::nullopt;
    fraction = unit == "secs.usecs" ? *digits * 1000 : *digits;
  }
  return static_cast<Nanoseconds>(*seconds * 1'000'000'000 + fraction);
}

LustreStats parse_lustre_stats(std::string_view text) {
  LustreStats stats;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = take_line(text);
    std::string_view rest = whole;
    const std::string_view name = take_word(rest);
    if (name.empty()) continue;
    std::string_view wrong;
    if (name == "snapshot_time" || name == "start_time") {
      const auto time = parse_lustre_time(rest);
      (name == "start_time" ? stats.start_time : stats.snapshot_time) = time;
      if (!time) wrong = "the time is not seconds with a fraction";
    } else if (name != "elapsed_time") {
      LustreLine line;
      wrong = read_line(whole, line);
      if (wrong.empty()) {
        const auto same = std::find_if(stats.lines.begin(), stats.lines.end(),
                                       [&](const LustreLine& l) { return l.name == line.name; });
        if (same == stats.lines.end() && stats.lines.size() < most_lines) {
          stats.lines.push_back(line);
        } else if (same != stats.lines.end() && same->count < line.count) {
          *same = line;
        }
      }
    }
    if (!wrong.empty() && stats.problems.size() < most_problems)
      stats.problems.push_back(fmt::format("line {}: '{}': {}", number, shown(name), wrong));
  }
  return stats;
}

}  // namespace weir::telemetry
