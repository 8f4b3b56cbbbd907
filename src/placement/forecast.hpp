// What a placement is worth, in figures, before anything runs; and how good any placement could be.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <string>

#include "pattern/shuffle.hpp"
#include "placement/algorithm.hpp"

namespace weir {

struct Forecast {
  double objective = 0;           // SetMatch's: the sum of R_ij / P_ij over all pairs; smaller is better
  double objective_relative = 0;  // the same, where 1 is all traffic at the node's own bandwidth
  double cross_node_share = 0;    // of the application matrix, 0 to 1
  double shuffle_cross_node_share = 0;  // of the bytes of the shuffle, with the aggregators stated
  double shuffle_cross_node_bytes = 0;
  // What bytes cost at this machine's speeds, in the matrix and in the shuffle, each as a multiple of what it
  // would be if none of them left its node; added up. 1 is the least without a shuffle, 2 with it.
  double cost_relative = 0;
  std::uint32_t nodes_used = 0;
  std::uint32_t most_ranks_on_node = 0;
};

// Without domains of its own (node_of_domain is empty) a placement is judged with those of ROMIO: one
// aggregator a node, nodes in the order of their lowest ranks, domains dealt to them in turn.
// REQUIRES: check() of the assignment holds.
Forecast forecast(const PlacementProblem& problem, const Placed& placed);

// The share of the shuffle that crosses nodes with the best aggregators that are found for this placement:
// the same search for every algorithm, so that placements can be compared like for like. Not above
// forecast().shuffle_cross_node_share. REQUIRES: problem.shuffle.
double share_with_best_aggregators(const PlacementProblem& problem, const Placed& placed);

// Bytes of the shuffle that cross nodes. REQUIRES: problem.shuffle.
double crossing_shuffle(const PlacementProblem& problem, const Numbers& node_of,
                        const Numbers& node_of_domain);

// No placement and no choice of aggregators is below these.
struct LowerBounds {
  double objective = 0;
  double cross_node_share = 0;
  double shuffle_cross_node_share = 0;
};
LowerBounds lower_bounds(const PlacementProblem& problem);
double shuffle_lower_bound(const PlacementProblem& problem);  // that of the shuffle alone; 0 without one

// The shuffle of a million ranks that each feed thousands of file domains would fill the memory: 25 GB for
// BT-I/O. Beyond this many values, 12 bytes each, it is left out, and this bound of its share takes its
// place: as lower_bounds(), but from the pattern's shapes alone.
inline constexpr std::uint64_t most_shuffle_values = 100'000'000;
double shuffle_bound_of_shapes(const PlacementProblem& problem, const pattern::Pattern& pattern,
                               const pattern::AccessTable& table, const pattern::Domains& domains);

struct FeedSums {
  double total = 0;    // bytes of the shuffle
  double largest = 0;  // those that ranks send to the domain they feed most
};
FeedSums feed_sums(const pattern::SparseMatrix& shuffle);

// Every rank feeds every file domain alike, so with one aggregator a node the share of the shuffle that
// crosses nodes is 1 - 1 / domains wherever ranks and aggregators are.
bool placement_cannot_help_shuffle(const PlacementProblem& problem);
bool feeds_are_even(const FeedSums& sums, std::uint64_t domains);  // the same, from the sums

// By file domain, the node whose aggregator ROMIO would give it. A node has no more of them than ranks,
// unless there are more domains than ranks.
Numbers romio_domains(const Numbers& node_of, std::uint32_t domains);

// By file domain, a rank on its node that feeds it most; no rank twice. REQUIRES: a node has as many ranks as
// domains, as romio_domains() and the algorithms see to.
Numbers aggregator_ranks(const PlacementProblem& problem, const Assignment& assignment,
                         const Numbers& node_of_domain);

}  // namespace weir
