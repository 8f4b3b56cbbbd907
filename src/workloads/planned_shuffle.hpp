// Two-phase I/O or dynamic segmentation by plan, step by step, so that its parts can be timed apart: packing,
// the exchange between ranks and the aggregators that the plan names, putting together what an aggregator
// received, and the file itself. Everybody knows the pattern, so nothing is negotiated.
//
// COLLECTIVE over comm, each function on all ranks in the same order.
#pragma once

#include <mpi.h>

#include "mpi/comm.hpp"
#include "pattern/shuffle.hpp"
#include "workloads/io_workload.hpp"

namespace weir::workloads {

// Each the slowest rank's, in seconds.
struct ShuffleTimes {
  double pack = 0;
  double communication = 0;
  double assemble = 0;
  double io = 0;
  std::uint64_t sent_between_nodes = 0;  // by the interfaces' counters, during the exchange
};

// A stretch of the file and where its bytes stand in a rank's memory.
struct Stretch {
  std::int64_t offset;
  std::uint64_t length;
  std::uint64_t in_memory;
};
// The parts of the accesses between begin and end, in the order of the accesses. LOCAL.
std::vector<Stretch> stretches_in(std::span<const pattern::Access> accesses, std::int64_t begin,
                                  std::int64_t end);

class PlannedShuffle {
 public:
  // Two-phase: even domains of the range that the workload touches; aggregators: by domain, a rank.
  // Segmented: all that a group (segments_of()) touches is its domain. REQUIRES: as many ranks in comm as the
  // workload has; aggregators below that.
  enum class Kind { two_phase, segmented };
  PlannedShuffle(MPI_Comm comm, const IoWorkload& workload, const std::vector<int>& aggregators,
                 Kind kind = Kind::two_phase);
  ~PlannedShuffle();
  PlannedShuffle(const PlannedShuffle&) = delete;
  PlannedShuffle& operator=(const PlannedShuffle&) = delete;

  // `memory`: the data of this rank's program. The file is opened by the aggregators through MPI-IO.
  Result<ShuffleTimes> write(const std::string& path, const std::byte* memory);
  Result<ShuffleTimes> read(const std::string& path, std::byte* memory);

 private:
  struct Route;
  struct Domain;
  void add_domain(const IoWorkload& workload, int number, std::int64_t begin, std::int64_t end,
                  const std::vector<int>& members);
  Result<double> transfer_domains(const std::string& path, bool writes);
  Result<double> exchange(bool towards_aggregators);

  mpi::Comm comm_;
  int rank_;
  std::vector<Route> routes_;    // of this rank's data, by domain
  std::vector<Domain> domains_;  // that this rank aggregates
};

}  // namespace weir::workloads
