// The summary of a session in words.
#include <fmt/format.h>

#include "core/options.hpp"
#include "weir/weir.hpp"

namespace weir {

std::string Summary::text() const {
  std::string lines = fmt::format("wrote {} in {} writes to {} files\n", format_bytes(bytes), writes, files);
  lines += fmt::format("storing took {:.3f} s", storing_seconds);
  if (storing_seconds > 0)
    lines += fmt::format(
        " ({}/s)", format_bytes(static_cast<std::uint64_t>(static_cast<double>(bytes) / storing_seconds)));
  lines += fmt::format("; the program saw {:.3f} s of it", visible_seconds());
  if (storing_seconds > 0) {
    const double hidden = 1 - visible_seconds() / storing_seconds;
    lines += fmt::format(" ({:.0f}% hidden)", hidden > 0 ? 100 * hidden : 0.0);
  }
  lines += fmt::format(": sending {:.3f} s, waiting {:.3f} s, creating and closing {:.3f} s\n",
                       sending_seconds, waiting_seconds, closing_seconds);
  if (peak_memory > 0) lines += fmt::format("a server held {} at most\n", format_bytes(peak_memory));
  if (!transports.empty()) lines += fmt::format("data went by {}\n", transports);
  return lines;
}

}  // namespace weir
