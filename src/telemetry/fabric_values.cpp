#include "telemetry/fabric_values.hpp"

#include <fmt/format.h>

#include "telemetry/text_fields.hpp"

namespace weir::telemetry {

Result<std::optional<std::uint64_t>> parse_infiniband_value(std::string_view text) {
  std::string_view line = take_line(text);
  if (line.starts_with("N/A")) return std::nullopt;
  const auto value = whole_number(take_word(line));
  if (!value) return fail(ErrorCode::corrupt, "line 1: not a whole number");
  return value;
}

Result<SlingshotValue> parse_slingshot_value(std::string_view text) {
  std::string_view line = take_line(text);
  const std::string_view word = take_word(line);
  const auto at = word.find('@');
  const auto value = whole_number(word.substr(0, at));
  if (!value || at == std::string_view::npos)
    return fail(ErrorCode::corrupt, fmt::format("line 1: '{}' is not VALUE@SECONDS.NANOS", shown(word)));
  const std::string_view time = word.substr(at + 1);
  const auto point = time.find('.');
  const auto seconds = whole_number(time.substr(0, point));
  constexpr std::uint64_t latest_second = 9'000'000'000;
  std::uint64_t nanoseconds = 0;
  bool good = seconds && *seconds <= latest_second;
  if (good && point != std::string_view::npos) {
    const std::string_view digits = time.substr(point + 1);
    const auto fraction = whole_number(digits);
    good = fraction && digits.size() <= 9;
    nanoseconds = fraction.value_or(0);
    for (std::size_t i = digits.size(); good && i < 9; ++i) nanoseconds *= 10;
  }
  if (!good) return fail(ErrorCode::corrupt, fmt::format("line 1: '{}' has no time behind '@'", shown(word)));
  return SlingshotValue{*value, static_cast<Nanoseconds>(*seconds * 1'000'000'000 + nanoseconds)};
}

}  // namespace weir::telemetry
