// Lower bounds of what any placement can reach.
//
// The application matrix: take only values of at least some threshold. A connected part of n ranks, on nodes
// that take c each, lies on k >= n / c nodes. Each of these k pieces is joined to the rest by at least the
// part's smallest value, and by two such values if no single pair's removal would cut the part in two; every
// crossing value joins two pieces. So the part pays at least (k - 1) of its smallest values, and k of them if
// it has no bridge. Adding up the parts bounds the whole matrix, for any threshold; the best of several is
// taken. For rings, which tiled patterns consist of, the bound is exact.
//
// The shuffle: an aggregator's node holds c ranks at most, so of a domain at most the c largest contributions
// are local; and a rank is on one node, so at most its largest contributions to as many domains as a node has
// aggregators are.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "placement/forecast.hpp"

namespace weir {

namespace {

struct Part {
  std::uint32_t ranks = 0;
  double smallest = 0;
  bool bridged = false;
};

// Depth-first search for connected parts and their bridges, without recursion: a part can be a path of a
// million ranks.
class Parts {
 public:
  Parts(const pattern::SparseMatrix& matrix, double threshold)
      : matrix_(matrix), threshold_(threshold), found_(matrix.rows, 0), low_(matrix.rows, 0) {}

  template <class Visit>
  void each(Visit visit) {
    for (std::uint32_t rank = 0; rank < matrix_.rows; ++rank)
      if (found_[rank] == 0) visit(explore(rank));
  }

 private:
  struct Frame {
    std::uint32_t rank, parent;
    std::uint64_t next;
  };

  Part explore(std::uint32_t root) {
    Part part{.ranks = 1};
    found_[root] = low_[root] = ++clock_;
    stack_.push_back({root, UINT32_MAX, matrix_.row_begin[root]});
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next < matrix_.row_begin[frame.rank + 1]) {
        const std::uint64_t entry = frame.next++;
        const std::uint32_t other = matrix_.column[entry];
        const double value = matrix_.value[entry];
        if (value < threshold_ || value <= 0 || other == frame.rank || other == frame.parent) continue;
        if (part.smallest == 0 || value < part.smallest) part.smallest = value;
        if (found_[other] != 0) {
          low_[frame.rank] = std::min(low_[frame.rank], found_[other]);
          continue;
        }
        found_[other] = low_[other] = ++clock_;
        ++part.ranks;
        stack_.push_back({other, frame.rank, matrix_.row_begin[other]});
      } else {
        const Frame done = frame;
        stack_.pop_back();
        if (stack_.empty()) break;
        const std::uint32_t above = stack_.back().rank;
        low_[above] = std::min(low_[above], low_[done.rank]);
        if (low_[done.rank] > found_[above]) part.bridged = true;
      }
    }
    return part;
  }

  const pattern::SparseMatrix& matrix_;
  double threshold_;
  Numbers found_, low_;  // by rank; 0: not found yet
  std::uint32_t clock_ = 0;
  std::vector<Frame> stack_;
};

// The largest values that occur, each with those that are nearly as large, and the smallest.
std::vector<double> thresholds(const pattern::SparseMatrix& matrix) {
  constexpr std::size_t most = 3;
  std::vector<double> list;
  double below = std::numeric_limits<double>::infinity();
  while (list.size() < most) {
    double strongest = 0;
    for (const double value : matrix.value)
      if (value < below) strongest = std::max(strongest, value);
    if (strongest <= 0) return list;
    double lowest = strongest;
    for (const double value : matrix.value)
      if (value >= 0.9 * strongest) lowest = std::min(lowest, value);
    list.push_back(lowest);
    below = lowest;
  }
  double smallest = below;
  for (const double value : matrix.value)
    if (value > 0) smallest = std::min(smallest, value);
  if (smallest < below) list.push_back(smallest);
  return list;
}

double crossing_bound(const pattern::SparseMatrix& matrix, std::uint32_t capacity) {
  double best = 0;
  for (const double threshold : thresholds(matrix)) {
    double sum = 0;
    Parts(matrix, threshold).each([&](const Part& part) {
      const std::uint32_t pieces = (part.ranks + capacity - 1) / capacity;
      if (pieces > 1) sum += part.smallest * (part.bridged ? pieces - 1 : pieces);
    });
    best = std::max(best, sum);
  }
  return best;
}

// The sum of the `count` largest of the values, which are reordered.
double sum_of_largest(std::vector<double>& values, std::size_t count) {
  if (values.size() > count)
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), values.end(),
                     std::greater<>());
  return std::accumulate(values.begin(),
                         values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size())), 0.0);
}

// So many file domains at most are written from one node.
std::uint64_t most_domains_on_node(std::uint64_t domains, std::uint64_t ranks, std::uint32_t capacity) {
  const std::uint64_t fewest_nodes = (ranks + capacity - 1) / capacity;
  return (domains + fewest_nodes - 1) / fewest_nodes;
}

double shuffle_bound(const pattern::SparseMatrix& shuffle, std::uint32_t capacity) {
  const double total = shuffle.sum();
  if (total <= 0) return 0;
  double local_by_domain = 0, local_by_rank = 0;
  std::vector<std::vector<double>> of_domain(shuffle.columns);
  for (std::uint64_t i = 0; i < shuffle.entries(); ++i)
    of_domain[shuffle.column[i]].push_back(shuffle.value[i]);
  for (std::vector<double>& values : of_domain) local_by_domain += sum_of_largest(values, capacity);
  const std::uint64_t per_node = most_domains_on_node(shuffle.columns, shuffle.rows, capacity);
  std::vector<double> row;
  for (std::uint64_t rank = 0; rank < shuffle.rows; ++rank) {
    const auto values = shuffle.values_of(rank);
    row.assign(values.begin(), values.end());
    local_by_rank += sum_of_largest(row, per_node);
  }
  return std::max(0.0, 1 - std::min(local_by_domain, local_by_rank) / total);
}

}  // namespace

double shuffle_bound_of_shapes(const PlacementProblem& problem, const pattern::Pattern& pattern,
                               const pattern::AccessTable& table, const pattern::Domains& domains) {
  const std::uint64_t per_node =
      most_domains_on_node(domains.count(), problem.ranks, problem.machine->largest_capacity());
  return std::max(0.0,
                  1 - static_cast<double>(per_node) * pattern::most_in_one_domain(pattern, table, domains));
}

FeedSums feed_sums(const pattern::SparseMatrix& shuffle) {
  // Tens of millions of values: two chains of additions and of comparisons at a time.
  FeedSums sums;
  for (std::uint64_t rank = 0; rank < shuffle.rows; ++rank) {
    const auto values = shuffle.values_of(rank);
    double sum[2] = {0, 0}, most[2] = {0, 0};
    std::size_t i = 0;
    for (; i + 1 < values.size(); i += 2) {
      sum[0] += values[i], sum[1] += values[i + 1];
      most[0] = std::max(most[0], values[i]), most[1] = std::max(most[1], values[i + 1]);
    }
    if (i < values.size()) sum[0] += values[i], most[0] = std::max(most[0], values[i]);
    sums.total += sum[0] + sum[1];
    sums.largest += std::max(most[0], most[1]);
  }
  return sums;
}

bool feeds_are_even(const FeedSums& sums, std::uint64_t domains) {
  constexpr double margin = 1.1;
  return domains >= 2 && sums.total > 0 && sums.largest / sums.total <= margin / static_cast<double>(domains);
}

bool placement_cannot_help_shuffle(const PlacementProblem& problem) {
  return problem.shuffle != nullptr && problem.shuffle->columns >= 2 &&
         feeds_are_even(feed_sums(*problem.shuffle), problem.shuffle->columns);
}

LowerBounds lower_bounds(const PlacementProblem& problem) {
  const Machine& machine = *problem.machine;
  LowerBounds bounds;
  if (problem.recorded != nullptr) {
    const double total = problem.recorded->sum() / 2;
    const double across = std::min(total, crossing_bound(*problem.recorded, machine.largest_capacity()));
    if (total > 0) bounds.cross_node_share = across / total;
    bounds.objective = (total - across) * machine.cheapest_within_node() +
                       across * std::max(machine.cheapest_between_nodes(), machine.cheapest_within_node());
  }
  bounds.shuffle_cross_node_share = shuffle_lower_bound(problem);
  return bounds;
}

double shuffle_lower_bound(const PlacementProblem& problem) {
  return problem.shuffle == nullptr ? 0
                                    : shuffle_bound(*problem.shuffle, problem.machine->largest_capacity());
}

}  // namespace weir
