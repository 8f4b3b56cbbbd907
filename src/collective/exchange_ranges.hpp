// Inner parts of Exchange, shared by its two directions.
#pragma once

#include "collective/exchange.hpp"

namespace weir::collective {

inline constexpr int data_tag = 2;

template <class Visit>
void Exchange::for_each_range(const Message& message, const Visit& visit) const {
  const auto& boundaries = schedule_.boundaries[message.aggregator];
  const auto range = [&](std::uint64_t from, std::uint64_t to) {
    const std::uint64_t begin = schedule_.file.bytes_before(from);
    const std::uint64_t end = schedule_.file.bytes_before(to);
    if (begin < end) visit(begin, end - begin);
  };
  const std::uint64_t begin = boundaries[message.cycle];
  const std::uint64_t end = boundaries[message.cycle + 1];
  if (schedule_.decision.domains)
    schedule_.decision.domains->for_each_part(message.aggregator, begin, end, range);
  else
    range(begin, end);
}

}  // namespace weir::collective
