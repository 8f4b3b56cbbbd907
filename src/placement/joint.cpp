// joint: ranks and aggregators are placed together.
//
// The application matrix says who is neighbour of whom in the file; the shuffle says which bytes go to which
// file domain. A good placement for the first can be a bad one for the second unless the aggregators are
// chosen with it. So several starts are made, improved by moves and exchanges, given the file domains that
// suit them, and the best is kept. `joint` compares the application matrix first and the shuffle where it is
// equal; in small problems it takes the shuffle's choice by the rule of shuffle_wins(). `joint-shuffle` goes
// the other way round. Starts:
// - the ranks as they are, filling nodes;
// - the ranks in the line that the matrix gives, filling nodes; and the same line cut where it costs least;
// - groups that grow rank by rank, and those of TreeMatch;
// - each rank to the node of the file domain that it feeds most.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "placement/algorithm.hpp"
#include "placement/cut_order.hpp"
#include "placement/domains.hpp"
#include "placement/forecast.hpp"
#include "placement/levels.hpp"
#include "placement/rank_order.hpp"
#include "placement/refine.hpp"

namespace weir {

namespace {

constexpr std::uint32_t nowhere = UINT32_MAX;

// Beyond so many values, steps whose work grows with them are taken once, not several times.
constexpr std::uint64_t large = 4'000'000;

struct Candidate {
  Numbers node_of, node_of_domain;
  double matrix = 0;              // what crosses nodes
  std::optional<double> shuffle;  // the same; computed when it is needed
};

double smallest_positive(const std::vector<double>& values) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const double value : values)
    if (value > 0) smallest = std::min(smallest, value);
  return std::isinf(smallest) ? 1 : smallest;
}

class Joint {
 public:
  Joint(const PlacementProblem& problem, bool shuffle_first)
      : problem_(problem),
        machine_(*problem.machine),
        has_shuffle_(problem.shuffle != nullptr && problem.shuffle->entries() > 0),
        feeds_(has_shuffle_ ? feed_sums(*problem.shuffle) : FeedSums()),
        uniform_(has_shuffle_ && feeds_are_even(feeds_, problem.shuffle->columns)),
        shuffle_first_(shuffle_first && has_shuffle_ && !uniform_) {
    if (!has_shuffle_) return;
    // A weight so small that all of the lesser one together does not outweigh the least of the greater.
    if (shuffle_first_) {
      shuffle_weight_ = 1;
      matrix_weight_ =
          0.4 * smallest_positive(problem.shuffle->value) / std::max(problem.recorded->sum(), 1e-300);
    } else {
      shuffle_weight_ = 0.4 * smallest_positive(problem.recorded->value) / std::max(feeds_.total, 1e-300);
    }
  }

  Placed place() {
    order_ = order_ranks(*problem_.recorded);
    if (shuffle_first_) {
      consider(feed_domains(false));
      consider(feed_domains(true));
    }
    if (!big()) consider(fill_in_order(machine_, order_));
    consider(cut_in_order(machine_, *problem_.recorded, order_));
    consider(fill_in_order(machine_, identity()));
    if (has_shuffle_ && !shuffle_first_ && feeds_lead()) consider(feed_domains(true));
    if (auto grouped = place_treematch(problem_, {})) consider(std::move(grouped->assignment.node_of));
    // Lines can be cut well; what is no line grows better in all directions.
    if (!is_line()) {
      consider(grow_groups(machine_, *problem_.recorded, order_, machine_.largest_capacity()));
      consider(grow_groups(machine_, *problem_.recorded, order_, even_share()));
    }
    finish();
    improve_switches(problem_, best_->node_of, best_->node_of_domain);
    Placed placed{.assignment = seat(machine_, std::move(best_->node_of), order_),
                  .node_of_domain = std::move(best_->node_of_domain)};
    improve_cores(problem_, placed.assignment);
    return placed;
  }

 private:
  Numbers identity() const {
    Numbers ranks(problem_.ranks);
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ranks;
  }
  // Ranks have a good part of their data in one domain, so that to follow it leads somewhere.
  bool feeds_lead() const { return !uniform_ && feeds_.largest >= 0.05 * feeds_.total; }
  bool big() const { return has_shuffle_ && problem_.shuffle->entries() > large; }
  std::uint32_t even_share() const { return (problem_.ranks + machine_.nodes() - 1) / machine_.nodes(); }

  // Nearly everything is exchanged between neighbours in the line, or ends of closed rings.
  bool is_line() const {
    double strong = 0;
    std::vector<std::pair<double, double>> two;  // by rank: its two largest values
    for (std::uint32_t rank = 0; rank < problem_.ranks; ++rank) {
      double first = 0, second = 0;
      for (const double value : problem_.recorded->values_of(rank)) {
        if (value > first) {
          second = first, first = value;
        } else {
          second = std::max(second, value);
        }
      }
      strong += first + second;
    }
    return strong >= 0.95 * problem_.recorded->sum();
  }

  double crossing_matrix(const Numbers& node_of) const {
    double across = 0;
    for (std::uint32_t rank = 0; rank < problem_.ranks; ++rank) {
      const auto columns = problem_.recorded->columns_of(rank);
      const auto values = problem_.recorded->values_of(rank);
      for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i] > rank && node_of[columns[i]] != node_of[rank]) across += values[i];
    }
    return across;
  }
  static bool less(double a, double b) { return a < b - 1e-9 * std::abs(b); }
  static bool equal(double a, double b) { return !less(a, b) && !less(b, a); }
  bool better(Candidate& a, Candidate& b) const {
    const bool too_large_to_ask = !shuffle_first_ && big();
    if (!has_shuffle_ || uniform_ || too_large_to_ask) return less(a.matrix, b.matrix);
    if (!shuffle_first_ && !equal(a.matrix, b.matrix)) return a.matrix < b.matrix;
    judge_shuffle(a);
    judge_shuffle(b);
    if (!equal(*a.shuffle, *b.shuffle)) return *a.shuffle < *b.shuffle;
    return less(a.matrix, b.matrix);
  }

  void consider(Numbers node_of) {
    if (node_of.empty()) return;
    Candidate one{.node_of = std::move(node_of)};
    one.matrix = crossing_matrix(one.node_of);
    // A start that is far behind the best so far is not worth improving.
    least_matrix_ = std::min(least_matrix_, one.matrix);
    if (best_ && one.matrix > 3 * least_matrix_) return;
    if (shuffle_first_) judge_shuffle(one);
    if (!shuffle_first_ || !big()) improve(one);
    least_matrix_ = std::min(least_matrix_, one.matrix);
    if (!best_ || better(one, *best_)) best_ = std::move(one);
  }

  void judge_shuffle(Candidate& one) const {
    if (one.shuffle) return;
    one.node_of_domain = assign_domains(problem_, one.node_of);
    one.shuffle = crossing_shuffle(problem_, one.node_of, one.node_of_domain);
  }

  void improve(Candidate& one) const {
    const bool with_domains = one.shuffle.has_value();
    refine({.problem = &problem_,
            .matrix_weight = matrix_weight_,
            .shuffle_weight = with_domains ? shuffle_weight_ : 0,
            .node_of_domain = with_domains ? &one.node_of_domain : nullptr,
            .exchange = !with_domains || !big()},
           one.node_of);
    one.matrix = crossing_matrix(one.node_of);
    one.shuffle.reset();
  }

  // Ranks and domains in turn, while that helps.
  void finish() {
    if (!has_shuffle_) return;
    if (big() || uniform_) {
      if (!best_->shuffle) best_->node_of_domain = assign_domains(problem_, best_->node_of);
      return;
    }
    judge_shuffle(*best_);
    constexpr int rounds = 3;
    for (int round = 0; round < rounds; ++round) {
      Candidate next = *best_;
      improve(next);
      if (!better(next, *best_)) break;
      best_ = std::move(next);
    }
  }

  // Each rank to the node of a domain that it feeds most, in the order of the line, as long as there is room;
  // the rest to the room there is. `even`: no node takes more than its share while others have room.
  Numbers feed_domains(bool even) const {
    const pattern::SparseMatrix& shuffle = *problem_.shuffle;
    const auto domains = static_cast<std::uint32_t>(shuffle.columns);
    Numbers usable;
    for (std::uint32_t node = 0; node < machine_.nodes(); ++node)
      if (machine_.capacity(node) > 0) usable.push_back(node);
    const auto home = [&](std::uint32_t domain) {
      return usable[static_cast<std::size_t>(std::uint64_t{domain} * usable.size() / domains)];
    };
    Numbers room = machine_.capacities();
    if (even && std::uint64_t{even_share()} * usable.size() >= problem_.ranks) {
      for (std::uint32_t& one : room) one = std::min(one, even_share());
      if (std::accumulate(room.begin(), room.end(), std::uint64_t{0}) < problem_.ranks)
        room = machine_.capacities();
    }
    Numbers node_of(problem_.ranks, nowhere);
    for (const std::uint32_t rank : order_) {
      const auto columns = shuffle.columns_of(rank);
      const auto values = shuffle.values_of(rank);
      double most = 0;
      std::uint32_t chosen = nowhere;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::uint32_t node = home(columns[i]);
        if (room[node] == 0 || values[i] <= most * (1 + 1e-9)) continue;
        most = values[i];
        chosen = node;
      }
      if (chosen == nowhere) continue;
      node_of[rank] = chosen;
      --room[chosen];
    }
    std::size_t filling = 0;
    for (const std::uint32_t rank : order_) {
      if (node_of[rank] != nowhere) continue;
      while (room[usable[filling]] == 0) ++filling;
      node_of[rank] = usable[filling];
      --room[usable[filling]];
    }
    return node_of;
  }

  const PlacementProblem& problem_;
  const Machine& machine_;
  bool has_shuffle_;
  FeedSums feeds_;
  bool uniform_, shuffle_first_;
  double matrix_weight_ = 1, shuffle_weight_ = 0;
  Numbers order_;
  double least_matrix_ = std::numeric_limits<double>::infinity();
  std::optional<Candidate> best_;
};

Placed run(const PlacementProblem& problem, bool shuffle_first) {
  Placed placed = Joint(problem, shuffle_first).place();
  if (problem.shuffle == nullptr) {
    placed.note = "without the shuffle, only ranks are placed, not aggregators";
  } else if (shuffle_first && placement_cannot_help_shuffle(problem)) {
    placed.note = "every rank feeds every file domain alike: the application matrix decides";
  }
  return placed;
}

// The best by the matrix of those placements that fill nodes evenly. A file domain for each node wants ranks
// on all of them, which costs the matrix something whoever places them.
Placed evenly(const PlacementProblem& problem) {
  std::uint32_t limit = (problem.ranks + problem.machine->nodes() - 1) / problem.machine->nodes();
  while (problem.machine->limited(limit).total_capacity() < problem.ranks) ++limit;
  const Machine machine = problem.machine->limited(limit);
  PlacementProblem even = problem;
  even.machine = &machine;
  return run(even, false);
}

// Whether to take the placement that the shuffle prefers all the same: at this machine's speeds it gains more
// in the shuffle than it loses in the matrix, and in the objective it is still no worse than the simple
// algorithms, or than any placement on evenly filled nodes that could be found.
bool shuffle_wins(const PlacementProblem& problem, const Forecast& by_matrix, const Placed& by_shuffle) {
  constexpr double rounding = 1 + 1e-9;
  const Forecast shuffle = forecast(problem, by_shuffle);
  if (shuffle.cost_relative * rounding >= by_matrix.cost_relative) return false;
  const auto no_worse_than = [&](const Placed& other) {
    return shuffle.objective <= forecast(problem, other).objective * rounding;
  };
  for (const auto simple : {place_byslot, place_setmatchg, place_treematch})
    if (const auto other = simple(problem, {}); other && !no_worse_than(*other)) return false;
  return no_worse_than(evenly(problem));
}

}  // namespace

Result<Placed> place_joint(const PlacementProblem& problem, const AlgorithmOptions&) {
  Placed placed = run(problem, false);
  // Both ways cost twice, which is nothing for small problems.
  constexpr std::uint64_t small = 65'536;
  if (problem.shuffle == nullptr || problem.shuffle->entries() > small) return placed;
  // Where no more is to be had in the shuffle, there is nothing to ask.
  const Forecast by_matrix = forecast(problem, placed);
  if (by_matrix.shuffle_cross_node_share <= shuffle_lower_bound(problem) + 1e-9) return placed;
  Placed other = run(problem, true);
  if (!shuffle_wins(problem, by_matrix, other)) return placed;
  other.note = "the shuffle decided: it gains more than the application matrix loses";
  return other;
}

Result<Placed> place_joint_shuffle(const PlacementProblem& problem, const AlgorithmOptions&) {
  return run(problem, true);
}

}  // namespace weir
