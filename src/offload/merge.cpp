#include "offload/merge.hpp"

#include <algorithm>
#include <cstdint>

namespace weir::offload {

namespace {

constexpr std::uint64_t large = 1U << 20U;  // bytes; copying such a block costs more than a write of its own
constexpr std::uint64_t largest = 64U << 20U;  // bytes of a merged block

// The box of both, if they fill one: the same in all dimensions but one, and side by side there.
bool join(Box& box, const Box& next) {
  std::size_t along = box.count.size();
  for (std::size_t d = 0; d < box.count.size(); ++d) {
    if (box.offset[d] == next.offset[d] && box.count[d] == next.count[d]) continue;
    if (along != box.count.size() || box.offset[d] + box.count[d] != next.offset[d]) return false;
    along = d;
  }
  if (along == box.count.size()) return false;
  box.count[along] += next.count[along];
  return true;
}

struct Group {
  Box box;
  std::vector<const files::ReducedBlock*> members;
};

// Joins neighbours as long as any two become one: rows of tiles first, then the rows.
void join_neighbours(std::vector<Group>& groups, std::uint64_t most_elements) {
  for (std::size_t before = groups.size() + 1; groups.size() < before;) {
    before = groups.size();
    std::vector<Group> joined;
    for (Group& group : groups) {
      if (!joined.empty() && volume(joined.back().box.count) + volume(group.box.count) <= most_elements &&
          join(joined.back().box, group.box)) {
        joined.back().members.insert(joined.back().members.end(), group.members.begin(), group.members.end());
      } else {
        joined.push_back(std::move(group));
      }
    }
    groups = std::move(joined);
  }
}

}  // namespace

MergedBlocks::MergedBlocks(std::span<const files::ReducedBlock> blocks, std::size_t element_size,
                           std::uint64_t room) {
  std::vector<Group> groups;
  for (const files::ReducedBlock& block : blocks) {
    if (block.box.empty()) continue;
    if (volume(block.box.count) * element_size >= large) {
      blocks_.push_back({block.box, block.data});
    } else {
      groups.push_back({block.box, {&block}});
    }
  }
  std::sort(groups.begin(), groups.end(),
            [](const Group& a, const Group& b) { return a.box.offset < b.box.offset; });
  join_neighbours(groups, std::min(largest, room) / element_size);
  for (const Group& group : groups) {
    const std::uint64_t bytes = volume(group.box.count) * element_size;
    if (group.members.size() == 1 || copied_ + bytes > room) {
      for (const files::ReducedBlock* member : group.members) blocks_.push_back({member->box, member->data});
      continue;
    }
    copied_ += bytes;
    std::vector<std::byte>& copy = copies_.emplace_back(bytes);
    for (const files::ReducedBlock* member : group.members)
      copy_shared(member->box, member->data, group.box, copy.data(), element_size);
    blocks_.push_back({group.box, copy.data()});
  }
}

}  // namespace weir::offload
