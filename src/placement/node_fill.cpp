#include "placement/node_fill.hpp"

#include <algorithm>

namespace weir {

Numbers fill_nodes(const Machine& machine, std::span<const std::uint32_t> rank_order,
                   const Numbers& group_of) {
  constexpr std::uint32_t none = UINT32_MAX;
  Numbers node_of(group_of.size(), none), room = machine.capacities(), left;
  std::uint32_t node = none, group = none, next = 0;
  for (const std::uint32_t rank : rank_order) {
    if (group_of[rank] != group) {
      group = group_of[rank];
      while (next < machine.nodes() && machine.capacity(next) == 0) ++next;
      node = next < machine.nodes() ? next++ : none;
    }
    if (node == none || room[node] == 0) {
      left.push_back(rank);
      continue;
    }
    node_of[rank] = node;
    --room[node];
  }
  std::uint32_t filling = 0;
  for (const std::uint32_t rank : left) {
    while (room[filling] == 0) ++filling;
    node_of[rank] = filling;
    --room[filling];
  }
  return node_of;
}

namespace {

double exchange_with(const pattern::SparseMatrix& matrix, const Numbers& node_of, std::uint32_t rank,
                     std::uint32_t node) {
  const auto columns = matrix.columns_of(rank);
  const auto values = matrix.values_of(rank);
  double sum = 0;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (node_of[columns[i]] == node && columns[i] != rank) sum += values[i];
  return sum;
}

}  // namespace

void repair_overfull(const Machine& machine, const pattern::SparseMatrix& matrix, Numbers& node_of) {
  std::vector<Numbers> members(machine.nodes());
  for (std::uint32_t rank = 0; rank < node_of.size(); ++rank) members[node_of[rank]].push_back(rank);
  std::vector<std::int64_t> room(machine.nodes());
  for (std::uint32_t node = 0; node < machine.nodes(); ++node)
    room[node] = std::int64_t{machine.capacity(node)} - static_cast<std::int64_t>(members[node].size());
  std::uint32_t anywhere = 0;
  for (std::uint32_t node = 0; node < machine.nodes(); ++node) {
    if (room[node] >= 0) continue;
    std::vector<std::pair<double, std::uint32_t>> stay;
    for (const std::uint32_t rank : members[node])
      stay.emplace_back(exchange_with(matrix, node_of, rank, node), rank);
    std::sort(stay.begin(), stay.end());
    for (std::size_t i = 0; room[node] < 0; ++i) {
      const std::uint32_t rank = stay[i].second;
      std::uint32_t best = UINT32_MAX;
      double most = -1;
      for (const std::uint32_t other : matrix.columns_of(rank)) {
        const std::uint32_t there = node_of[other];
        if (there == node || room[there] <= 0) continue;
        if (const double value = exchange_with(matrix, node_of, rank, there); value > most)
          best = there, most = value;
      }
      if (best == UINT32_MAX) {
        while (room[anywhere] <= 0) ++anywhere;
        best = anywhere;
      }
      node_of[rank] = best;
      --room[best];
      ++room[node];
    }
  }
}

}  // namespace weir
