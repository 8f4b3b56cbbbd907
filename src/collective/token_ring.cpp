#include "collective/token_ring.hpp"

#include <algorithm>

namespace weir::collective {

namespace {
constexpr int token_tag = 3;
}

void TokenRing::begin(const aggregation::Decision& decision, std::uint32_t number, std::uint32_t cycles) {
  decision_ = &decision;
  number_ = number;
  cycles_ = cycles;
  held_ = 0;
}

std::uint32_t TokenRing::team_rank_of(std::uint32_t rank) const {
  const auto& ranks = team_.ranks_by_node()[team_.node()];
  return static_cast<std::uint32_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

bool TokenRing::may_touch(std::uint32_t cycle) {
  waits_ = !has_token(cycle);
  return !waits_;
}

bool TokenRing::has_token(std::uint32_t cycle) {
  if (cycle < held_) return true;
  const auto token = decision_->steps.awaits(number_);
  if (!token || (token->earlier && cycle == 0) || token->aggregator == number_) {
    held_ = cycle + 1;
    return true;
  }
  const std::uint32_t from = rank_of(token->aggregator);
  if (in_team(from)) {
    if (team_.slot(team_.rank()).tokens.load(std::memory_order_acquire) == tokens_used_) return false;
    ++tokens_used_;
  } else {
    if (waiting_ == MPI_REQUEST_NULL)
      MPI_Irecv(nullptr, 0, MPI_BYTE, static_cast<int>(from), token_tag, team_.comm().get(), &waiting_);
    int done = 0;
    MPI_Test(&waiting_, &done, MPI_STATUS_IGNORE);
    if (done == 0) return false;
  }
  held_ = cycle + 1;
  return true;
}

void TokenRing::pass(std::uint32_t cycle) {
  const auto next = decision_->steps.successor(number_);
  if (!next || *next == number_) return;
  if (*next < number_ && cycle + 1 == cycles_) return;  // nobody will touch the file any more
  const std::uint32_t to = rank_of(*next);
  if (in_team(to)) {
    team_.slot(team_rank_of(to)).tokens.fetch_add(1, std::memory_order_release);
    team_.ring_bell();
  } else {
    MPI_Isend(nullptr, 0, MPI_BYTE, static_cast<int>(to), token_tag, team_.comm().get(),
              &passed_.emplace_back());
  }
}

void TokenRing::finish() {
  MPI_Waitall(static_cast<int>(passed_.size()), passed_.data(), MPI_STATUSES_IGNORE);
  passed_.clear();
}

}  // namespace weir::collective
