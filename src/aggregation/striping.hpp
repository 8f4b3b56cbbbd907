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

struct Striping {
  std::uint64_t unit = 0;                   // bytes of a stripe; 0: unknown
  std::uint32_t factor = 1;                 // storage targets
  std::vector<std::uint32_t> targets = {};  // their numbers, where known: `factor` of them
  bool operator==(const Striping&) const = default;

  bool known() const { return unit > 0; }
};
Status check(const Striping& striping);

// The value of the extended attribute `lustre.lov` (struct lov_user_md), of either byte order: version 1,
// version 3 (with a pool), and composite layouts, of which the component that holds the most of the file is
// taken. `file_size` says which components are in use.
Result<Striping> parse_lov(std::span<const std::byte> attribute, std::uint64_t file_size);

// "1MiB x 4", as a user describes it.
Result<Striping> parse_striping(std::string_view text);
std::string to_string(const Striping& striping);

}  // namespace weir::aggregation
