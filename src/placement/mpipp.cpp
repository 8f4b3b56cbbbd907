// MPIPP: from a random mapping, two ranks at a time change places if that lowers the sum of R_ij / P_ij; a
// pass looks at all pairs, and passes go on while they find something, up to a number of them.
//
// The change of the sum is computed from the two rows only. Above a size where all pairs are too many, a rank
// is tried with those on the nodes of the ranks it talks to: elsewhere nothing can be gained but by chance. A
// pass tries about as many pairs as it would for all pairs of 8192 ranks, so its time is bounded.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "placement/algorithm.hpp"

namespace weir {

namespace {

constexpr std::uint32_t all_pairs_up_to = 4096;
constexpr std::size_t pairs_in_a_pass = std::size_t{1} << 25U;  // of the sparse search
constexpr std::size_t longest_row = 4096;                       // candidates of a rank in it

std::size_t candidates_of_a_rank(std::uint32_t ranks) {
  return std::min(longest_row, pairs_in_a_pass / ranks + 1);
}

class Exchange {
 public:
  Exchange(const Machine& machine, const pattern::SparseMatrix& matrix, Assignment& assignment)
      : machine_(machine), matrix_(matrix), assignment_(assignment) {}

  bool pass_over_all_pairs() {
    bool found = false;
    const auto ranks = static_cast<std::uint32_t>(assignment_.node_of.size());
    for (std::uint32_t a = 0; a < ranks; ++a)
      for (std::uint32_t b = a + 1; b < ranks; ++b) found |= exchange_if_better(a, b);
    return found;
  }

  bool pass_over_neighbours() {
    bool found = false;
    const auto ranks = static_cast<std::uint32_t>(assignment_.node_of.size());
    std::vector<Numbers> on_node(machine_.nodes());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) on_node[assignment_.node_of[rank]].push_back(rank);
    const std::size_t most = candidates_of_a_rank(ranks);
    for (std::uint32_t a = 0; a < ranks; ++a) {
      const auto friends = matrix_.columns_of(a);
      // None of their nodes uses up what the others are to have.
      const std::size_t each = most / std::max<std::size_t>(friends.size(), 1) + 1;
      std::size_t tried = 0;
      for (const std::uint32_t friend_rank : friends) {
        const std::uint32_t node = assignment_.node_of[friend_rank];
        if (node == assignment_.node_of[a]) continue;
        // The lists are of the pass's beginning; a rank that has moved since is only a worse candidate.
        std::size_t here = 0;
        for (const std::uint32_t b : on_node[node]) {
          if (b == friend_rank || b == a) continue;
          if (tried == most || here == each) break;
          ++tried;
          ++here;
          found |= exchange_if_better(a, b);
        }
      }
    }
    return found;
  }

 private:
  CorePlace place_of(std::uint32_t rank) const {
    return {assignment_.node_of[rank], assignment_.core_of[rank]};
  }
  // What the row of `rank` costs more at `there` than where it is, without its partner.
  double extra_cost(std::uint32_t rank, std::uint32_t partner, CorePlace there) const {
    const CorePlace here = place_of(rank);
    const auto columns = matrix_.columns_of(rank);
    const auto values = matrix_.values_of(rank);
    double extra = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == partner || columns[i] == rank) continue;
      const CorePlace other = place_of(columns[i]);
      extra += values[i] * (machine_.cost(there, other) - machine_.cost(here, other));
    }
    return extra;
  }
  bool exchange_if_better(std::uint32_t a, std::uint32_t b) {
    if (assignment_.node_of[a] == assignment_.node_of[b] && machine_.flat_nodes()) return false;
    const double change = extra_cost(a, b, place_of(b)) + extra_cost(b, a, place_of(a));
    if (change >= -1e-18) return false;
    std::swap(assignment_.node_of[a], assignment_.node_of[b]);
    std::swap(assignment_.core_of[a], assignment_.core_of[b]);
    return true;
  }

  const Machine& machine_;
  const pattern::SparseMatrix& matrix_;
  Assignment& assignment_;
};

// Distributions of the standard library differ between its implementations; this does not.
void shuffle_places(std::vector<CorePlace>& places, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random() % i]);
}

Result<Placed> exchange(const PlacementProblem& problem, const pattern::SparseMatrix& matrix,
                        const AlgorithmOptions& options) {
  const Machine& machine = *problem.machine;
  std::vector<CorePlace> places;
  for (std::uint32_t node = 0; node < machine.nodes(); ++node)
    for (std::uint32_t i = 0; i < machine.capacity(node); ++i)
      places.push_back({node, machine.cores(node)[i]});
  shuffle_places(places, options.seed);
  Placed placed;
  for (std::uint32_t rank = 0; rank < problem.ranks; ++rank) {
    placed.assignment.node_of.push_back(places[rank].node);
    placed.assignment.core_of.push_back(places[rank].core);
  }
  Exchange search(machine, matrix, placed.assignment);
  const bool all_pairs = problem.ranks <= all_pairs_up_to;
  for (std::uint32_t pass = 0; pass < options.passes; ++pass)
    if (!(all_pairs ? search.pass_over_all_pairs() : search.pass_over_neighbours())) break;
  if (!all_pairs)
    placed.note = fmt::format(
        "each rank was tried with at most {} others a pass, on the nodes of its neighbours: there are too "
        "many "
        "pairs",
        candidates_of_a_rank(problem.ranks));
  return placed;
}

}  // namespace

Result<Placed> place_mpipp(const PlacementProblem& problem, const AlgorithmOptions& options) {
  return exchange(problem, *problem.cartesian, options);
}

Result<Placed> place_mpippg(const PlacementProblem& problem, const AlgorithmOptions& options) {
  return exchange(problem, *problem.recorded, options);
}

}  // namespace weir
