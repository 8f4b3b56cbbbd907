// A communicator as a value, and the few collective operations that Weir needs, in 64-bit sizes.
//
// A Comm owns a duplicate of the communicator it was made from, so that Weir's messages never meet the
// program's. The serial Comm stands for one process without MPI: every operation is local, and MPI need not
// be initialised. Threads: one thread at a time per Comm, as MPI's collectives demand.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace weir::mpi {

class Comm {
 public:
  static Comm serial() { return Comm(); }
  static Comm duplicate(MPI_Comm original);  // COLLECTIVE over original

  bool is_serial() const { return handle_ == nullptr; }
  MPI_Comm get() const;  // REQUIRES: !is_serial()
  int rank() const { return rank_; }
  int size() const { return size_; }

  // All COLLECTIVE.
  Comm duplicate() const { return is_serial() ? serial() : duplicate(get()); }
  void barrier() const;
  int ranks_on_node() const;  // on this rank's; asked once per communicator and its copies
  std::int64_t sum(std::int64_t value) const;
  std::vector<std::int64_t> sum(
      std::vector<std::int64_t> values) const;  // element by element; the same number everywhere
  std::int64_t max(std::int64_t value) const;
  std::int64_t min(std::int64_t value) const;
  std::int64_t sum_of_lower_ranks(std::int64_t value) const;
  std::string broadcast(std::string text, int root) const;
  std::vector<std::string> gather_to_all(const std::string& mine) const;  // in rank order
  void broadcast_bytes(std::byte* data, std::uint64_t size, int root) const;

 private:
  Comm() = default;
  struct Handle;
  std::shared_ptr<Handle> handle_;
  int rank_ = 0;
  int size_ = 1;
};

// Makes one outcome of many. COLLECTIVE. Returns, on every rank alike, success if all succeeded, else the
// failure of the lowest rank that failed, with its rank named. A rank that failed waits for the others at
// most patience(); if they are stuck inside a storage library by then, it prints its failure and ends the
// job, since nobody can call them back.
Status agree(const Comm& comm, Status mine);

// The same for a value that every rank made for itself.
template <class T>
Result<T> agree(const Comm& comm, Result<T> mine) {
  const Status together = agree(comm, mine ? Status() : Status(tl::make_unexpected(mine.error())));
  if (!together) return tl::make_unexpected(together.error());
  return mine;
}

// Fails on every rank unless all passed the same text; `what` names it: "the shape of variable 'T'".
// COLLECTIVE.
Status same_everywhere(const Comm& comm, const std::string& text, std::string_view what);

// Opens a collective call: makes sure that all ranks make the same one (`call` describes it in words,
// arguments included; it is not asked when there is one rank only) and that none of them has failed so far.
// Returns whether any rank raised its flag. COLLECTIVE, one small reduction when all is well.
Result<bool> vote(const Comm& comm, const std::function<std::string()>& call, const Status& mine,
                  bool flag = false);
inline Result<bool> vote(const Comm& comm, const std::string& call, const Status& mine, bool flag = false) {
  return vote(
      comm, [&] { return call; }, mine, flag);
}

// The same for a call that all ranks come to sooner or later. Where others make another call meanwhile,
// theirs fails, and so does this one: `meanwhile` is told, once, and the rank takes part until they have come
// to it, or until all ranks wait for each other in this way. Without `meanwhile` it is the program that waits
// here: after a failure for patience() at most, as in agree().
Status vote_until_joined(const Comm& comm, const std::string& call, Status mine,
                         const std::function<void(const Failure&)>& meanwhile = {});

// For a rank that makes no more calls while others may: takes part in their votes, with this failure, until
// all ranks have come here. It lasts until the others make their next call or come here, too. COLLECTIVE.
void take_leave(const Comm& comm, const Failure& failure);

// The last call of all ranks over this communicator. If others still make another one, that fails, and so
// does this, when they have come to it. COLLECTIVE.
Status vote_to_end(const Comm& comm, const std::string& call);

// Ends the whole job, whose ranks do not answer any more. Not by a smaller communicator than that of all:
// given one, MPICH waits for its ranks.
void end_job();

// How long a rank that failed waits for the others, in seconds: WEIR_TIMEOUT, from 1 s to 10 years, default
// 60 s.
Result<double> patience_of_environment();
double patience();  // the default where the environment says something else than a time

}  // namespace weir::mpi
