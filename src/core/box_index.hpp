// Boxes that are added one by one and asked "does anybody here share an element with this one?". About log n
// a question and log^2 n an addition for the decompositions that programs use, so that a program may write
// one array in very many blocks. LOCAL; not for several threads at once.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/box.hpp"

namespace weir {

class BoxIndex {
 public:
  // REQUIRES: all boxes of an index have the same number of dimensions. An empty box is kept and never found.
  void add(std::span<const Box> boxes);
  void remove(const Box& box);  // every box equal to it; costs as much as adding all others again
  void clear();

  // Where in boxes() one stands that shares an element with this one.
  std::optional<std::size_t> find(const Box& box) const;

  const std::vector<Box>& boxes() const { return boxes_; }  // in the order in which they came

 private:
  // A tree over some of the boxes: each node has the bounds of what is below it. Trees are never changed,
  // only merged: each is larger than the next.
  struct Node {
    std::size_t first = 0, count = 0;  // its part of `members`
    std::size_t right = 0;             // its second child; the first one follows it. 0: a leaf
  };
  struct Tree {
    std::vector<std::size_t> members;
    std::vector<Node> nodes;
    std::vector<std::uint64_t> bounds;  // of each node: begins, then ends
  };
  void build(Tree& tree, std::size_t first, std::size_t count) const;
  std::optional<std::size_t> find_in(const Tree& tree, const Box& box) const;

  std::vector<Box> boxes_;
  std::size_t in_trees_ = 0;  // so many of `boxes_`; the last few are looked at one by one
  std::vector<Tree> trees_;   // falling in size
};

}  // namespace weir
