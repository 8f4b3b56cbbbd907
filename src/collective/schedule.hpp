// Everything that the ranks have to know of each other to carry out a call: found out once, kept while the
// pieces stay the same. Offsets are those of the call it was made for; a later call may be shifted.
//
// Threads: plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "aggregation/cycles.hpp"
#include "aggregation/decide.hpp"
#include "aggregation/pieces.hpp"
#include "aggregation/ring.hpp"
#include "collective/team.hpp"

namespace weir::collective {

// Between this rank's node and one aggregator, in one cycle. In the order in which they pass through the
// node's ring.
struct Message {
  std::uint32_t aggregator = 0;  // its number in the layout
  std::uint32_t cycle = 0;
  std::uint32_t carrier = 0;      // team rank that is the aggregator, or sends to it and receives from it
  bool local = false;             // the aggregator is on this node
  std::uint64_t size = 0;         // of the whole team
  std::uint64_t part_offset = 0;  // where this rank's part begins
  std::uint64_t part_size = 0;
  aggregation::RingPlace place;
};

// What an aggregator knows of a rank that it serves.
struct Source {
  std::uint32_t node = 0;
  aggregation::RowIndex rows;  // cut to the aggregator's domain
};

struct Schedule {
  aggregation::Decision decision;
  aggregation::RowIndex file;  // this rank's pieces
  std::uint64_t hash = 0;
  bool reading = false;

  std::vector<std::vector<std::uint64_t>> boundaries;  // of the cycles of each aggregator
  std::uint32_t most_cycles = 0;                       // of one aggregator
  std::vector<Message> messages;
  std::uint64_t ring_bytes = 0;
  std::uint64_t model_between_nodes = 0;  // bytes of this rank that have to cross

  // Of an aggregator; others have number UINT32_MAX and no sources.
  std::uint32_t number = UINT32_MAX;
  std::vector<Source> sources;                  // by node, within it by rank
  std::vector<std::uint32_t> message_of_cycle;  // this node's message; UINT32_MAX: none
  std::vector<aggregation::Rows> runs;          // by cycle: what is touched in the file, found at first use
  bool fill = false;                            // small gaps that nobody writes are written back as they were
  std::vector<aggregation::RowIndex> all;       // fill, segmented: the pieces of all ranks
  std::vector<aggregation::Rows> gaps;          // by cycle: those of `runs` that are filled
  aggregation::Rows gaps_to_fill(const aggregation::Rows& runs_of_cycle) const;
  bool is_aggregator() const { return number != UINT32_MAX; }
  std::uint32_t own_cycles() const {
    return is_aggregator() && !boundaries[number].empty()
               ? static_cast<std::uint32_t>(boundaries[number].size() - 1)
               : 0;
  }

  // The rank that carries messages between a node and an aggregator.
  std::uint32_t carrier_rank(std::uint32_t node, std::uint32_t aggregator, const Team& team) const;
};

// What no node needs more of for the messages of its schedules, as a rule; the same on all ranks. LOCAL.
std::uint64_t usual_ring_bytes(const Team& team, const aggregation::Settings& settings);

// What no cycle of an aggregator exceeds; the same on all ranks. LOCAL.
std::uint64_t most_bytes_of_cycle(const Team& team, const aggregation::Settings& settings);

// Finds out and decides. COLLECTIVE; the outcome is the same everywhere. `most_rows`: of one rank.
Result<std::unique_ptr<Schedule>> negotiate(Team& team, const aggregation::Rows& pieces,
                                            std::uint64_t most_rows, aggregation::CallFacts facts,
                                            const aggregation::Settings& settings);

}  // namespace weir::collective
