#include "aggregation/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

namespace weir::aggregation {

Nodes Nodes::of(std::span<const std::uint64_t> name_of_rank) {
  Nodes nodes;
  std::map<std::uint64_t, std::uint32_t> number;
  for (const std::uint64_t name : name_of_rank)
    nodes.of_rank.push_back(
        number.try_emplace(name, static_cast<std::uint32_t>(number.size())).first->second);
  nodes.count = static_cast<std::uint32_t>(number.size());
  return nodes;
}

Nodes Nodes::regular(std::uint32_t node_count, std::uint32_t ranks_per_node) {
  Nodes nodes;
  nodes.count = node_count;
  for (std::uint32_t rank = 0; rank < node_count * ranks_per_node; ++rank)
    nodes.of_rank.push_back(rank / ranks_per_node);
  return nodes;
}

std::vector<std::vector<std::uint32_t>> Nodes::ranks_by_node() const {
  std::vector<std::vector<std::uint32_t>> all(count);
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) all[of_rank[rank]].push_back(rank);
  return all;
}

Status check(const Nodes& nodes) {
  if (nodes.of_rank.empty()) return fail(ErrorCode::invalid_argument, "there are no ranks");
  std::uint32_t seen = 0;
  for (std::uint32_t rank = 0; rank < nodes.ranks(); ++rank) {
    if (nodes.of_rank[rank] > seen)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("rank {} is on node {}, and no rank below it is on node {}", rank,
                              nodes.of_rank[rank], seen));
    seen = std::max(seen, nodes.of_rank[rank] + 1);
  }
  if (seen != nodes.count) return fail(ErrorCode::invalid_argument, "a node has no rank");
  return {};
}

Layout blocked(const Nodes& nodes, std::uint32_t count) {
  Layout layout(std::min(count, nodes.ranks()));
  std::iota(layout.begin(), layout.end(), 0U);
  return layout;
}

namespace {

// One of each list, then the second of each, and so on.
Layout deal(const std::vector<std::vector<std::uint32_t>>& lists, std::size_t count) {
  Layout layout;
  for (std::size_t turn = 0; layout.size() < count; ++turn) {
    const std::size_t before = layout.size();
    for (const auto& list : lists)
      if (turn < list.size() && layout.size() < count) layout.push_back(list[turn]);
    if (layout.size() == before) break;
  }
  return layout;
}

}  // namespace

Layout round_robin(const Nodes& nodes, std::uint32_t count) {
  return deal(nodes.ranks_by_node(), count);
}

Layout striping_aware(const Layout& layout, const Nodes& nodes, std::uint32_t targets,
                      std::span<const std::uint32_t> path_of_node) {
  if (layout.empty() || targets <= 1) return layout;
  std::vector<std::uint32_t> order = layout;  // by node, so that a path is a block of neighbouring nodes
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return nodes.of_rank[a] != nodes.of_rank[b] ? nodes.of_rank[a] < nodes.of_rank[b] : a < b;
  });
  std::vector<std::vector<std::uint32_t>> paths;
  if (path_of_node.empty()) {
    const std::size_t count = std::min<std::size_t>(targets, order.size());
    paths.resize(count);
    for (std::size_t i = 0; i < order.size(); ++i) paths[i * count / order.size()].push_back(order[i]);
  } else {
    if (path_of_node.size() != nodes.count) throw std::logic_error("a path for each node is needed");
    paths.resize(*std::max_element(path_of_node.begin(), path_of_node.end()) + 1);
    for (const std::uint32_t rank : order) paths[path_of_node[nodes.of_rank[rank]]].push_back(rank);
  }
  // Within a path, nodes take turns: ranks of one node must not follow each other where it can be helped.
  for (auto& path : paths) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_node;
    for (const std::uint32_t rank : path) by_node[nodes.of_rank[rank]].push_back(rank);
    std::vector<std::vector<std::uint32_t>> lists;
    for (auto& [node, ranks] : by_node) lists.push_back(std::move(ranks));
    path = deal(lists, path.size());
  }
  return deal(paths, layout.size());
}

Status check(const Layout& layout, const Nodes& nodes) {
  if (layout.empty()) return fail(ErrorCode::invalid_argument, "there is no aggregator");
  std::vector<bool> seen(nodes.ranks());
  for (const std::uint32_t rank : layout) {
    if (rank >= nodes.ranks())
      return fail(ErrorCode::invalid_argument,
                  fmt::format("rank {} is to be an aggregator, and there are {} ranks", rank, nodes.ranks()),
                  "name ranks that exist");
    if (seen[rank])
      return fail(ErrorCode::invalid_argument,
                  fmt::format("rank {} is named twice among the aggregators", rank));
    seen[rank] = true;
  }
  return {};
}

std::uint32_t suitable_count(const Nodes& nodes, std::uint32_t targets) {
  constexpr std::uint32_t most_of_one_node =
      2;  // one copies while the other has the file; more of them only wait for it
  const std::uint32_t count = nodes.count == 1 ? std::min(nodes.ranks(), most_of_one_node) : nodes.count;
  if (targets <= 1) return count;
  if (count >= targets) return count - count % targets;
  const std::uint32_t most_targets = (targets + count - 1) / count;  // of one aggregator
  return (targets + most_targets - 1) / most_targets;
}

}  // namespace weir::aggregation
