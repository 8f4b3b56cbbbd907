#include <fmt/format.h>

#include <algorithm>

#include "core/options.hpp"
#include "weir/weir.hpp"

namespace weir {

std::string Summary::text() const {
  const auto rate = [](std::uint64_t amount, double seconds) {
    return seconds > 0
               ? format_bytes(static_cast<std::uint64_t>(static_cast<double>(amount) / seconds)) + "/s"
               : "-";
  };
  const std::uint64_t stored = stored_bytes > 0 ? stored_bytes : bytes;
  std::string lines =
      fmt::format("weir: {} in {} writes {} {} file{}; writing took {:.3f} s ({})\n", format_bytes(bytes),
                  writes, stored == bytes ? "to" : fmt::format("stored as {} in", format_bytes(stored)),
                  files, files == 1 ? "" : "s", storing_seconds, rate(stored, storing_seconds));
  lines += fmt::format(
      "weir: the program saw {:.3f} s of it: {:.3f} s sending, {:.3f} s waiting, {:.3f} s opening and "
      "closing",
      visible_seconds(), sending_seconds, waiting_seconds, closing_seconds);
  if (storing_seconds > 0 && !transports.empty()) {
    const double hidden = std::clamp(1 - visible_seconds() / storing_seconds, 0.0, 1.0);
    lines += fmt::format("; {:.0f}% was hidden", 100 * hidden);
  }
  lines += "\n";
  if (transport_bytes > 0) {
    lines += fmt::format("weir: {} went through {} at {}; a server held at most {}\n",
                         format_bytes(transport_bytes), transports, rate(transport_bytes, transport_seconds),
                         format_bytes(peak_memory));
  } else if (peak_memory > 0) {
    lines += fmt::format("weir: nothing was copied; a server held at most {}\n", format_bytes(peak_memory));
  }
  return lines;
}

}  // namespace weir
