#include "workloads/hpcg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mpi/comm.hpp"
#include "workloads/share.hpp"

namespace weir::workloads {

namespace {

// This rank's block of the two variables.
struct Blocks {
  WriteOptions matrix, solution;
  explicit Blocks(const GridPart& part) {
    for (std::size_t d = 3; d-- > 0;) {
      solution.shape.push_back(static_cast<std::uint64_t>(part.global[d]));
      solution.offset.push_back(static_cast<std::uint64_t>(part.first[d]));
      solution.count.push_back(static_cast<std::uint64_t>(part.local[d]));
    }
    matrix = solution;
    matrix.shape.push_back(stencil_points);
    matrix.offset.push_back(0);
    matrix.count.push_back(stencil_points);
  }
};

double scale_of(int set) {
  return std::ldexp(1.0, set % 64);
}

class Run {
 public:
  Run(Session& session, HpcgProblem& problem, const HpcgSettings& settings, HpcgSolutions* kept)
      : session_(session), problem_(problem), settings_(settings), kept_(kept), blocks_(problem.part()) {}

  HpcgTimes whole() {
    if (kept_ != nullptr) kept_->clear();
    const std::vector<double> b = problem_.solver().right_hand_side(1.0);
    const double before = problem_.solver().traffic();
    MPI_Barrier(session_.compute());
    timed(times_.wall, [&] {
      std::optional<File> out;
      timed(times_.open_close,
            [&] { out = session_.create(settings_.path, {.backend = settings_.backend}); });
      for (int set = 0; set < settings_.sets; ++set) one_set(*out, set, b);
      wait_for(solution_);
      timed(times_.open_close, [&] { out->close(); });
    });
    problem_.solver().set_poll(nullptr);
    times_.traffic = problem_.solver().traffic() - before;
    return times_;
  }

  double residual() const { return residuals_.empty() ? 0 : residuals_.front(); }

  // The residuals of all sets must be the same, but for MPI libraries that add in another order each time,
  // and the solve must have got somewhere. Where it got further than numbers tell, what is left is rounding.
  Status check_norms() const {
    constexpr double tolerance = 1e-6;
    constexpr double rounding = std::numeric_limits<double>::epsilon();
    WEIR_TRY(failed_);
    for (const double residual : residuals_) {
      const double apart = std::abs(residual - residuals_.front());
      if (!(apart <= std::max(tolerance * residuals_.front(), rounding)) || !(residual < 1)) {
        return fail(ErrorCode::corrupt,
                    fmt::format("the residual of a set is {} and that of the first {}, from 1", residual,
                                residuals_.front()));
      }
    }
    return {};
  }

 private:
  void one_set(File& out, int set, const std::vector<double>& b) {
    std::optional<Ticket> matrix;
    timed(times_.send, [&] {
      WriteOptions place = blocks_.matrix;
      place.step = set;
      matrix = out.write("matrix", problem_.matrix(), place);
    });
    wait_for(solution_);  // the last set's, about to be overwritten
    std::span<double> x;
    timed(problem_.weir_arrays() ? times_.wait : times_.compute, [&] { x = problem_.renewed_solution(); });
    if (settings_.tests) {
      problem_.solver().set_poll([&matrix] {
        if (matrix && matrix->test()) matrix.reset();
      });
    }
    timed(times_.compute, [&] {
      std::vector<double> scaled = b;
      for (double& value : scaled) value *= scale_of(set);
      std::fill(x.begin(), x.end(), 0.0);
      const HpcgSolver::Outcome outcome = problem_.solver().solve(scaled, x, settings_.iterations, 0.0);
      residuals_.push_back(outcome.relative());
    });
    problem_.solver().set_poll(nullptr);
    // Nothing overwrites the matrix: where Weir can read it in place there is nothing to wait for.
    if (!problem_.weir_arrays()) wait_for(matrix);
    if (kept_ != nullptr) kept_->emplace_back(x.begin(), x.end());
    timed(times_.send, [&] {
      WriteOptions place = blocks_.solution;
      place.step = set;
      solution_ = out.write("x", x, place);
    });
    if (problem_.weir_arrays()) solution_.reset();
  }

  // A failure may be known on one rank first. All ranks go on together until close() throws it on all.
  void wait_for(std::optional<Ticket>& ticket) {
    if (!ticket) return;
    timed(times_.wait, [&] {
      try {
        ticket->wait();
      } catch (const Error& error) {
        if (failed_) failed_ = fail(error.code(), error.what());
      }
    });
    ticket.reset();
  }

  Session& session_;
  HpcgProblem& problem_;
  const HpcgSettings& settings_;
  HpcgSolutions* kept_;
  Blocks blocks_;
  std::optional<Ticket> solution_;
  std::vector<double> residuals_;
  HpcgTimes times_;
  Status failed_;
};

HpcgTimes together(const HpcgTimes& mine, MPI_Comm comm) {
  std::vector<double> values = {mine.compute, mine.send, mine.wait, mine.open_close, mine.wall};
  most_of_all(values, comm);
  HpcgTimes times = mine;
  times.compute = values[0];
  times.send = values[1];
  times.wait = values[2];
  times.open_close = values[3];
  times.wall = values[4];
  MPI_Allreduce(MPI_IN_PLACE, &times.traffic, 1, MPI_DOUBLE, MPI_SUM, comm);
  return times;
}

Status compare(std::span<const double> found, std::span<const double> wanted, const char* name, int set) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (found[i] == wanted[i]) continue;
    return fail(ErrorCode::corrupt,
                fmt::format("element {} of this rank's '{}' in set {} is {} and should be {}", i, name, set,
                            found[i], wanted[i]));
  }
  return {};
}

Status compare_file(Session& session, HpcgProblem& problem, const HpcgSettings& settings,
                    const HpcgSolutions& kept) {
  const Blocks blocks(problem.part());
  Reader in = session.open(settings.path, {.backend = settings.backend});
  Status found;  // the first difference; the calls that are collective go on
  std::vector<double> matrix(problem.matrix().size());
  std::vector<double> solution(problem.solver().rows());
  for (int set = 0; set < settings.sets; ++set) {
    std::fill(matrix.begin(), matrix.end(), 1.0);
    in.read("matrix", matrix, {.offset = blocks.matrix.offset, .count = blocks.matrix.count, .step = set});
    std::fill(solution.begin(), solution.end(), -1.0);
    in.read("x", solution, {.offset = blocks.solution.offset, .count = blocks.solution.count, .step = set});
    if (found) found = compare(matrix, problem.matrix(), "matrix", set);
    if (found) found = compare(solution, kept[static_cast<std::size_t>(set)], "x", set);
  }
  in.close();
  return weir::in(found, "read back", settings.path);
}

}  // namespace

HpcgProblem::HpcgProblem(Session& session, const GridPart& part, bool weir_arrays)
    : part_(part), weir_arrays_(weir_arrays) {
  const auto rows = static_cast<std::size_t>(part.points());
  std::span<double> matrix;
  if (weir_arrays) {
    weir_matrix_ = session.allocate<double>(rows * stencil_points);
    weir_solution_ = session.allocate<double>(rows);
    matrix = {weir_matrix_.data(), weir_matrix_.size()};
  } else {
    own_matrix_.resize(rows * stencil_points);
    own_solution_.resize(rows);
    matrix = own_matrix_;
  }
  solver_.emplace(part, session.compute(), matrix);
}

std::span<const double> HpcgProblem::matrix() const {
  if (weir_arrays_) return {weir_matrix_.data(), weir_matrix_.size()};
  return own_matrix_;
}

std::span<double> HpcgProblem::solution() {
  if (weir_arrays_) return {weir_solution_.data(), weir_solution_.size()};
  return own_solution_;
}

std::span<double> HpcgProblem::renewed_solution() {
  if (weir_arrays_) return {weir_solution_.fresh(), weir_solution_.size()};
  return own_solution_;
}

Result<HpcgValidation> validate_hpcg(Session& session, HpcgProblem& problem) {
  constexpr int most_iterations = 500;
  constexpr double tolerance = 1e-10;
  constexpr double largest_error = 1e-6;
  HpcgValidation found;
  found.symmetry = problem.solver().symmetry();
  // Written so that a NaN fails.
  if (!(found.symmetry.matrix <= 1) || !(found.symmetry.preconditioner <= 1)) {
    return fail(ErrorCode::corrupt,
                fmt::format("the symmetry test departs by {} (matrix) and {} (preconditioner), more than 1",
                            found.symmetry.matrix, found.symmetry.preconditioner));
  }
  std::vector<double> x(problem.solver().rows(), 0.0);
  found.solve = problem.solver().solve(problem.solver().right_hand_side(1.0), x, most_iterations, tolerance);
  std::vector<double> error = {0};
  for (const double value : x)
    error[0] = std::max(error[0], std::isfinite(value) ? std::abs(value - 1) : 1e300);
  most_of_all(error, session.compute());
  found.error = error[0];
  if (found.solve.relative() > tolerance || found.error > largest_error) {
    return fail(ErrorCode::corrupt,
                fmt::format("after {} iterations the residual has shrunk to {} and the solution is {} off",
                            found.solve.iterations, found.solve.relative(), found.error));
  }
  return found;
}

HpcgTimes run_hpcg(Session& session, HpcgProblem& problem, const HpcgSettings& settings,
                   HpcgSolutions* kept) {
  Run run(session, problem, settings, kept);
  HpcgTimes times = run.whole();
  if (Status right = mpi::agree(mpi::Comm::duplicate(session.compute()), run.check_norms()); !right)
    throw right.error().to_exception();
  times.relative_residual = run.residual();
  return together(times, session.compute());
}

HpcgTimes run_plain_hpcg(Session& session, HpcgProblem& problem, const HpcgSettings& settings) {
  HpcgTimes times;
  const std::vector<double> b = problem.solver().right_hand_side(1.0);
  const std::span<double> x = problem.renewed_solution();
  MPI_Barrier(session.compute());
  timed(times.compute, [&] {
    std::fill(x.begin(), x.end(), 0.0);
    times.relative_residual = problem.solver().solve(b, x, settings.iterations, 0.0).relative();
  });
  times.wall = times.compute;
  return together(times, session.compute());
}

Status verify_hpcg(Session& session, HpcgProblem& problem, const HpcgSettings& settings,
                   const HpcgSolutions& kept) {
  Status found;
  try {
    found = compare_file(session, problem, settings, kept);
  } catch (const Error& error) {  // the same on every rank
    return fail(error.code(), error.what());
  }
  return mpi::agree(mpi::Comm::duplicate(session.compute()), found);
}

}  // namespace weir::workloads
