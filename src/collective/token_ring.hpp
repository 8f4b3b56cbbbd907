// Throttling as it is executed: an aggregator may touch the file when it has its token, and hands it on when
// it finished. Tokens go through shared memory within a node, as empty messages between nodes.
//
// Threads: one at a time. Every aggregator of the layout makes the same number of cycles.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "aggregation/decide.hpp"
#include "collective/team.hpp"

namespace weir::collective {

class TokenRing {
 public:
  explicit TokenRing(Team& team) : team_(team) {}

  // `number`: of this rank in the layout; UINT32_MAX: it is no aggregator.
  void begin(const aggregation::Decision& decision, std::uint32_t number, std::uint32_t cycles);
  bool may_touch(std::uint32_t cycle);  // LOCAL, does not wait
  void pass(std::uint32_t cycle);
  bool waits() const { return waits_; }                        // the last may_touch() said no
  bool polls() const { return waiting_ != MPI_REQUEST_NULL; }  // a token is to come by message
  void finish();                                               // REQUIRES: every cycle was passed on

 private:
  bool has_token(std::uint32_t cycle);
  std::uint32_t rank_of(std::uint32_t number) const { return decision_->aggregators[number]; }
  bool in_team(std::uint32_t rank) const { return team_.nodes().of_rank[rank] == team_.node(); }
  std::uint32_t team_rank_of(std::uint32_t rank) const;

  Team& team_;
  const aggregation::Decision* decision_ = nullptr;
  std::uint32_t number_ = UINT32_MAX;
  std::uint32_t cycles_ = 0;
  bool waits_ = false;
  std::uint32_t held_ = 0;         // cycles for which a token came
  std::uint64_t tokens_used_ = 0;  // of those that came through shared memory, over all calls
  MPI_Request waiting_ = MPI_REQUEST_NULL;
  std::vector<MPI_Request> passed_;
};

}  // namespace weir::collective
