// How ranks learn of each other's pieces: all of all where that is little, else each node's on its leader.
//
// Threads: one at a time per Team. Functions are COLLECTIVE over all ranks unless they say otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "aggregation/decide.hpp"
#include "aggregation/pieces.hpp"
#include "collective/team.hpp"

namespace weir::collective {

// Rows as words, for messages.
using Words = std::vector<std::uint64_t>;
void put(Words& words, const aggregation::Rows& rows);
std::vector<aggregation::Rows> rows_in(const Words& words);

struct Gathered {
  bool everywhere = false;              // every rank has all of it
  std::vector<aggregation::Rows> all;   // by rank; not everywhere: on leaders, in any order, or not at all
  std::vector<aggregation::Rows> team;  // not everywhere: on leaders, of their node
};

// `most_rows`: of one rank. `want_all`: leaders learn of all, if it can be done with small messages.
Result<Gathered> gather(Team& team, const aggregation::Rows& mine, std::uint64_t most_rows, bool want_all);

// The pieces of all ranks, on every rank; nothing: they are not known.
std::vector<aggregation::RowIndex> share_all(const Team& team, const Gathered& gathered);

// How many pieces there would be if each node gathered its own, by a sample. Gaps that are nobody's are
// filled, if the facts allow it and all pieces are known. 0: not known.
std::uint64_t count_node_pieces(const Team& team, const Gathered& gathered,
                                const aggregation::CallFacts& facts);

}  // namespace weir::collective
