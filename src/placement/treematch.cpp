// TreeMatch: groups are made from the cores upwards. At each level of the machine's tree, as many groups as
// that level has places join the entities below that exchange most; the exchange between groups is then the
// matrix of the next level. A level of many children is taken in steps of its prime factors, as TreeMatch
// itself does to stay affordable.
//
// In sparse form: entities are joined along the heaviest values first, so a level costs a sort of its values
// and works for any number of ranks. Values between entities that never exchange anything are not stored.
// The machine's tree is regular: where nodes differ in capacity, the smallest capacity of those that are
// needed counts, and the last groups are cut where a node has no room.
#include <algorithm>
#include <numeric>

#include "placement/algorithm.hpp"
#include "placement/node_fill.hpp"

namespace weir {

namespace {

struct Edge {
  std::uint32_t a, b;
  double value;
};

// Joins entities into groups of up to `arity`, at most `places` of them. Returns the group of each.
Numbers join_groups(std::uint32_t entities, std::vector<Edge>& edges, std::uint32_t arity,
                    std::uint64_t places) {
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& x, const Edge& y) { return x.value > y.value; });
  constexpr std::uint32_t none = UINT32_MAX;
  Numbers group(entities, none), size;
  const auto open = [&](std::uint32_t entity) {
    group[entity] = static_cast<std::uint32_t>(size.size());
    size.push_back(1);
  };
  for (const Edge& edge : edges) {
    std::uint32_t a = edge.a, b = edge.b;
    if (group[a] == none && group[b] == none) {
      open(a);
      group[b] = group[a];
      ++size[group[a]];
    } else if (group[a] == none || group[b] == none) {
      if (group[a] == none) std::swap(a, b);
      if (size[group[a]] >= arity) continue;
      group[b] = group[a];
      ++size[group[a]];
    }
  }
  // Those nobody took: alone while there are places for them, else wherever a group has room.
  Numbers left;
  for (std::uint32_t entity = 0; entity < entities; ++entity)
    if (group[entity] == none) left.push_back(entity);
  std::size_t next = 0;
  std::uint32_t filling = 0;
  for (; next < left.size() && size.size() + (left.size() - next) > places; ++next) {
    while (filling < size.size() && size[filling] >= arity) ++filling;
    if (filling == size.size()) {
      open(left[next]);
      continue;
    }
    group[left[next]] = filling;
    ++size[filling];
  }
  for (; next < left.size(); ++next) open(left[next]);
  // Still too many groups: the smallest ones are broken up and fill the others.
  if (size.size() > places) {
    Numbers order(size.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t x, std::uint32_t y) { return size[x] > size[y]; });
    Numbers kept(size.size(), none);
    Numbers new_size;
    for (std::uint64_t i = 0; i < places; ++i) {
      kept[order[i]] = static_cast<std::uint32_t>(i);
      new_size.push_back(size[order[i]]);
    }
    std::uint32_t target = 0;
    for (std::uint32_t entity = 0; entity < entities; ++entity) {
      const std::uint32_t now = kept[group[entity]];
      if (now != none) {
        group[entity] = now;
        continue;
      }
      while (new_size[target] >= arity) ++target;
      group[entity] = target;
      ++new_size[target];
    }
  }
  return group;
}

// The values between groups. Sorted pairs are added up.
std::vector<Edge> contract(const std::vector<Edge>& edges, const Numbers& group) {
  std::vector<Edge> between;
  for (const Edge& edge : edges) {
    const std::uint32_t a = group[edge.a], b = group[edge.b];
    if (a != b) between.push_back({std::min(a, b), std::max(a, b), edge.value});
  }
  std::sort(between.begin(), between.end(),
            [](const Edge& x, const Edge& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  std::size_t last = 0;
  for (std::size_t i = 1; i < between.size(); ++i) {
    if (between[i].a == between[last].a && between[i].b == between[last].b) {
      between[last].value += between[i].value;
    } else {
      between[++last] = between[i];
    }
  }
  if (!between.empty()) between.resize(last + 1);
  return between;
}

Numbers prime_factors(std::uint32_t number) {
  Numbers factors;
  for (std::uint32_t factor = 2; factor * factor <= number; ++factor)
    for (; number % factor == 0; number /= factor) factors.push_back(factor);
  if (number > 1) factors.push_back(number);
  return factors;
}

// Of the nodes with most room, as many as are needed.
std::uint32_t common_capacity(const Machine& machine, std::uint32_t ranks) {
  Numbers capacities = machine.capacities();
  std::sort(capacities.rbegin(), capacities.rend());
  std::uint64_t room = 0;
  std::size_t used = 0;
  while (used < capacities.size() && room < ranks) room += capacities[used++];
  // All nodes alike is the ordinary case: then this is what each of them takes.
  return capacities[used - 1];
}

}  // namespace

Result<Placed> place_treematch(const PlacementProblem& problem, const AlgorithmOptions&) {
  const Machine& machine = *problem.machine;
  const pattern::SparseMatrix& matrix = *problem.recorded;
  const std::uint32_t ranks = problem.ranks;
  std::vector<Edge> edges;
  edges.reserve(matrix.entries() / 2);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto columns = matrix.columns_of(rank);
    const auto values = matrix.values_of(rank);
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i] > rank && values[i] > 0) edges.push_back({rank, columns[i], values[i]});
  }

  // order: the ranks of an entity stand together, so that in the end the order is one of cores.
  const std::uint32_t capacity = std::max(1U, common_capacity(machine, ranks));
  std::uint64_t places = std::uint64_t{capacity} * machine.nodes();
  std::uint32_t entities = ranks;
  Numbers order(ranks), entity_of(ranks);
  std::iota(order.begin(), order.end(), 0U);
  std::iota(entity_of.begin(), entity_of.end(), 0U);
  const auto join_level = [&](std::uint32_t arity) {
    places = std::max<std::uint64_t>(places / arity, 1);
    places = std::max<std::uint64_t>(places, (entities + arity - 1) / arity);
    const Numbers group = join_groups(entities, edges, arity, places);
    edges = contract(edges, group);
    for (std::uint32_t& entity : entity_of) entity = group[entity];
    entities = *std::max_element(group.begin(), group.end()) + 1;
    // A stable counting sort by group keeps the inner order.
    Numbers begin(entities + std::size_t{1}, 0), sorted(ranks);
    for (const std::uint32_t entity : entity_of) ++begin[entity + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const std::uint32_t rank : order) sorted[begin[entity_of[rank]]++] = rank;
    order = std::move(sorted);
  };
  for (const std::uint32_t factor : prime_factors(capacity)) join_level(factor);

  Numbers node_of = fill_nodes(machine, order, entity_of);
  return Placed{.assignment = seat(machine, std::move(node_of), order)};
}

}  // namespace weir
