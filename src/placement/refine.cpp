#include "placement/refine.hpp"

#include <algorithm>
#include <span>

namespace weir {

namespace {

class Refinement {
 public:
  Refinement(const RefineRequest& request, Numbers& node_of)
      : request_(request),
        problem_(*request.problem),
        machine_(*problem_.machine),
        node_of_(node_of),
        with_node_(machine_.nodes(), 0),
        total_(node_of.size(), 0),
        own_(node_of.size(), 0),
        slot_(node_of.size()),
        begin_(machine_.nodes() + std::size_t{1}, 0),
        count_(machine_.nodes(), 0) {
    for (std::uint32_t node = 0; node < machine_.nodes(); ++node)
      begin_[node + 1] = begin_[node] + machine_.capacity(node);
    members_.resize(begin_.back());
    for (std::uint32_t rank = 0; rank < node_of_.size(); ++rank) {
      enter(rank, node_of_[rank]);
      each_exchange(rank, [&](std::uint32_t node, double value) {
        total_[rank] += value;
        if (node == node_of_[rank]) own_[rank] += value;
      });
    }
    if (problem_.recorded != nullptr && request.matrix_weight != 0)
      budget_ += 8 * problem_.recorded->entries();
    if (request.shuffle_weight != 0) budget_ += 8 * problem_.shuffle->entries();
  }

  bool pass() {
    bool changed = false;
    for (std::uint32_t rank = 0; rank < node_of_.size(); ++rank) changed |= improve(rank);
    return changed;
  }

 private:
  void enter(std::uint32_t rank, std::uint32_t node) {
    node_of_[rank] = node;
    slot_[rank] = count_[node];
    members_[begin_[node] + count_[node]++] = rank;
  }
  void leave(std::uint32_t rank) {
    const std::uint32_t node = node_of_[rank];
    const std::uint32_t last = members_[begin_[node] + --count_[node]];
    members_[begin_[node] + slot_[rank]] = last;
    slot_[last] = slot_[rank];
  }

  // After the rank has come from one node to the other: what it and its neighbours have on their own nodes.
  void count_own(std::uint32_t rank, std::uint32_t here, std::uint32_t there) {
    own_[rank] = 0;
    each_exchange(rank, [&](std::uint32_t node, double value) {
      if (node == there) own_[rank] += value;
    });
    if (request_.matrix_weight == 0 || problem_.recorded == nullptr) return;
    const auto columns = problem_.recorded->columns_of(rank);
    const auto values = problem_.recorded->values_of(rank);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == rank) continue;
      if (node_of_[columns[i]] == here) own_[columns[i]] -= values[i] * request_.matrix_weight;
      if (node_of_[columns[i]] == there) own_[columns[i]] += values[i] * request_.matrix_weight;
    }
  }

  // Calls visit(node, value) for everything that the rank exchanges.
  template <class Visit>
  void each_exchange(std::uint32_t rank, Visit visit) const {
    if (request_.matrix_weight != 0 && problem_.recorded != nullptr) {
      const auto columns = problem_.recorded->columns_of(rank);
      const auto values = problem_.recorded->values_of(rank);
      for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i] != rank) visit(node_of_[columns[i]], values[i] * request_.matrix_weight);
    }
    if (request_.shuffle_weight != 0) {
      const auto domains = problem_.shuffle->columns_of(rank);
      const auto bytes = problem_.shuffle->values_of(rank);
      for (std::size_t i = 0; i < domains.size(); ++i)
        visit((*request_.node_of_domain)[domains[i]], bytes[i] * request_.shuffle_weight);
    }
  }
  double between(std::uint32_t a, std::uint32_t b) const {
    if (request_.matrix_weight == 0 || problem_.recorded == nullptr) return 0;
    return problem_.recorded->at(a, b) * request_.matrix_weight;
  }
  // What the rank would have more within a node if it were on `there` instead of where it is.
  double gain(std::uint32_t rank, std::uint32_t there) {
    const std::uint32_t here = node_of_[rank];
    double sum = 0;
    each_exchange(rank, [&](std::uint32_t node, double value) {
      --budget_;
      if (node == there) sum += value;
      if (node == here) sum -= value;
    });
    return sum;
  }

  bool improve(std::uint32_t rank) {
    const std::uint32_t here = node_of_[rank];
    bool elsewhere = false;
    each_exchange(rank, [&](std::uint32_t node, double) { elsewhere |= node != here; });
    if (!elsewhere) return false;
    near_.clear();
    each_exchange(rank, [&](std::uint32_t node, double value) {
      if (with_node_[node] == 0 && value > 0) near_.push_back(node);
      with_node_[node] += value;
    });
    const double stays = with_node_[here];
    std::sort(near_.begin(), near_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return with_node_[a] != with_node_[b] ? with_node_[a] > with_node_[b] : a < b;
    });
    gains_.clear();
    for (const std::uint32_t node : near_) gains_.push_back(with_node_[node] - stays);
    for (const std::uint32_t node : near_) with_node_[node] = 0;
    with_node_[here] = 0;
    // Beyond the few best nodes nothing is to be expected.
    const std::size_t tried = std::min<std::size_t>(near_.size(), 4);
    for (std::size_t i = 0; i < tried; ++i) {
      if (near_[i] == here) continue;
      if (gains_[i] <= least_) break;
      if (step(rank, near_[i], gains_[i])) return true;
    }
    return false;
  }

  bool step(std::uint32_t rank, std::uint32_t there, double gained) {
    if (count_[there] < machine_.capacity(there)) {
      const std::uint32_t from = node_of_[rank];
      leave(rank);
      enter(rank, there);
      count_own(rank, from, there);
      return true;
    }
    const std::uint32_t here = node_of_[rank];
    std::uint32_t best = UINT32_MAX;
    double most = least_;
    if (budget_ < 0) return false;
    for (std::uint32_t i = 0; i < count_[there]; ++i) {
      const std::uint32_t other = members_[begin_[there] + i];
      // Even if all that it exchanges with other nodes were with this one. Most ranks are inside of their
      // nodes, and need no closer look.
      if (gained + total_[other] * (1 + 1e-12) - 2 * own_[other] <= most) continue;
      double both = gained + gain(other, here);
      if (both > most) both -= 2 * between(rank, other);  // they would still be on different nodes
      if (both > most) best = other, most = both;
    }
    if (best == UINT32_MAX) return false;
    leave(rank);
    leave(best);
    enter(rank, there);
    count_own(rank, here, there);
    enter(best, here);
    count_own(best, there, here);
    return true;
  }

  static constexpr double least_ = 1e-12;
  // Values that may still be looked at in the search for partners, so that the work stays linear.
  std::int64_t budget_ = 1'000'000;
  const RefineRequest& request_;
  const PlacementProblem& problem_;
  const Machine& machine_;
  Numbers& node_of_;
  std::vector<double> with_node_;  // scratch, all 0 between uses
  Numbers near_;
  std::vector<double> gains_;
  std::vector<double> total_, own_;  // by rank: what it exchanges, and with its own node
  Numbers slot_;                     // by rank: where it is among the members of its node
  std::vector<std::size_t> begin_;
  Numbers members_, count_;
};

}  // namespace

void refine(const RefineRequest& request, Numbers& node_of) {
  Refinement refinement(request, node_of);
  for (std::uint32_t pass = 0; pass < request.passes; ++pass)
    if (!refinement.pass()) break;
}

Numbers grow_groups(const Machine& machine, const pattern::SparseMatrix& matrix, const Numbers& order,
                    std::uint32_t size) {
  constexpr std::uint32_t none = UINT32_MAX;
  const auto ranks = static_cast<std::uint32_t>(order.size());
  Numbers node_of(ranks, none), stamp(ranks, none);
  std::vector<double> joined(ranks, 0);  // with the group that is growing
  using Candidate = std::pair<double, std::uint32_t>;
  std::vector<Candidate> heap;
  std::size_t next = 0;
  std::uint32_t left = ranks;
  std::uint64_t room_left = 0;
  for (const std::uint32_t capacity : machine.capacities()) room_left += capacity;
  for (std::uint32_t node = 0; node < machine.nodes() && left > 0; ++node) {
    const std::uint32_t capacity = machine.capacity(node);
    room_left -= capacity;
    // Small groups only as long as the nodes behind take the rest.
    const auto needed = static_cast<std::uint32_t>(left > room_left ? left - room_left : 0);
    const std::uint32_t wanted = std::min(capacity, std::max(size, needed));
    heap.clear();
    for (std::uint32_t count = 0; count < wanted && left > 0; ++count) {
      std::uint32_t rank = none;
      while (!heap.empty() && rank == none) {
        std::pop_heap(heap.begin(), heap.end());
        const auto [value, candidate] = heap.back();
        heap.pop_back();
        if (node_of[candidate] == none && value == joined[candidate]) rank = candidate;
      }
      if (rank == none) {
        while (node_of[order[next]] != none) ++next;
        rank = order[next];
      }
      node_of[rank] = node;
      --left;
      const auto columns = matrix.columns_of(rank);
      const auto values = matrix.values_of(rank);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::uint32_t other = columns[i];
        if (node_of[other] != none || values[i] <= 0) continue;
        if (stamp[other] != node) stamp[other] = node, joined[other] = 0;
        joined[other] += values[i];
        heap.emplace_back(joined[other], other);
        std::push_heap(heap.begin(), heap.end());
      }
    }
  }
  return node_of;
}

}  // namespace weir
