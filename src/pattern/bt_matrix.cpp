// The application matrix of BT without a look at its cells one by one.
//
// The rank at position (x0, y0) has in layer z the cell (x0 + z, y0 - z), modulo q. So along a row the cell
// to the right always belongs to the rank at (x0 + 1, y0), but for the last cell of a row: that one is
// followed by the first cell of the next row, of which there are only q * q.
#include <array>

#include "pattern/application_matrix.hpp"
#include "pattern/bt_cells.hpp"

namespace weir::pattern {

namespace {

class BtNeighbours {
 public:
  BtNeighbours(const BlockTridiagonal& bt, Weight weight)
      : q_(bt_side(bt.ranks)),
        cut_(bt.points, q_),
        steps_(static_cast<double>(bt.steps)),
        element_(static_cast<double>(bt.element)),
        weight_(weight),
        rank_at_(bt.ranks) {
    const std::vector<std::uint32_t> position = permutation(bt.ranks, bt.seed);
    for (std::uint32_t rank = 0; rank < position.size(); ++rank) rank_at_[position[rank]] = rank;
    pairs_.reserve(3 * bt.ranks);
  }

  SparseMatrix matrix() {
    for (std::uint64_t y0 = 0; y0 < q_; ++y0)
      for (std::uint64_t x0 = 0; x0 < q_; ++x0) along_rows(x0, y0);
    for (std::uint64_t z = 0; z < q_; ++z)
      for (std::uint64_t y = 0; y < q_; ++y) from_row_to_row(y, z);
    return from_pairs(q_ * q_, pairs_);
  }

 private:
  std::uint32_t rank_of(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    return rank_at_[(y + z) % q_ * q_ + (x + q_ - z) % q_];
  }
  double points(std::uint64_t part) const { return static_cast<double>(cut_.size(part)); }
  // What one meeting of pieces of the cells in columns a and b counts.
  double meeting(std::uint64_t a, std::uint64_t b) const {
    return weight_ == Weight::count ? 1 : std::min(points(a), points(b)) * element_;
  }
  void link(std::uint32_t a, std::uint32_t b, double value) {
    if (a != b && value > 0) pairs_.push_back({a, b, value * steps_});
  }

  // Between two layers where a cell grows by a point, or the next one wraps around, all layers count alike.
  void along_rows(std::uint64_t x0, std::uint64_t y0) {
    const std::uint64_t larger = cut_.larger;
    std::array<std::uint64_t, 9> changes{0,
                                         q_,
                                         larger,
                                         q_ - 1 - x0,
                                         q_ - x0,
                                         (larger + q_ - x0) % q_,
                                         (larger + q_ - 1 + q_ - x0) % q_,
                                         (y0 + 1) % q_,
                                         (y0 + 1 + q_ - larger) % q_};
    std::sort(changes.begin(), changes.end());
    double sum = 0;
    for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
      const std::uint64_t z = changes[i], x = (x0 + z) % q_, y = (y0 + q_ - z % q_) % q_;
      const auto layers = static_cast<double>(changes[i + 1] - z);
      if (layers == 0 || x == q_ - 1) continue;
      sum += layers * points(z) * points(y) * meeting(x, x + 1);
    }
    link(rank_at_[y0 * q_ + x0], rank_at_[y0 * q_ + (x0 + 1) % q_], sum);
  }

  // The last cell of a row and the first one of the row that follows in the file.
  void from_row_to_row(std::uint64_t y, std::uint64_t z) {
    const double once = meeting(q_ - 1, 0);
    const std::uint32_t last = rank_of(q_ - 1, y, z);
    link(last, rank_of(0, y, z), (points(y) - 1) * points(z) * once);
    if (y + 1 < q_) {
      link(last, rank_of(0, y + 1, z), points(z) * once);
    } else {
      link(last, rank_of(0, 0, z), (points(z) - 1) * once);
      if (z + 1 < q_) {
        link(last, rank_of(0, 0, z + 1), once);
      } else {
        link(last, rank_of(0, 0, 0), once * (steps_ - 1) / steps_);  // from one array to the next
      }
    }
  }

  std::uint64_t q_;
  BtCut cut_;
  double steps_, element_;
  Weight weight_;
  std::vector<std::uint32_t> rank_at_;  // by position
  std::vector<Triple> pairs_;
};

}  // namespace

SparseMatrix application_matrix(const BlockTridiagonal& bt, Weight weight) {
  // With two cells a side, one rank has the last cell of a layer and the first one of the next: one piece.
  constexpr std::uint64_t pieces_are_cells = 9;
  if (bt.ranks < pieces_are_cells) return application_matrix(state(bt).value(), {.weight = weight});
  return BtNeighbours(bt, weight).matrix();
}

}  // namespace weir::pattern
