// SetMatch (Algorithm 1 of the paper), as its text means it where the listing is misprinted:
// - Phases I and II: ranks joined by a strong value are one set. Strong is what lies within a percentage of
//   the largest value (10: at least 0.9 of it), the reading under which "other values are ignored" has an
//   effect on patterns whose values differ by less than a factor of ten. Interleaved sets are merged whatever
//   the order they are found in, so a union-find does both phases.
// - Phase III: the largest set goes to the node with most free cores. One that is larger than any node is
// cut:
//   the node is filled, and what remains is a set again. Both lists are kept sorted by what remains.
//
// Linear in the number of values: sets and nodes are sorted by counting.
#include <algorithm>
#include <numeric>

#include "placement/algorithm.hpp"

namespace weir {

namespace {

class Sets {
 public:
  explicit Sets(std::uint32_t ranks) : parent_(ranks) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t find(std::uint32_t rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }
  // The lower root stays, so that a set is known by its lowest rank.
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a), b = find(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  Numbers parent_;
};

// Numbers 0, 1, ... by a key that only falls: the largest key in constant time.
class BySize {
 public:
  explicit BySize(const Numbers& keys)
      : largest_(keys.empty() ? 0 : *std::max_element(keys.begin(), keys.end())) {
    stacks_.resize(std::size_t{largest_} + 1);
    for (std::size_t i = keys.size(); i-- > 0;) stacks_[keys[i]].push_back(static_cast<std::uint32_t>(i));
  }
  std::uint32_t largest_key() {
    while (largest_ > 0 && stacks_[largest_].empty()) --largest_;
    return largest_;
  }
  std::uint32_t take() {  // REQUIRES: largest_key() > 0
    auto& stack = stacks_[largest_key()];
    const std::uint32_t top = stack.back();
    stack.pop_back();
    return top;
  }
  void put(std::uint32_t number, std::uint32_t key) { stacks_[key].push_back(number); }

 private:
  std::vector<Numbers> stacks_;
  std::uint32_t largest_;
};

Result<Placed> match(const PlacementProblem& problem, const pattern::SparseMatrix& matrix,
                     double percentage) {
  const std::uint32_t ranks = problem.ranks;
  double largest = 0;
  for (const double value : matrix.value) largest = std::max(largest, value);
  const double strong = largest * (1 - percentage / 100);
  Sets sets(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto columns = matrix.columns_of(rank);
    const auto values = matrix.values_of(rank);
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (values[i] > 0 && values[i] >= strong) sets.join(rank, columns[i]);
  }

  // The ranks of each set one after the other, sets by their lowest rank.
  Numbers number(ranks, UINT32_MAX), sizes, begin;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t root = sets.find(rank);
    if (number[root] == UINT32_MAX) {
      number[root] = static_cast<std::uint32_t>(sizes.size());
      sizes.push_back(0);
    }
    ++sizes[number[root]];
  }
  begin.resize(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), begin.begin(), 0U);
  Numbers members(ranks), next = begin;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) members[next[number[sets.find(rank)]]++] = rank;

  const Machine& machine = *problem.machine;
  BySize application(sizes), architecture(machine.capacities());
  Numbers node_of(ranks);
  for (std::uint32_t mapped = 0; mapped < ranks;) {
    const std::uint32_t size = application.largest_key();
    const std::uint32_t room = architecture.largest_key();
    const std::uint32_t set = application.take(), node = architecture.take();
    const std::uint32_t count = std::min(size, room);
    for (std::uint32_t i = 0; i < count; ++i) node_of[members[begin[set]++]] = node;
    if (size > count) application.put(set, size - count);
    if (room > count) architecture.put(node, room - count);
    mapped += count;
  }
  return Placed{.assignment = seat(machine, std::move(node_of), members)};
}

}  // namespace

Result<Placed> place_setmatch(const PlacementProblem& problem, const AlgorithmOptions& options) {
  return match(problem, *problem.cartesian, options.percentage);
}

Result<Placed> place_setmatchg(const PlacementProblem& problem, const AlgorithmOptions& options) {
  return match(problem, *problem.recorded, options.percentage);
}

}  // namespace weir
