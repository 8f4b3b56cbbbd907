// The computation of HPCG: a 27-point stencil (26 on the diagonal, -1 beside it) on a 3-D grid, solved by
// conjugate gradients, preconditioned by a multigrid of up to four levels with symmetric Gauss-Seidel.
//
// Matrix rows have a fixed place for each of the 27 neighbours, and zero where a neighbour is outside the
// grid, so that the matrix is a regular array [z, y, x, 27] for those who write it.
//
// Operations are COLLECTIVE over the communicator unless said otherwise. Threads: one.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <span>

#include "workloads/hpcg_grid.hpp"

namespace weir::workloads {

inline constexpr std::size_t stencil_points = 27;

class HpcgSolver {
 public:
  // `matrix` is where the finest level's values are kept: part.points() * 27 elements, which outlive this.
  // LOCAL.
  HpcgSolver(const GridPart& part, MPI_Comm comm, std::span<double> matrix);
  ~HpcgSolver();
  HpcgSolver(const HpcgSolver&) = delete;
  HpcgSolver& operator=(const HpcgSolver&) = delete;

  int levels() const;
  std::size_t rows() const;

  // The right-hand side whose solution is `value` everywhere. LOCAL
  std::vector<double> right_hand_side(double value) const;

  struct Outcome {
    int iterations = 0;
    double first_residual = 0;  // 2-norms
    double last_residual = 0;
    double relative() const { return first_residual > 0 ? last_residual / first_residual : 0; }
  };
  // From the x that is given, until the residual has shrunk by `tolerance` or for so many iterations.
  Outcome solve(std::span<const double> b, std::span<double> x, int most_iterations, double tolerance,
                bool preconditioned = true);

  // HPCG's test of symmetry: how far u'Av is from v'Au, in units of what rounding explains; and the same for
  // the preconditioner. At most 1 is symmetric.
  struct Symmetry {
    double matrix = 0;
    double preconditioner = 0;
  };
  Symmetry symmetry();

  void multiply(std::span<const double> x, std::span<double> y);      // y = A x
  void precondition(std::span<const double> r, std::span<double> z);  // z = M r

  // Called several times in an iteration: room for a program to test its writes. LOCAL
  void set_poll(std::function<void()> poll);

  // Bytes that the operations so far had to move between memory and processor if nothing stayed in a cache,
  // of this rank. LOCAL
  double traffic() const;

 private:
  struct Level;
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace weir::workloads
