// Single values as interconnect drivers print them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/error.hpp"
#include "telemetry/series.hpp"

namespace weir::telemetry {

// A number; nothing for "N/A (no PMA)", which a port without such a counter prints.
Result<std::optional<std::uint64_t>> parse_infiniband_value(std::string_view text);

// "VALUE@SECONDS.NANOS", with all nine digits or fewer: the fraction is a decimal one.
struct SlingshotValue {
  std::uint64_t value = 0;
  Nanoseconds time = 0;
};
Result<SlingshotValue> parse_slingshot_value(std::string_view text);

}  // namespace weir::telemetry
