// Placement algorithms by name: from who talks to whom, and the machine, to a core for every rank. One file
// each; this is their table.
//
// An algorithm is a pure function of its problem: the same problem gives the same placement everywhere. Only
// the Scotch library, which works with several threads, may find another one of about the same worth.
//
// Threads: plain functions of their arguments. LOCAL.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "pattern/sparse_matrix.hpp"
#include "placement/machine.hpp"
#include "placement/placement.hpp"

namespace weir {

// Ranks on cores of a machine.
struct Assignment {
  Numbers node_of;  // by rank
  Numbers core_of;  // by rank, the node's core (NodeType::cores)
  bool operator==(const Assignment&) const = default;
};

// What there is to place. The matrices belong to the caller and outlive the call.
struct PlacementProblem {
  const Machine* machine = nullptr;
  std::uint32_t ranks = 0;
  const pattern::SparseMatrix* recorded = nullptr;   // the application matrix, symmetric
  const pattern::SparseMatrix* cartesian = nullptr;  // the simplified one; null: the program has no grid
  const pattern::SparseMatrix* shuffle = nullptr;    // ranks by file domains, bytes; null: not known
};

// What a user can set, as in "setmatch:20". Each algorithm has one such parameter or none.
struct AlgorithmOptions {
  std::uint32_t ranks_per_node = 0;  // byslot: 0 is the machine's limit
  double percentage = 10;            // setmatch: values within so many percent of the largest are strong
  std::uint32_t passes = 2;          // mpipp: as many as the paper could afford
  std::uint64_t seed = 1;            // mpipp: of its random start
};

struct Placed {
  Assignment assignment;
  // By file domain, the node of the aggregator that writes it; empty: left to the I/O library.
  Numbers node_of_domain;
  std::string note;  // what a user should know about this result; may be empty
  bool operator==(const Placed&) const = default;
};

struct PlacementAlgorithm {
  std::string_view name;
  std::string_view what;              // one line, for --help
  std::string_view parameter;         // what ":NUMBER" means; empty: it takes none
  bool recorded, cartesian, shuffle;  // what it cannot do without
  Result<Placed> (*place)(const PlacementProblem& problem, const AlgorithmOptions& options);
};
const std::vector<PlacementAlgorithm>& placement_algorithms();

// A name with its parameter: "byslot", "byslot:32".
struct AlgorithmChoice {
  std::string text;
  const PlacementAlgorithm* algorithm = nullptr;
  AlgorithmOptions options;
};
Result<AlgorithmChoice> parse_algorithm(std::string_view text);

// Names with commas between them; "all" is every algorithm that can do with what the problem has, and byslot
// with even nodes as well where that is another placement.
Result<std::vector<AlgorithmChoice>> parse_algorithms(std::string_view text, const PlacementProblem& problem);

// Fails if the machine has no room for the ranks, or the matrices do not fit them; else runs the algorithm
// and checks what it made. A broken result is a fault of Weir, and throws std::logic_error.
Result<Placed> place(const PlacementProblem& problem, const AlgorithmChoice& choice);

// Every rank has one core that exists and may be used, no core has two ranks, no node is above its capacity.
Status check(const Assignment& assignment, const Machine& machine, std::uint32_t ranks);

// The cores of each node in order, for its ranks in the order of the list. REQUIRES: no node is overfull.
Assignment seat(const Machine& machine, Numbers node_of, std::span<const std::uint32_t> rank_order);
Assignment seat(const Machine& machine, Numbers node_of);  // in the order of ranks

// As a launcher wants it: hosts that are used, and the first usable hardware thread of each core.
Placement to_placement(const Assignment& assignment, const Platform& platform);

// One file each. REQUIRES: what their entry in the table needs, and room for all ranks.
Result<Placed> place_byslot(const PlacementProblem& problem, const AlgorithmOptions& options);
Result<Placed> place_bynode(const PlacementProblem& problem, const AlgorithmOptions& options);
Result<Placed> place_mpipp(const PlacementProblem& problem, const AlgorithmOptions& options);
Result<Placed> place_mpippg(const PlacementProblem& problem, const AlgorithmOptions& options);
Result<Placed> place_setmatch(const PlacementProblem& problem, const AlgorithmOptions& options);
Result<Placed> place_setmatchg(const PlacementProblem& problem, const AlgorithmOptions& options);
Result<Placed> place_treematch(const PlacementProblem& problem, const AlgorithmOptions& options);
Result<Placed> place_scotch(const PlacementProblem& problem, const AlgorithmOptions& options);
Result<Placed> place_joint(const PlacementProblem& problem, const AlgorithmOptions& options);
Result<Placed> place_joint_shuffle(const PlacementProblem& problem, const AlgorithmOptions& options);

}  // namespace weir
