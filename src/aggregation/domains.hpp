// File domains: which aggregator touches which bytes.
//
//   even      the range is cut into equal parts
//   aligned   the same, with cuts at borders of stripes
//   cyclic    stripes are dealt so that an aggregator always serves the same targets: with as many
//   aggregators as targets or
//             more, target t is served by aggregators t, t+T, t+2T, ...; with fewer, aggregator a by a, a+A,
//             a+2A, ...
//
// Threads: pure functions of values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "aggregation/pieces.hpp"
#include "aggregation/settings.hpp"

namespace weir::aggregation {

class Domains {
 public:
  // REQUIRES: aggregators > 0, begin <= end; of `aligned` and `cyclic`: striping.known().
  static Domains even(std::uint64_t begin, std::uint64_t end, std::uint32_t aggregators);
  static Domains aligned(std::uint64_t begin, std::uint64_t end, std::uint32_t aggregators,
                         const Striping& striping);
  static Domains cyclic(std::uint64_t begin, std::uint64_t end, std::uint32_t aggregators,
                        const Striping& striping);

  // The aggregator (its number in the layout) of a byte, and the first byte after it that is not in the same
  // part. REQUIRES: begin() <= offset < end().
  struct Part {
    std::uint32_t aggregator;
    std::uint64_t end;
  };
  Part part_at(std::uint64_t offset) const;

  // The parts of one aggregator within [begin, end), in file order.
  void for_each_part(std::uint32_t aggregator, std::uint64_t begin, std::uint64_t end,
                     const std::function<void(std::uint64_t, std::uint64_t)>& visit) const;

  DomainKind kind() const { return kind_; }
  std::uint32_t aggregators() const { return aggregators_; }
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  // Whether the domains of a range that is moved by so many bytes are these domains, moved.
  bool move_with(std::int64_t shift) const;
  Domains moved(std::int64_t shift) const;  // REQUIRES: move_with(shift)

 private:
  DomainKind kind_ = DomainKind::even;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::uint32_t aggregators_ = 1;
  std::uint64_t unit_ = 1;
  std::uint32_t targets_ = 1;
};
// Every byte of the range in exactly one part, parts in order; by walking over them (at most `most` of them).
Status check(const Domains& domains, std::uint64_t most = 100000);

// A rank's pieces, cut at the borders of domains: by aggregator, in file order. REQUIRES: all within the
// range.
std::vector<Rows> by_aggregator(std::span<const Row> rows, const Domains& domains);

}  // namespace weir::aggregation
