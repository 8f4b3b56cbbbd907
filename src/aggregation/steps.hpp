// Throttling and stepwise data aggregation (Figure 5.2 of EARTH). Aggregators, in serving order, form groups
// of targets x req; one group touches the file at a time. An aggregator that finished hands its token to the
// one in the same place of the next group, and the last group's tokens open the next cycle. So there are
// never more than targets x req requests at a time; and no target has more than req where file domains are
// cyclic: then the places of a target in a group are as many as req, and who has one of them keeps to that
// target. (Automatic domains are cyclic where req is given and stripes are known.) With other domains, or
// without domains, req requests per target are what there is on average, and several may meet at one target.
//
// Threads: pure functions of values.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace weir::aggregation {

struct Steps {
  std::uint32_t aggregators = 1;
  std::uint32_t width = 0;  // aggregators of a group; 0: no throttling, all are one group and need no token

  static Steps of(std::uint32_t aggregators, std::uint32_t targets, std::uint32_t requests);

  bool throttled() const { return width > 0 && width < aggregators; }
  std::uint32_t groups() const { return throttled() ? (aggregators + width - 1) / width : 1; }
  std::uint32_t group_of(std::uint32_t aggregator) const { return throttled() ? aggregator / width : 0; }

  // Whose token it waits for: of the same cycle, or of the cycle before (then `earlier`). None: it may begin.
  struct Token {
    std::uint32_t aggregator;
    bool earlier;
    bool operator==(const Token&) const = default;
  };
  std::optional<Token> awaits(std::uint32_t aggregator) const;
  // Whom it hands its token to when it finished; in the last group that is for the next cycle.
  std::optional<std::uint32_t> successor(std::uint32_t aggregator) const;
};
Status check(const Steps& steps);

// The step in which groups i and j exchange: the pairs (i, j) with max(i, j) = s belong to step s.
constexpr std::uint32_t step_of(std::uint32_t i, std::uint32_t j) {
  return i > j ? i : j;
}
std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of_step(std::uint32_t step);  // i <= j

}  // namespace weir::aggregation
