// weir plan with a pattern: every placement algorithm asked for, side by side, and the one that is chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "platform/source.hpp"

namespace weir::cli {

struct PlacementArguments {
  // Where the pattern comes from: one of these.
  std::string grid;      // "16x16", outermost first
  std::uint64_t bt = 0;  // ranks of BT-I/O
  std::string pattern;   // a recording
  std::string matrix;    // an application matrix, Matrix Market
  // How it is read.
  std::string block;  // of a grid: elements of a rank
  std::string element = "1KiB";
  std::uint64_t points = 0;  // of BT's cube; 0: 408, as in class D, or more where cells would be empty
  std::uint64_t permute = 0;
  std::string file;  // of a recording
  bool weigh_bytes = false;
  // What is decided.
  std::string algorithms = "byslot,bynode,setmatchg,joint,joint-shuffle";
  std::string choose;  // the algorithm whose plan is emitted; empty: the best
  std::uint64_t aggregators = 0;
  std::uint64_t calls = 0;  // collective calls that make up the file; 0: not said, so one
  std::uint64_t limit_per_node = 0;
  std::string memory_per_rank;
  // What is told.
  std::string emit;
  std::string output;
  std::string svg;
  std::optional<std::string> json;  // the comparison; empty: to the terminal
  std::string rank_file;            // to check, instead of placing

  bool given() const { return !grid.empty() || bt != 0 || !pattern.empty() || !matrix.empty(); }
};

// Where `platform` was not said and the grid needs more than this machine has, the failure says so.
Status plan_by_placement(const PlacementArguments& arguments, const PlatformRequest& machine);

// A rank file of Open MPI against the machine: says that it is right, or what is wrong with it.
Status check_rank_file(const std::string& path, const PlatformRequest& machine);

}  // namespace weir::cli
