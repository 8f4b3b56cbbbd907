#include "placement/cut_order.hpp"

#include <algorithm>

namespace weir {

Numbers fill_in_order(const Machine& machine, std::span<const std::uint32_t> order) {
  Numbers node_of(order.size());
  std::uint32_t node = 0, used = 0;
  for (const std::uint32_t rank : order) {
    while (used >= machine.capacity(node)) ++node, used = 0;
    node_of[rank] = node;
    ++used;
  }
  return node_of;
}

namespace {

class Cutter {
 public:
  Cutter(const pattern::SparseMatrix& matrix, std::span<const std::uint32_t> order, std::uint32_t capacity)
      : ranks_(static_cast<std::uint32_t>(order.size())), capacity_(capacity) {
    Numbers position(ranks_);
    for (std::uint32_t i = 0; i < ranks_; ++i) position[order[i]] = i;
    begin_.reserve(ranks_ + std::size_t{1});
    begin_.push_back(0);
    for (std::uint32_t i = 0; i < ranks_; ++i) {
      const auto columns = matrix.columns_of(order[i]);
      const auto values = matrix.values_of(order[i]);
      const std::size_t first = back_.size();
      for (std::size_t entry = 0; entry < columns.size(); ++entry) {
        const std::uint32_t other = position[columns[entry]];
        if (other < i && i - other < capacity_) back_.push_back({other, values[entry]});
      }
      std::sort(back_.begin() + static_cast<std::ptrdiff_t>(first), back_.end(),
                [](const Back& a, const Back& b) { return a.position > b.position; });
      begin_.push_back(back_.size());
    }
    from_.resize(ranks_ + std::size_t{1});
    worth_.resize(ranks_ + std::size_t{1});
  }

  // The number of pieces of the best cut at this price.
  std::uint32_t cut(double price) {
    // inside[k]: what is exchanged within the piece that begins at i - 1 - k and ends behind i - 1.
    std::vector<double> inside(capacity_, 0), shifted(capacity_, 0);
    worth_[0] = 0;
    for (std::uint32_t i = 1; i <= ranks_; ++i) {
      const std::uint32_t longest = std::min(i, capacity_);
      // Every piece grows by rank i - 1: what it exchanges with ranks back to the piece's beginning.
      double gained = 0;
      std::size_t entry = begin_[i - 1];
      const std::size_t end = begin_[i];
      shifted[0] = 0;
      std::uint32_t from = 1;
      for (; entry < end; ++entry) {
        const std::uint32_t reach = i - 1 - back_[entry].position;
        for (; from < reach; ++from) shifted[from] = inside[from - 1] + gained;
        gained += back_[entry].value;
      }
      for (; from < longest; ++from) shifted[from] = inside[from - 1] + gained;
      double best = -1e300;
      std::uint32_t best_length = 1;
      for (std::uint32_t k = 0; k < longest; ++k) {
        const double worth = worth_[i - 1 - k] + shifted[k];
        if (worth >= best) best = worth, best_length = k + 1;
      }
      worth_[i] = best - price;
      from_[i] = i - best_length;
      std::swap(inside, shifted);
    }
    std::uint32_t pieces = 0;
    for (std::uint32_t i = ranks_; i > 0; i = from_[i]) ++pieces;
    return pieces;
  }

  double largest_value() const {
    double largest = 0;
    for (const Back& back : back_) largest = std::max(largest, back.value);
    return largest;
  }

  // By position in the line: the number of its piece, from the front.
  Numbers pieces() const {
    Numbers ends;
    for (std::uint32_t i = ranks_; i > 0; i = from_[i]) ends.push_back(i);
    std::reverse(ends.begin(), ends.end());
    Numbers piece(ranks_);
    std::uint32_t number = 0;
    for (std::uint32_t i = 0; i < ranks_; ++i) {
      if (i == ends[number]) ++number;
      piece[i] = number;
    }
    return piece;
  }

 private:
  struct Back {
    std::uint32_t position;
    double value;
  };
  std::uint32_t ranks_, capacity_;
  std::vector<std::size_t> begin_;  // by position: its values with earlier ones, nearest first
  std::vector<Back> back_;
  Numbers from_;               // by end of a piece: its beginning in the best cut
  std::vector<double> worth_;  // by end: the best sum inside pieces less their prices
};

}  // namespace

Numbers cut_in_order(const Machine& machine, const pattern::SparseMatrix& matrix,
                     std::span<const std::uint32_t> order) {
  const std::uint32_t capacity = machine.largest_capacity();
  Numbers nodes;
  for (std::uint32_t node = 0; node < machine.nodes(); ++node) {
    if (machine.capacity(node) == 0) continue;
    if (machine.capacity(node) != capacity) return {};
    nodes.push_back(node);
  }
  Cutter cutter(matrix, order, capacity);
  const double largest = std::max(cutter.largest_value(), 1e-300);
  // A price so small that it only decides between equals.
  if (cutter.cut(largest * 1e-9) > nodes.size()) {
    double low = largest * 1e-9, high = 0;
    for (double price = largest / 16; high == 0 && price < largest * 1e4; price *= 4)
      (cutter.cut(price) > nodes.size() ? low : high) = price;
    if (high == 0) return {};
    for (int step = 0; step < 4; ++step) {
      const double middle = (low + high) / 2;
      (cutter.cut(middle) > nodes.size() ? low : high) = middle;
    }
    if (cutter.cut(high) > nodes.size()) return {};
  }
  const Numbers piece = cutter.pieces();
  Numbers node_of(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) node_of[order[i]] = nodes[piece[i]];
  return node_of;
}

}  // namespace weir
