// HPCG that writes its matrix and its solution in each set, after Listing 5 of the paper on iocomp: the
// matrix is sent, the system is solved meanwhile, then the matrix is waited for; the solution is sent when
// there is one, and waited for before the next set zeroes it.
//
// The right-hand side of set s is 2^s times the first one's: solutions differ from set to set, so that an old
// one in a file is noticed, while residuals are the same to the last bit, which is tested as HPCG does.
//
// The file has the variables "matrix" [z, y, x, 27] and "x" [z, y, x], one step a set.
//
// COLLECTIVE over the session's compute communicator. Storage failures are thrown as weir::Error. Threads:
// one.
#pragma once

#include <optional>
#include <string>

#include "weir/weir.hpp"
#include "workloads/hpcg_solver.hpp"

namespace weir::workloads {

struct HpcgSettings {
  int sets = 1;
  int iterations = 10;       // of each set
  bool tests = false;        // Ticket::test() several times in an iteration
  bool weir_arrays = false;  // matrix and solution allocated by the session
  std::string path;
  std::string backend;
};

// Seconds, of the slowest rank each; the rest is of all ranks together.
struct HpcgTimes {
  double compute = 0;
  double send = 0;
  double wait = 0;
  double open_close = 0;
  double wall = 0;               // until close() returned: all data is in the file
  double traffic = 0;            // bytes that the solver moved, as HPCG counts
  double relative_residual = 0;  // of every set
  double effective_bandwidth() const { return wall > 0 ? traffic / wall : 0; }
};

// The matrix and its solver, to be used again by every run. Builds them for one kind of memory at a time.
class HpcgProblem {
 public:
  HpcgProblem(Session& session, const GridPart& part, bool weir_arrays);
  HpcgSolver& solver() { return *solver_; }
  const GridPart& part() const { return part_; }
  std::span<const double> matrix() const;
  std::span<double> solution();
  std::span<double> renewed_solution();  // before all of it is overwritten: moves on, if it is Weir's
  bool weir_arrays() const { return weir_arrays_; }

 private:
  GridPart part_;
  bool weir_arrays_;
  std::vector<double> own_matrix_, own_solution_;
  Buffer<double> weir_matrix_, weir_solution_;
  std::optional<HpcgSolver> solver_;
};

// As HPCG validates: symmetry of matrix and preconditioner, and a solve that converges to the known solution.
// The failure says what is wrong.
struct HpcgValidation {
  HpcgSolver::Symmetry symmetry;
  HpcgSolver::Outcome solve;
  double error = 0;  // the largest difference from the known solution
};
Result<HpcgValidation> validate_hpcg(Session& session, HpcgProblem& problem);

// Solutions of all sets are kept in `kept` when it is given, for verify_hpcg.
using HpcgSolutions = std::vector<std::vector<double>>;
HpcgTimes run_hpcg(Session& session, HpcgProblem& problem, const HpcgSettings& settings, HpcgSolutions* kept);

// One set without writing anything.
HpcgTimes run_plain_hpcg(Session& session, HpcgProblem& problem, const HpcgSettings& settings);

// Reads everything that run_hpcg wrote and compares every element.
Status verify_hpcg(Session& session, HpcgProblem& problem, const HpcgSettings& settings,
                   const HpcgSolutions& kept);

}  // namespace weir::workloads
