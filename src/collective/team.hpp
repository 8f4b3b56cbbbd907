// The ranks of one node, as far as they share memory, and the way from there to all others: few processes
// talk between nodes, and within a node nobody sends messages.
//
// Ownership: owns its communicators and its shared memory. Threads: one thread at a time, but ring_bell()
// from any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aggregation/layout.hpp"
#include "collective/next_node.hpp"
#include "collective/peers.hpp"
#include "collective/shared_memory.hpp"
#include "mpi/comm.hpp"

namespace weir::collective {

inline constexpr std::size_t kept_schedules = 4;

// What every rank brings to the opening and the closing of a call. One reduction makes one of all.
struct Ballot {
  enum Least : std::uint8_t {
    failed,
    call,
    call_too,
    begin,
    end,
    size,
    rows,
    done,
    shift,
    shift_too = shift + kept_schedules
  };
  static constexpr std::size_t least_count = shift_too + kept_schedules;
  enum Sum : std::uint8_t { bytes, pieces };
  static constexpr std::size_t sum_count = 2;

  std::array<std::int64_t, least_count> least;  // the smallest wins; largest ones are passed as complements
  std::array<std::int64_t, sum_count> sum{};
  std::uint64_t known =
      UINT64_MAX;  // kept schedules that fit the rank's pieces, as bits; those that fit all remain
  Ballot() { least.fill(INT64_MAX); }
  void add(const Ballot& other);
};

class Team {
 public:
  // COLLECTIVE over comm. `pretend`: ranks of a node that are to be a node of their own; 0: nodes as they
  // are. Where memory cannot be shared, every rank is a team of its own.
  static Result<std::unique_ptr<Team>> create(const mpi::Comm& comm, std::uint32_t pretend);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  const mpi::Comm& comm() const { return comm_; }
  const aggregation::Nodes& nodes() const { return nodes_; }
  const std::vector<std::vector<std::uint32_t>>& ranks_by_node() const { return ranks_by_node_; }
  std::uint32_t node() const { return node_; }
  std::uint32_t rank() const { return static_cast<std::uint32_t>(rank_); }  // within the team
  std::uint32_t size() const { return static_cast<std::uint32_t>(size_); }
  bool leads() const { return rank_ == 0; }
  MPI_Comm local() const { return local_; }
  MPI_Comm leaders() const { return leaders_; }  // REQUIRES: leads()

  // What the ranks are about to do, for the message if one of them is lost meanwhile. LOCAL.
  void set_purpose(const char* call, const std::string& file) {
    call_ = call;
    file_ = &file;
  }

  // For a rank that cannot go on while others wait for it, in a call that has no way back: says why, and ends
  // the job. Takes no memory. LOCAL.
  [[noreturn]] void end_job(const char* why) const;

  // COLLECTIVE over all ranks. Sleeps while others are not there yet.
  Ballot reduce(const Ballot& mine);

  // COLLECTIVE over all ranks. The words of all, by rank; as many from each, `most_gathered` at most in all.
  // Within a node through shared memory, between nodes by their leaders. REQUIRES: a reduction since the
  // last.
  static constexpr std::size_t most_gathered = 1U << 14U;
  std::vector<std::uint64_t> gather(std::span<const std::uint64_t> mine);

  // The same as mpi::agree(), without a message where nothing went wrong. COLLECTIVE over all ranks.
  Status agree(const Status& mine);

  // COLLECTIVE over the team, whose ranks have the same outcome. At least so many bytes of shared memory for
  // messages; after a failure, as many as before.
  Status make_ring(std::uint64_t bytes);
  // COLLECTIVE over all ranks: so many on every node, if they can be had, so that calls need not agree on it.
  void make_rings(std::uint64_t bytes);
  std::uint64_t ring_of_all() const { return ring_of_all_; }  // bytes that every node has
  std::byte* ring() const { return ring_.data(); }

  // How far a rank has come: numbers of messages, counted over all calls.
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> given;  // it has put in its share of all messages below
    std::atomic<std::uint64_t> taken;  // it has taken what it wants of all messages below
    std::atomic<std::uint64_t> tokens;
    Ballot ballot;
  };
  Slot& slot(std::uint32_t team_rank) const { return slots_[team_rank]; }
  bool all_given(std::uint64_t number) const;
  bool all_taken(std::uint64_t number) const;

  // Sleeping until something may have changed: read bell(), look, then nap(what bell() said).
  std::uint32_t bell() const;
  void ring_bell() const;
  // `rounds`: how often in a row nothing had changed. `poll`: something else than the bell is waited for too,
  // such as a message.
  void nap(std::uint32_t seen, unsigned rounds, bool poll) const;

 private:
  explicit Team(const mpi::Comm& comm) : comm_(comm) {}
  Status share();
  // The leader, or on a single node whoever comes last, does `body` when all ranks of the team have come; the
  // others wait until it is done.
  template <class Body>
  void meet(const Body& body);
  void reduce_over_leaders(Ballot& ballot) const;
  void wait_for(MPI_Request request) const;
  void wait_until(const std::atomic<std::uint32_t>& count, std::uint32_t wanted) const;
  void look_after_others() const;

  struct Header;
  mpi::Comm comm_;
  MPI_Comm local_ = MPI_COMM_NULL;
  MPI_Comm leaders_ = MPI_COMM_NULL;
  MPI_Datatype ballot_type_ = MPI_DATATYPE_NULL;
  MPI_Op ballot_op_ = MPI_OP_NULL;
  int rank_ = 0;
  int size_ = 1;
  aggregation::Nodes nodes_;
  std::vector<std::vector<std::uint32_t>> ranks_by_node_;
  std::uint32_t node_ = 0;
  SharedMemory books_;
  Header* header_ = nullptr;
  Slot* slots_ = nullptr;
  std::uint64_t* board_ = nullptr;    // what is gathered
  std::uint64_t first_on_board_ = 0;  // of this node's ranks
  SharedMemory ring_;
  std::uint64_t ring_of_all_ = 0;
  std::uint32_t meetings_ = 0;
  mutable Peers peers_;
  mutable NextNode next_node_;  // leaders, where there are several nodes
  const char* call_ = "collective I/O";
  const std::string* file_ = nullptr;
};

}  // namespace weir::collective
