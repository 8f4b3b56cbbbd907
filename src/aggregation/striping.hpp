// How a file lies on storage targets: stripes of `unit` bytes dealt to `factor` targets in turn. From
// Lustre's extended attribute, from hints, or from a description; a file that lies on one target, or of which
// nothing is known, has factor 1.
//
// Threads: plain values; functions only read them. LOCAL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace weir::aggregation {

inline constexpr std::uint64_t usual_stripe = 1U << 20U;  // of Lustre, if nobody says otherwise

struct Striping {
  std::uint64_t unit = 0;                   // bytes of a stripe; 0: unknown, or as the file system likes
  std::uint32_t factor = 1;                 // storage targets
  std::vector<std::uint32_t> targets = {};  // their numbers, where known: `factor` of them
  bool operator==(const Striping&) const = default;

  bool known() const { return unit > 0; }
  bool asked_for() const { return known() || factor > 1; }  // of what a user said
};
Status check(const Striping& striping);

// As it was asked for, with usual stripes where only the number of targets was said.
Striping completed(Striping asked_for);

// A part of a file that is striped in one way.
struct StripedPart {
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;
  Striping striping = {};  // unknown where the layout says as many targets as there are
  bool operator==(const StripedPart&) const = default;
};

// The value of the extended attribute `lustre.lov` (struct lov_user_md), of either byte order: version 1 and
// version 3 (with a pool), which are one part, and composite layouts, whose components that are out of date
// are left out. At least one part; those of mirrors overlap.
Result<std::vector<StripedPart>> parse_lov(std::span<const std::byte> attribute);

// How what lies between two offsets is striped: as the part that holds the most of it, or, where they are the
// same, the one there.
Striping striping_between(std::span<const StripedPart> parts, std::uint64_t begin, std::uint64_t end);

// "1MiB x 4", as a user describes it.
Result<Striping> parse_striping(std::string_view text);
std::string to_string(const Striping& striping);

}  // namespace weir::aggregation
