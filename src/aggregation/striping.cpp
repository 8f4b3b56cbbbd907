#include "aggregation/striping.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/options.hpp"

namespace weir::aggregation {

Status check(const Striping& striping) {
  if (striping.factor == 0) return fail(ErrorCode::invalid_argument, "a file on no storage target");
  if (!striping.targets.empty() && striping.targets.size() != striping.factor)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} storage targets are named, and the file is on {}", striping.targets.size(),
                            striping.factor));
  if (striping.unit > (std::uint64_t{1} << 40U))
    return fail(ErrorCode::invalid_argument, fmt::format("stripes of {} bytes", striping.unit));
  return {};
}

Result<Striping> parse_striping(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument, fmt::format("'{}' does not describe a striping", text),
                "say it like 1MiB x 4: bytes of a stripe, number of targets");
  };
  const std::size_t cross = text.rfind('x');
  if (cross == std::string_view::npos) return wrong();
  const auto trimmed = [](std::string_view part) {
    const std::size_t first = part.find_first_not_of(' ');
    if (first == std::string_view::npos) return std::string_view();
    return part.substr(first, part.find_last_not_of(' ') - first + 1);
  };
  const auto unit = parse_bytes(trimmed(text.substr(0, cross)));
  const auto factor = parse_integer(trimmed(text.substr(cross + 1)));
  if (!unit || !factor || *unit <= 0 || *unit > (std::int64_t{1} << 40) || *factor <= 0 ||
      *factor > INT32_MAX)
    return wrong();
  return Striping{.unit = static_cast<std::uint64_t>(*unit), .factor = static_cast<std::uint32_t>(*factor)};
}

std::string to_string(const Striping& striping) {
  if (!striping.known()) return "unknown";
  return fmt::format("{} x {}", format_bytes(striping.unit), striping.factor);
}

}  // namespace weir::aggregation
