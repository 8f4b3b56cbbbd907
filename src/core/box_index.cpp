#include "core/box_index.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weir {

namespace {

constexpr std::size_t leaf_size = 4;

std::size_t widest_dimension(std::span<const std::uint64_t> bounds) {
  const std::size_t dimensions = bounds.size() / 2;
  std::size_t widest = 0;
  for (std::size_t d = 1; d < dimensions; ++d) {
    if (bounds[dimensions + d] - bounds[d] > bounds[dimensions + widest] - bounds[widest]) widest = d;
  }
  return widest;
}

bool apart(std::span<const std::uint64_t> bounds, const Box& box) {
  const std::size_t dimensions = box.offset.size();
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (box.offset[d] >= bounds[dimensions + d] || bounds[d] >= box.offset[d] + box.count[d]) return true;
  }
  return false;
}

}  // namespace

void BoxIndex::add(std::span<const Box> boxes) {
  boxes_.insert(boxes_.end(), boxes.begin(), boxes.end());
  if (boxes_.size() - in_trees_ <= leaf_size) return;
  Tree grown;
  for (; in_trees_ < boxes_.size(); ++in_trees_) {
    if (!boxes_[in_trees_].empty()) grown.members.push_back(in_trees_);
  }
  if (grown.members.empty()) return;
  while (!trees_.empty() && trees_.back().members.size() <= grown.members.size()) {
    const Tree& smaller = trees_.back();
    grown.members.insert(grown.members.end(), smaller.members.begin(), smaller.members.end());
    trees_.pop_back();
  }
  build(grown, 0, grown.members.size());
  trees_.push_back(std::move(grown));
}

void BoxIndex::remove(const Box& box) {
  std::vector<Box> kept = std::move(boxes_);
  std::erase(kept, box);
  clear();
  add(kept);
}

void BoxIndex::clear() {
  boxes_.clear();
  in_trees_ = 0;
  trees_.clear();
}

std::optional<std::size_t> BoxIndex::find(const Box& box) const {
  if (box.empty()) return std::nullopt;
  for (const Tree& tree : trees_) {
    if (const auto found = find_in(tree, box)) return found;
  }
  for (std::size_t i = in_trees_; i < boxes_.size(); ++i) {
    if (intersect(boxes_[i], box)) return i;
  }
  return std::nullopt;
}

void BoxIndex::build(Tree& tree, std::size_t first, std::size_t count) const {
  const std::size_t dimensions = boxes_[tree.members[first]].offset.size();
  const std::size_t node = tree.nodes.size();
  tree.nodes.push_back({.first = first, .count = count});
  std::vector<std::uint64_t> bounds(2 * dimensions, 0);
  std::fill_n(bounds.begin(), dimensions, std::numeric_limits<std::uint64_t>::max());
  const std::span<std::size_t> members(tree.members.data() + first, count);
  for (const std::size_t member : members) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      const Box& box = boxes_[member];
      bounds[d] = std::min(bounds[d], box.offset[d]);
      bounds[dimensions + d] = std::max(bounds[dimensions + d], box.offset[d] + box.count[d]);
    }
  }
  tree.bounds.insert(tree.bounds.end(), bounds.begin(), bounds.end());
  if (count <= leaf_size) return;
  const std::size_t cut = widest_dimension(bounds);
  std::nth_element(
      members.begin(), members.begin() + static_cast<std::ptrdiff_t>(count / 2), members.end(),
      [&](std::size_t a, std::size_t b) { return boxes_[a].offset[cut] < boxes_[b].offset[cut]; });
  build(tree, first, count / 2);
  tree.nodes[node].right = tree.nodes.size();
  build(tree, first + count / 2, count - count / 2);
}

std::optional<std::size_t> BoxIndex::find_in(const Tree& tree, const Box& box) const {
  const std::size_t width = 2 * box.offset.size();
  std::vector<std::size_t> pending = {0};
  while (!pending.empty()) {
    const std::size_t at = pending.back();
    pending.pop_back();
    if (apart({tree.bounds.data() + at * width, width}, box)) continue;
    const Node& node = tree.nodes[at];
    if (node.right != 0) {
      pending.push_back(node.right);
      pending.push_back(at + 1);
      continue;
    }
    for (std::size_t i = node.first; i < node.first + node.count; ++i) {
      if (intersect(boxes_[tree.members[i]], box)) return tree.members[i];
    }
  }
  return std::nullopt;
}

}  // namespace weir
