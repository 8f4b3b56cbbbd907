#include "collective/team.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>

namespace weir::collective {

void Ballot::add(const Ballot& other) {
  for (std::size_t i = 0; i < least_count; ++i) least[i] = std::min(least[i], other.least[i]);
  for (std::size_t i = 0; i < sum_count; ++i) sum[i] += other.sum[i];
  known &= other.known;
}

// At the beginning of the shared books; slots follow.
struct alignas(64) Team::Header {
  std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> sleepers;
  alignas(64) std::atomic<std::uint32_t> arrived;   // of the team, over all meetings
  alignas(64) std::atomic<std::uint32_t> released;  // number of the meeting whose result stands here
  Ballot result;
};

namespace {

void add_ballots(void* from, void* into, int* count, MPI_Datatype*) {
  auto* a = static_cast<Ballot*>(from);
  auto* b = static_cast<Ballot*>(into);
  for (int i = 0; i < *count; ++i) b[i].add(a[i]);
}

// Splits what MPI says shares memory further into teams of `pretend` ranks.
MPI_Comm split_by_node(MPI_Comm comm, std::uint32_t pretend) {
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
  if (pretend == 0) return local;
  int rank = 0;
  MPI_Comm_rank(local, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(local, rank / static_cast<int>(pretend), rank, &part);
  MPI_Comm_free(&local);
  return part;
}

}  // namespace

Result<std::unique_ptr<Team>> Team::create(const mpi::Comm& comm, std::uint32_t pretend) {
  if (comm.is_serial()) return fail(ErrorCode::unsupported, "collective I/O needs MPI");
  std::unique_ptr<Team> team(new Team(comm));
  team->local_ = split_by_node(comm.get(), pretend);
  MPI_Comm_rank(team->local_, &team->rank_);
  MPI_Comm_size(team->local_, &team->size_);
  Status shared = team->share();
  if (!shared) {
    MPI_Comm_free(&team->local_);
    MPI_Comm_dup(MPI_COMM_SELF, &team->local_);
    team->rank_ = 0;
    team->size_ = 1;
    shared = team->share();
  }
  WEIR_TRY(mpi::agree(comm, shared));

  auto leader = static_cast<std::uint64_t>(comm.rank());
  MPI_Bcast(&leader, 1, MPI_UINT64_T, 0, team->local_);
  std::vector<std::uint64_t> leader_of(static_cast<std::size_t>(comm.size()));
  MPI_Allgather(&leader, 1, MPI_UINT64_T, leader_of.data(), 1, MPI_UINT64_T, comm.get());
  team->nodes_ = aggregation::Nodes::of(leader_of);
  team->ranks_by_node_ = team->nodes_.ranks_by_node();
  team->node_ = team->nodes_.of_rank[static_cast<std::size_t>(comm.rank())];
  for (std::uint32_t node = 0; node < team->node_; ++node)
    team->first_on_board_ += team->ranks_by_node_[node].size();
  std::vector<Peers::Peer> peers(team->size());
  const Peers::Peer me = Peers::find(::getpid(), comm.rank());
  MPI_Allgather(&me, sizeof me, MPI_BYTE, peers.data(), sizeof me, MPI_BYTE, team->local_);
  team->peers_ = Peers(peers, team->rank());
  MPI_Comm_split(comm.get(), team->leads() ? 0 : MPI_UNDEFINED, comm.rank(), &team->leaders_);
  if (team->leads() && team->nodes_.count > 1) {
    std::vector<Whereabouts> leaders(team->nodes_.count);
    const Whereabouts own = team->next_node_.own();
    MPI_Allgather(&own, sizeof own, MPI_BYTE, leaders.data(), sizeof own, MPI_BYTE, team->leaders_);
    // Leaders are in the order of their ranks, and so are nodes.
    const std::uint32_t next = (team->node_ + 1) % team->nodes_.count;
    team->next_node_.watch(leaders[next], team->ranks_by_node_[next]);
  }
  MPI_Type_contiguous(static_cast<int>(sizeof(Ballot)), MPI_BYTE, &team->ballot_type_);
  MPI_Type_commit(&team->ballot_type_);
  MPI_Op_create(add_ballots, 1, &team->ballot_op_);
  return team;
}

Team::~Team() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  if (local_ != MPI_COMM_NULL) MPI_Comm_free(&local_);
  if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
  if (ballot_type_ != MPI_DATATYPE_NULL) MPI_Type_free(&ballot_type_);
  if (ballot_op_ != MPI_OP_NULL) MPI_Op_free(&ballot_op_);
}

namespace {

// The leader makes it, the others open it: all of them have it in the end, or none. Nobody goes on before
// that is known: the address is good only while it is held.
Result<SharedMemory> share_memory(MPI_Comm local, bool leads, std::uint64_t bytes) {
  Result<SharedMemory> memory = SharedMemory();
  SharedMemory::Address address;
  if (leads) {
    memory = SharedMemory::create(bytes);
    if (memory) address = memory->address();
  }
  MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, local);
  if (!leads) {
    memory = address.bytes == bytes
                 ? SharedMemory::open(address)
                 : Result<SharedMemory>(fail(ErrorCode::no_memory, "no memory to share within the node"));
  }
  int all_have = memory ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all_have, 1, MPI_INT, MPI_MIN, local);
  if (memory && all_have == 0) return fail(ErrorCode::no_memory, "no memory to share within the node");
  if (memory) memory->close_address();
  return memory;
}

}  // namespace

Status Team::share() {
  const std::uint64_t slots_end = sizeof(Header) + sizeof(Slot) * size();
  const std::uint64_t bytes = slots_end + most_gathered * sizeof(std::uint64_t);
  WEIR_ASSIGN(books_, share_memory(local_, leads(), bytes));
  // Zeros are what both begin with; the leader's constructors write the same again before anybody looks.
  header_ = reinterpret_cast<Header*>(books_.data());
  slots_ = reinterpret_cast<Slot*>(books_.data() + sizeof(Header));
  board_ = reinterpret_cast<std::uint64_t*>(books_.data() + slots_end);
  return {};
}

Status Team::make_ring(std::uint64_t bytes) {
  if (ring_.size() >= bytes) return {};
  // Schedules that are kept go on with the one that is there if this fails.
  auto larger = share_memory(local_, leads(), bytes);
  if (!larger) {
    larger.error().code = ErrorCode::no_memory;  // whatever the system call said
    return tl::make_unexpected(larger.error());
  }
  ring_ = std::move(*larger);
  return {};
}

void Team::make_rings(std::uint64_t bytes) {
  if (agree(make_ring(bytes))) ring_of_all_ = bytes;
}

void Team::reduce_over_leaders(Ballot& ballot) const {
  if (nodes_.count == 1) return;
  const Ballot mine = ballot;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &ballot, 1, ballot_type_, ballot_op_, leaders_, &request);
  wait_for(request);
}

void Team::wait_for(MPI_Request request) const {
  for (unsigned rounds = 0;; ++rounds) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    nap(bell(), rounds, true);
  }
}

// Within one node whoever comes last knows the result and tells it: the others are woken once. Over several
// nodes it is the leader who has to be woken first.
template <class Body>
void Team::meet(const Body& body) {
  const std::uint32_t number = ++meetings_;
  const std::uint32_t all = number * size();
  const bool last = header_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == all;
  if (nodes_.count == 1 ? last : leads()) {
    wait_until(header_->arrived, all);
    body();
    header_->released.store(number, std::memory_order_release);
    if (size() > 1) ring_bell();
    return;
  }
  if (last) ring_bell();
  wait_until(header_->released, number);
}

Ballot Team::reduce(const Ballot& mine) {
  slots_[rank_].ballot = mine;
  meet([&] {
    Ballot result;
    for (std::uint32_t r = 0; r < size(); ++r) result.add(slots_[r].ballot);
    reduce_over_leaders(result);
    header_->result = result;
  });
  return header_->result;
}

std::vector<std::uint64_t> Team::gather(std::span<const std::uint64_t> mine) {
  const std::size_t length = mine.size();
  std::copy(mine.begin(), mine.end(), board_ + (first_on_board_ + rank()) * length);
  meet([&] {
    if (nodes_.count == 1) return;
    std::vector<int> counts;
    std::vector<int> places;
    std::size_t before = 0;
    for (const auto& ranks : ranks_by_node_) {
      counts.push_back(static_cast<int>(ranks.size() * length));
      places.push_back(static_cast<int>(before * length));
      before += ranks.size();
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, board_, counts.data(), places.data(), MPI_UINT64_T,
                    leaders_, &request);
    wait_for(request);
  });
  std::vector<std::uint64_t> all(length * nodes_.ranks());
  const std::uint64_t* at = board_;
  for (const auto& ranks : ranks_by_node_) {
    for (const std::uint32_t rank : ranks) {
      std::copy_n(at, length, all.begin() + static_cast<std::ptrdiff_t>(rank * length));
      at += length;
    }
  }
  return all;
}

void Team::wait_until(const std::atomic<std::uint32_t>& count, std::uint32_t wanted) const {
  for (unsigned rounds = 0; count.load(std::memory_order_acquire) != wanted; ++rounds) {
    const std::uint32_t seen = bell();
    if (count.load(std::memory_order_acquire) == wanted) return;
    nap(seen, rounds, false);
  }
}

Status Team::agree(const Status& mine) {
  Ballot ballot;
  if (!mine) ballot.least[Ballot::failed] = comm_.rank();
  if (reduce(ballot).least[Ballot::failed] == INT64_MAX) return {};
  return mpi::agree(comm_, mine);
}

bool Team::all_given(std::uint64_t number) const {
  for (std::uint32_t r = 0; r < size(); ++r)
    if (slots_[r].given.load(std::memory_order_acquire) < number) return false;
  return true;
}

bool Team::all_taken(std::uint64_t number) const {
  for (std::uint32_t r = 0; r < size(); ++r)
    if (slots_[r].taken.load(std::memory_order_acquire) < number) return false;
  return true;
}

std::uint32_t Team::bell() const {
  return header_->bell.load();
}

void Team::ring_bell() const {
  header_->bell.fetch_add(1);
  if (header_->sleepers.load() > 0)
    ::syscall(SYS_futex, &header_->bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Team::nap(std::uint32_t seen, unsigned rounds, bool poll) const {
  // Who sleeps is woken late, and a message is only noticed by who looks. So everybody looks for about as
  // long as a call takes, some hundred microseconds; whoever else wants the core gets it at each yield.
  constexpr unsigned yields = 1000;
  if (rounds < yields) {
    ::sched_yield();
    return;
  }
  constexpr long shortest = 20'000;  // ns
  const long polling = shortest << std::min((rounds - yields) / 8, 4U);
  const timespec timeout{.tv_sec = 0, .tv_nsec = poll ? polling : 100'000'000};
  header_->sleepers.fetch_add(1);
  if (header_->bell.load() == seen)
    ::syscall(SYS_futex, &header_->bell, FUTEX_WAIT, seen, &timeout, nullptr, 0);
  header_->sleepers.fetch_sub(1);
  look_after_others();
}

void Team::look_after_others() const {
  auto lost = peers_.look();
  if (!lost) lost = next_node_.look();
  if (lost) end_job(lost->c_str());
}

void Team::end_job(const char* why) const {
  const char* const quote = file_ == nullptr ? "" : "'";
  std::fprintf(stderr, "weir: %s of %s%s%s: %s; the job is ended\n", call_, quote,
               file_ == nullptr ? "a file" : file_->c_str(), quote, why);
  std::fflush(stderr);
  mpi::end_job();
  std::_Exit(1);
}

}  // namespace weir::collective
