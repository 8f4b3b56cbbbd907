// Counters of a Tofu network router, as a text that a site's own tool writes to /run/weir/tofu_pa (a new file
// moved to that name, so that no half of it is ever read). The hardware is asked in ways of its own at each
// site; this is the form in which Weir takes the answer:
//
//   # anything
//   X+ wait_cycles 8112 bytes 912380 packets 7031
//   X- wait_cycles 0 bytes 0
//   ...
//
// One line a link: X+ X- Y+ Y- Z+ Z- A B+ B- C. wait_cycles are cycles until a transfer buffer was available;
// bytes and packets are those sent over the link. All count up from any start; packets may be left out.
//
// Threads: pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::telemetry {

inline constexpr std::array<std::string_view, 10> tofu_links = {"X+", "X-", "Y+", "Y-", "Z+",
                                                                "Z-", "A",  "B+", "B-", "C"};

struct TofuLink {
  std::string_view name;  // one of tofu_links
  std::uint64_t wait_cycles = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> packets;
};

struct TofuCounters {
  std::vector<TofuLink> links;        // each at most once
  std::vector<std::string> problems;  // "line 3: ..."
};

TofuCounters parse_tofu_pa(std::string_view text);

}  // namespace weir::telemetry
