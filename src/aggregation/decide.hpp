// From what the ranks of a call agreed on to how it is carried out. Every rank computes the same decision
// from the same values.
//
// Left to itself (Algorithm::automatic) it takes the way that is cheapest by a small model: requests that are
// large go straight to the file; small ones are gathered first, within a node where that is enough to make
// them large, else over all nodes.
//
// Threads: pure functions of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/domains.hpp"
#include "aggregation/layout.hpp"
#include "aggregation/settings.hpp"
#include "aggregation/steps.hpp"

namespace weir::aggregation {

// What is known of a call, over all ranks.
struct CallFacts {
  std::uint64_t begin = 0;  // of the bytes touched; begin == end: nothing to do
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;        // in total
  std::uint64_t pieces = 0;       // in total
  std::uint64_t most_pieces = 0;  // of one rank
  std::uint64_t node_pieces =
      0;  // in total, if each node gathered its own first and filled gaps where it may; 0: not known
  bool shared_locks =
      false;  // the file system locks parts of a file for one node at a time (Lustre, GPFS, ...)
  bool reading = false;
  bool may_fill = false;  // aggregators may write small gaps that nobody writes back as they were
};

struct Decision {
  Algorithm algorithm = Algorithm::direct;   // never automatic
  Layout aggregators;                        // by rank, in serving order; direct: every rank, in token order
  std::optional<Domains> domains;            // two_phase
  std::vector<std::uint32_t> group_of_rank;  // segmented: the number of the aggregator that serves the rank
  Steps steps;
  std::string reason;  // in words, for reports

  std::uint32_t number_of(
      std::uint32_t rank) const;  // of an aggregator in the layout; UINT32_MAX: it is none
};

// The size from which on a request is worth a visit to the file by itself.
std::uint64_t large_request(const CallFacts& facts, const Settings& settings);
// Whether the decision depends on node_pieces, which cost the ranks something to find out.
bool needs_node_pieces(const CallFacts& facts, const Nodes& nodes, const Settings& settings);

// Whether ranks would all touch the file for themselves, whenever they like, were the pieces of all of them
// like these of one.
bool all_direct(const CallFacts& facts, const Settings& settings);

Decision decide(const CallFacts& facts, const Nodes& nodes, const Settings& settings);

// Which of agg and req change nothing about this decision, and why: in words, for users who asked for them.
std::vector<std::string> settings_without_effect(const Decision& decision, const Settings& settings);

// The part of a file whose blocks are worth asking for at once before it is written: where little is left
// out. Empty: none. `writes`: of all ranks, or of one; `allocated`: up to there the file has its blocks.
Piece blocks_to_ask_for(const CallFacts& writes, std::uint64_t allocated);
Status check(const Decision& decision, const Nodes& nodes);

// Dynamic segmentation: consecutive ranks of a node form `groups` groups (never fewer than nodes, so that no
// group spans two of them unless there are fewer groups than nodes). Returns the group of each rank; groups
// have at least one rank.
std::vector<std::uint32_t> segment_groups(const Nodes& nodes, std::uint32_t groups);

}  // namespace weir::aggregation
