#include "aggregation/steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weir::aggregation {

Steps Steps::of(std::uint32_t aggregators, std::uint32_t targets, std::uint32_t requests) {
  const std::uint64_t width = std::uint64_t{std::max(targets, 1U)} * requests;
  return {.aggregators = aggregators,
          .width = static_cast<std::uint32_t>(std::min<std::uint64_t>(width, UINT32_MAX))};
}

std::optional<Steps::Token> Steps::awaits(std::uint32_t aggregator) const {
  if (!throttled()) return std::nullopt;
  if (aggregator >= width) return Token{.aggregator = aggregator - width, .earlier = false};
  // The last of its row: aggregator + m * width, the largest that exists.
  const std::uint32_t last = aggregator + (aggregators - 1 - aggregator) / width * width;
  return Token{.aggregator = last, .earlier = true};
}

std::optional<std::uint32_t> Steps::successor(std::uint32_t aggregator) const {
  if (!throttled()) return std::nullopt;
  return aggregator + width < aggregators && aggregator < UINT32_MAX - width ? aggregator + width
                                                                             : aggregator % width;
}

Status check(const Steps& steps) {
  if (steps.aggregators == 0) return fail(ErrorCode::invalid_argument, "there is no aggregator");
  if (!steps.throttled()) return {};
  for (std::uint32_t k = 0; k < steps.aggregators; ++k) {
    const auto token = steps.awaits(k);
    if (!token || steps.successor(token->aggregator) != k)
      return fail(ErrorCode::invalid_argument, fmt::format("nobody hands a token to aggregator {}", k));
  }
  return {};
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of_step(std::uint32_t step) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i <= step; ++i) pairs.emplace_back(i, step);
  return pairs;
}

}  // namespace weir::aggregation
