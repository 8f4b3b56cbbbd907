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

Striping completed(Striping asked_for) {
  if (!asked_for.known() && asked_for.asked_for()) asked_for.unit = usual_stripe;
  return asked_for;
}

Striping striping_between(std::span<const StripedPart> parts, std::uint64_t begin, std::uint64_t end) {
  end = std::max(end, begin + 1);
  const StripedPart* best = nullptr;
  std::uint64_t most = 0;
  for (const StripedPart& part : parts) {
    const std::uint64_t from = std::max(part.begin, begin);
    const std::uint64_t to = std::min(part.end, end);
    if (from >= to || to - from <= most) continue;
    best = &part;
    most = to - from;
  }
  return best == nullptr ? Striping() : best->striping;
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
