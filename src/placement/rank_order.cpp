#include "placement/rank_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace weir {

namespace {

// Values in up to 1024 classes: each its own while there are few different ones, else by their logarithm.
class Classes {
 public:
  static constexpr std::uint32_t most = 1024;

  explicit Classes(const pattern::SparseMatrix& matrix) {
    for (const double value : matrix.value) {
      if (value <= 0) continue;
      smallest_ = smallest_ == 0 ? value : std::min(smallest_, value);
      largest_ = std::max(largest_, value);
      if (distinct_.size() > most) continue;
      if (recent_ == value) continue;  // matrices repeat few values in long runs
      recent_ = value;
      const auto at = std::lower_bound(distinct_.begin(), distinct_.end(), value);
      if (at == distinct_.end() || *at != value) distinct_.insert(at, value);
    }
  }
  std::uint32_t of(double value) const {
    if (distinct_.size() <= most) {
      const auto at = std::lower_bound(distinct_.begin(), distinct_.end(), value);
      return static_cast<std::uint32_t>(at - distinct_.begin());
    }
    const double place = std::log(value / smallest_) / std::log(largest_ / smallest_);
    return std::min(most - 1, static_cast<std::uint32_t>(place * (most - 1)));
  }

 private:
  std::vector<double> distinct_;
  double smallest_ = 0, largest_ = 0, recent_ = -1;
};

// Stacks of ranks by class; the highest class first, in it the last one put.
class Frontier {
 public:
  void put(std::uint32_t rank, std::uint32_t number) {
    stacks_[number].push_back(rank);
    filled_[number / 64] |= std::uint64_t{1} << (number % 64);
  }
  // None left: false.
  bool take(std::uint32_t& rank) {
    for (std::size_t word = filled_.size(); word-- > 0;) {
      if (filled_[word] == 0) continue;
      const auto bit = static_cast<std::size_t>(63 - std::countl_zero(filled_[word]));
      Numbers& stack = stacks_[word * 64 + bit];
      rank = stack.back();
      stack.pop_back();
      if (stack.empty()) filled_[word] &= ~(std::uint64_t{1} << bit);
      return true;
    }
    return false;
  }

 private:
  std::array<Numbers, Classes::most + 1> stacks_;
  std::array<std::uint64_t, Classes::most / 64 + 1> filled_{};
};

// Appends all that can be reached from `start`; marks them with `mark`.
void grow(const pattern::SparseMatrix& matrix, const std::vector<std::uint16_t>& class_of,
          std::uint32_t start, Frontier& frontier, std::vector<char>& seen, char mark, Numbers& order) {
  std::uint32_t rank = start;
  do {
    if (seen[rank] == mark) continue;
    seen[rank] = mark;
    order.push_back(rank);
    for (std::uint64_t i = matrix.row_begin[rank]; i < matrix.row_begin[rank + 1]; ++i) {
      const std::uint32_t other = matrix.column[i];
      if (seen[other] != mark && matrix.value[i] > 0) frontier.put(other, class_of[i]);
    }
  } while (frontier.take(rank));
}

}  // namespace

Numbers order_ranks(const pattern::SparseMatrix& matrix) {
  const auto ranks = static_cast<std::uint32_t>(matrix.rows);
  const Classes classes(matrix);
  std::vector<std::uint16_t> class_of(matrix.entries());
  for (std::size_t i = 0; i < class_of.size(); ++i)
    class_of[i] = matrix.value[i] > 0 ? static_cast<std::uint16_t>(classes.of(matrix.value[i])) : 0;
  Numbers order, trial;
  order.reserve(ranks);
  std::vector<char> seen(ranks, 0);
  Frontier frontier;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (seen[rank] == 2) continue;
    // Where a first walk ends is an end of the line, and the right place to start from.
    trial.clear();
    grow(matrix, class_of, rank, frontier, seen, 1, trial);
    const auto first = static_cast<std::ptrdiff_t>(order.size());
    grow(matrix, class_of, trial.back(), frontier, seen, 2, order);
    // Either way round is as good; the lower end first leaves ranks in order where they are.
    if (order.back() < order[static_cast<std::size_t>(first)])
      std::reverse(order.begin() + first, order.end());
  }
  return order;
}

}  // namespace weir
