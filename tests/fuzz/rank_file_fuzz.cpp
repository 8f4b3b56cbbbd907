// Rank files: no crash, and what is accepted can be checked against a machine.
#include <cstdlib>

#include "placement/rank_file.hpp"
#include "platform/sites.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const weir::Platform platform = **weir::find_site("4x8x2");
  const auto lines = weir::parse_rank_file({reinterpret_cast<const char*>(data), size});
  if (!lines) return 0;
  for (const weir::RankLine& line : *lines)
    if (line.host.empty() || line.slots.empty()) std::abort();
  (void)weir::check(*lines, platform, true);
  (void)weir::check(*lines, platform, false);
  return 0;
}
