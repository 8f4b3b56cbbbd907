#include "workloads/hpcg_solver.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

namespace weir::workloads {

namespace {

constexpr double on_diagonal = 26.0;
constexpr double off_diagonal = -1.0;
constexpr std::size_t diagonal_place = 13;  // of the stencil's points in the order z, y, x
constexpr double value_bytes = 8;
constexpr double entry_bytes = 12;  // a value and its column

// The same number for the same point of the grid, however many ranks share it.
double noise(std::uint64_t point, std::uint64_t seed) {
  std::uint64_t h = (point + 1) * 0x9E3779B97F4A7C15U + seed * 0xBF58476D1CE4E5B9U;
  h ^= h >> 30U;
  h *= 0x94D049BB133111EBU;
  h ^= h >> 31U;
  return static_cast<double>(h >> 11U) * 0x1p-53;
}

}  // namespace

// One level of the multigrid. The finest one's values lie elsewhere.
struct HpcgSolver::Level {
  GridPart part;
  Halo halo;
  std::vector<double> own_values;
  double* values = nullptr;                           // rows x 27
  std::vector<std::int32_t> columns;                  // rows x 27, places in a vector
  std::vector<std::int32_t> fine_row;                 // of each row of the coarser level
  std::vector<double> residual, correction, product;  // of the multigrid; the last two with a halo
  std::vector<std::vector<double>> outgoing;          // by neighbour
  std::vector<MPI_Request> requests;

  Level(const GridPart& grid, std::span<double> memory) : part(grid), halo(grid) {
    if (memory.empty()) own_values.resize(rows() * stencil_points);
    values = memory.empty() ? own_values.data() : memory.data();
    columns.resize(rows() * stencil_points);
    fill();
    residual.resize(rows());
    correction.resize(width());
    product.resize(rows());
    for (const Neighbour& neighbour : halo.neighbours()) outgoing.emplace_back(neighbour.send.size());
    requests.resize(2 * outgoing.size());
    if (part.levels > 1) choose_coarse_points();
  }

  std::size_t rows() const { return static_cast<std::size_t>(part.points()); }
  std::size_t width() const { return rows() + static_cast<std::size_t>(halo.points()); }

  void fill() {
    std::size_t entry = 0;
    Index3 at;
    for (at[2] = 0; at[2] < part.local[2]; ++at[2]) {
      for (at[1] = 0; at[1] < part.local[1]; ++at[1]) {
        for (at[0] = 0; at[0] < part.local[0]; ++at[0]) {
          const std::int64_t row = part.row(at);
          for (std::int64_t k = 0; k < 27; ++k, ++entry) {
            const std::int64_t column =
                halo.place_of({at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1});
            // Outside the grid: a zero, multiplied by whatever is at hand.
            columns[entry] = static_cast<std::int32_t>(column < 0 ? row : column);
            values[entry] = column < 0 ? 0.0 : column == row ? on_diagonal : off_diagonal;
          }
        }
      }
    }
  }

  void choose_coarse_points() {
    const GridPart coarse = part.coarser();
    Index3 at;
    for (at[2] = 0; at[2] < coarse.local[2]; ++at[2]) {
      for (at[1] = 0; at[1] < coarse.local[1]; ++at[1]) {
        for (at[0] = 0; at[0] < coarse.local[0]; ++at[0])
          fine_row.push_back(static_cast<std::int32_t>(part.row({2 * at[0], 2 * at[1], 2 * at[2]})));
      }
    }
  }

  // Fills the part of x that belongs to neighbours.
  void exchange(std::vector<double>& x, MPI_Comm comm) {
    constexpr int tag = 0;
    const auto& neighbours = halo.neighbours();
    std::size_t request = 0;
    for (const Neighbour& neighbour : neighbours) {
      MPI_Irecv(x.data() + neighbour.receive_first, static_cast<int>(neighbour.receive_count), MPI_DOUBLE,
                neighbour.rank, tag, comm, &requests[request++]);
    }
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      const std::vector<std::int32_t>& send = neighbours[i].send;
      for (std::size_t j = 0; j < send.size(); ++j) outgoing[i][j] = x[static_cast<std::size_t>(send[j])];
      MPI_Isend(outgoing[i].data(), static_cast<int>(send.size()), MPI_DOUBLE, neighbours[i].rank, tag, comm,
                &requests[request++]);
    }
    MPI_Waitall(static_cast<int>(request), requests.data(), MPI_STATUSES_IGNORE);
  }

  double row_times(std::size_t row, const double* x) const {
    const double* value = values + row * stencil_points;
    const std::int32_t* column = columns.data() + row * stencil_points;
    // Three sums, one a layer of the stencil, so that an addition need not wait for the one before.
    double below = 0;
    double beside = 0;
    double above = 0;
    for (std::size_t k = 0; k < 9; ++k) {
      below += value[k] * x[column[k]];
      beside += value[k + 9] * x[column[k + 9]];
      above += value[k + 18] * x[column[k + 18]];
    }
    return below + beside + above;
  }
};

struct HpcgSolver::Work {
  MPI_Comm comm;
  std::vector<std::unique_ptr<Level>> levels;  // finest first
  std::function<void()> poll = [] {};
  double traffic = 0;
  std::vector<double> wide;  // a vector of the finest level with its halo

  Level& finest() { return *levels.front(); }
  double rows() { return static_cast<double>(finest().rows()); }

  // y = A x, with x's halo filled first.
  void multiply(Level& level, std::vector<double>& x, double* y) {
    level.exchange(x, comm);
    const std::size_t n = level.rows();
    for (std::size_t row = 0; row < n; ++row) y[row] = level.row_times(row, x.data());
    traffic += static_cast<double>(n) * (stencil_points * entry_bytes + 2 * value_bytes);
    poll();
  }

  // One forward and one backward sweep; neighbours' values are those from before, as in HPCG, which keeps
  // the preconditioner symmetric.
  void smooth(Level& level, const double* r, std::vector<double>& x) {
    level.exchange(x, comm);
    const std::size_t n = level.rows();
    const auto relax = [&](std::size_t row) {
      const double diagonal = level.values[row * stencil_points + diagonal_place];
      x[row] += (r[row] - level.row_times(row, x.data())) / diagonal;
    };
    for (std::size_t row = 0; row < n; ++row) relax(row);
    for (std::size_t row = n; row-- > 0;) relax(row);
    traffic += 2 * static_cast<double>(n) * (stencil_points * entry_bytes + 3 * value_bytes);
    poll();
  }

  // x = M r by one V-cycle from this level down.
  void cycle(std::size_t number, const double* r, std::vector<double>& x) {
    Level& level = *levels[number];
    std::fill(x.begin(), x.end(), 0.0);
    smooth(level, r, x);
    if (number + 1 == levels.size()) return;
    Level& coarse = *levels[number + 1];
    multiply(level, x, level.product.data());
    for (std::size_t i = 0; i < coarse.rows(); ++i) {
      const auto fine = static_cast<std::size_t>(level.fine_row[i]);
      coarse.residual[i] = r[fine] - level.product[fine];
    }
    cycle(number + 1, coarse.residual.data(), coarse.correction);
    for (std::size_t i = 0; i < coarse.rows(); ++i)
      x[static_cast<std::size_t>(level.fine_row[i])] += coarse.correction[i];
    traffic += static_cast<double>(coarse.rows()) * 8 * value_bytes;
    smooth(level, r, x);
  }

  double dot(const double* u, const double* v) {
    double sum = 0;
    const std::size_t n = finest().rows();
    for (std::size_t i = 0; i < n; ++i) sum += u[i] * v[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    traffic += rows() * (u == v ? 1 : 2) * value_bytes;
    return sum;
  }

  // w = a u + b v; they may be the same.
  void combine(double a, const double* u, double b, const double* v, double* w) {
    const std::size_t n = finest().rows();
    for (std::size_t i = 0; i < n; ++i) w[i] = a * u[i] + b * v[i];
    traffic += rows() * 3 * value_bytes;
  }
};

HpcgSolver::HpcgSolver(const GridPart& part, MPI_Comm comm, std::span<double> matrix)
    : work_(std::make_unique<Work>()) {
  work_->comm = comm;
  work_->levels.push_back(std::make_unique<Level>(part, matrix));
  for (GridPart level = part; level.levels > 1;) {
    level = level.coarser();
    work_->levels.push_back(std::make_unique<Level>(level, std::span<double>()));
  }
  work_->wide.resize(work_->finest().width());
}

HpcgSolver::~HpcgSolver() = default;

int HpcgSolver::levels() const {
  return static_cast<int>(work_->levels.size());
}
std::size_t HpcgSolver::rows() const {
  return work_->finest().rows();
}
double HpcgSolver::traffic() const {
  return work_->traffic;
}
void HpcgSolver::set_poll(std::function<void()> poll) {
  work_->poll = poll ? std::move(poll) : [] {};
}

std::vector<double> HpcgSolver::right_hand_side(double value) const {
  const Level& level = work_->finest();
  std::vector<double> b(level.rows());
  for (std::size_t row = 0; row < b.size(); ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < stencil_points; ++k) sum += level.values[row * stencil_points + k];
    b[row] = sum * value;
  }
  return b;
}

void HpcgSolver::multiply(std::span<const double> x, std::span<double> y) {
  std::copy(x.begin(), x.end(), work_->wide.begin());
  work_->multiply(work_->finest(), work_->wide, y.data());
}

void HpcgSolver::precondition(std::span<const double> r, std::span<double> z) {
  work_->cycle(0, r.data(), work_->wide);
  std::copy_n(work_->wide.begin(), z.size(), z.begin());
}

HpcgSolver::Outcome HpcgSolver::solve(std::span<const double> b, std::span<double> x, int most_iterations,
                                      double tolerance, bool preconditioned) {
  Work& work = *work_;
  Level& level = work.finest();
  const std::size_t n = level.rows();
  std::vector<double> p(level.width(), 0.0);
  std::vector<double> z(level.width(), 0.0);
  std::vector<double> r(n);
  std::vector<double> product(n);
  std::copy_n(x.begin(), n, p.begin());
  work.multiply(level, p, product.data());
  work.combine(1, b.data(), -1, product.data(), r.data());
  Outcome outcome;
  outcome.first_residual = outcome.last_residual = std::sqrt(work.dot(r.data(), r.data()));
  double rz = 0;
  while (outcome.iterations < most_iterations && outcome.last_residual > tolerance * outcome.first_residual) {
    if (preconditioned) {
      work.cycle(0, r.data(), z);
    } else {
      std::copy(r.begin(), r.end(), z.begin());
    }
    const double previous = rz;
    rz = work.dot(r.data(), z.data());
    if (!std::isnormal(rz)) break;  // so small that there are no numbers for it: solved, on all ranks alike
    work.combine(1, z.data(), outcome.iterations == 0 ? 0 : rz / previous, p.data(), p.data());
    work.multiply(level, p, product.data());
    const double curvature = work.dot(p.data(), product.data());
    if (!std::isnormal(curvature)) break;
    const double alpha = rz / curvature;
    work.combine(1, x.data(), alpha, p.data(), x.data());
    work.combine(1, r.data(), -alpha, product.data(), r.data());
    outcome.last_residual = std::sqrt(work.dot(r.data(), r.data()));
    ++outcome.iterations;
  }
  return outcome;
}

HpcgSolver::Symmetry HpcgSolver::symmetry() {
  Work& work = *work_;
  const GridPart& part = work.finest().part;
  const std::size_t n = rows();
  std::vector<double> u(n);
  std::vector<double> v(n);
  std::vector<double> image(n);
  std::size_t i = 0;
  for (std::int64_t z = 0; z < part.local[2]; ++z) {
    for (std::int64_t y = 0; y < part.local[1]; ++y) {
      for (std::int64_t x = 0; x < part.local[0]; ++x, ++i) {
        const auto point = static_cast<std::uint64_t>(
            ((part.first[2] + z) * part.global[1] + part.first[1] + y) * part.global[0] + part.first[0] + x);
        u[i] = noise(point, 1);
        v[i] = noise(point, 2);
      }
    }
  }
  const double norms = std::sqrt(work.dot(u.data(), u.data())) * std::sqrt(work.dot(v.data(), v.data()));
  const double unit = 2 * norms * 2 * on_diagonal * DBL_EPSILON;
  Symmetry found;
  multiply(v, image);
  const double uAv = work.dot(u.data(), image.data());
  multiply(u, image);
  found.matrix = std::abs(uAv - work.dot(v.data(), image.data())) / unit;
  precondition(v, image);
  const double uMv = work.dot(u.data(), image.data());
  precondition(u, image);
  found.preconditioner = std::abs(uMv - work.dot(v.data(), image.data())) / unit;
  return found;
}

}  // namespace weir::workloads
