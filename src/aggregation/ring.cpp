#include "aggregation/ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace weir::aggregation {

namespace {

constexpr std::uint64_t line = 64;  // two writers of neighbouring messages share no cache line
std::uint64_t rounded(std::uint64_t size) {
  return (size + line - 1) / line * line;
}

bool overlap(std::uint64_t a, std::uint64_t a_size, std::uint64_t b, std::uint64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

}  // namespace

std::vector<RingPlace> place_in_ring(std::span<const std::uint64_t> sizes, std::uint64_t capacity) {
  std::vector<RingPlace> places;
  places.reserve(sizes.size());
  std::uint64_t head = 0;
  std::uint64_t oldest = 0;  // the first message that may still be there
  for (const std::uint64_t exact : sizes) {
    const std::uint64_t size = rounded(exact);
    if (size > capacity)
      throw std::logic_error(fmt::format("a message of {} bytes for a ring of {}", exact, capacity));
    if (head + size > capacity) head = 0;
    // Messages leave in order as far as anybody relies on it. Which of those there overlaps? All up to the
    // last that does.
    for (std::uint64_t m = oldest; m < places.size(); ++m)
      if (overlap(head, size, places[m].offset, rounded(sizes[m]))) oldest = m + 1;
    places.push_back({.offset = head, .gone = oldest});
    head += size;
  }
  return places;
}

Status check(std::span<const RingPlace> places, std::span<const std::uint64_t> sizes,
             std::uint64_t capacity) {
  if (places.size() != sizes.size()) return fail(ErrorCode::invalid_argument, "a message has no place");
  for (std::size_t m = 0; m < places.size(); ++m) {
    if (places[m].offset + sizes[m] > capacity || places[m].gone > m)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("message {} leaves the ring, or waits for itself", m));
    for (std::size_t earlier = places[m].gone; earlier < m; ++earlier)
      if (sizes[m] > 0 && sizes[earlier] > 0 &&
          overlap(places[m].offset, sizes[m], places[earlier].offset, sizes[earlier]))
        return fail(ErrorCode::invalid_argument, fmt::format("messages {} and {} overlap", earlier, m));
  }
  return {};
}

}  // namespace weir::aggregation
