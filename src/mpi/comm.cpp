#include "mpi/comm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>

#include "core/no_signals.hpp"
#include "core/options.hpp"

namespace weir::mpi {

struct Comm::Handle {
  MPI_Comm comm = MPI_COMM_NULL;
  int ranks_on_node = 0;  // 0: not asked yet

  explicit Handle(MPI_Comm original) { MPI_Comm_dup(original, &comm); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
};

Comm Comm::duplicate(MPI_Comm original) {
  Comm comm;
  comm.handle_ = std::make_shared<Handle>(original);
  MPI_Comm_rank(comm.get(), &comm.rank_);
  MPI_Comm_size(comm.get(), &comm.size_);
  return comm;
}

MPI_Comm Comm::get() const {
  if (!handle_) throw std::logic_error("the serial communicator has no MPI_Comm");
  return handle_->comm;
}

void Comm::barrier() const {
  if (handle_) MPI_Barrier(get());
}

int Comm::ranks_on_node() const {
  if (size_ == 1) return 1;
  if (handle_->ranks_on_node == 0) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &handle_->ranks_on_node);
    MPI_Comm_free(&node);
  }
  return handle_->ranks_on_node;
}

namespace {

std::int64_t reduce(const Comm& comm, std::int64_t value, MPI_Op op) {
  if (comm.size() > 1) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, op, comm.get());
  return value;
}

}  // namespace

std::int64_t Comm::sum(std::int64_t value) const {
  return is_serial() ? value : reduce(*this, value, MPI_SUM);
}
std::int64_t Comm::max(std::int64_t value) const {
  return is_serial() ? value : reduce(*this, value, MPI_MAX);
}
std::int64_t Comm::min(std::int64_t value) const {
  return is_serial() ? value : reduce(*this, value, MPI_MIN);
}

std::vector<std::int64_t> Comm::sum(std::vector<std::int64_t> values) const {
  if (size_ > 1)
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM, get());
  return values;
}

std::int64_t Comm::sum_of_lower_ranks(std::int64_t value) const {
  std::int64_t below = 0;
  if (size_ > 1) MPI_Exscan(&value, &below, 1, MPI_INT64_T, MPI_SUM, get());
  return rank_ == 0 ? 0 : below;  // MPI leaves rank 0's result undefined
}

void Comm::broadcast_bytes(std::byte* data, std::uint64_t size, int root) const {
  if (size_ == 1) return;
  constexpr std::uint64_t most = 1U << 30U;  // MPI counts are 32-bit
  for (std::uint64_t at = 0; at < size; at += most) {
    MPI_Bcast(data + at, static_cast<int>(std::min(most, size - at)), MPI_BYTE, root, get());
  }
}

std::string Comm::broadcast(std::string text, int root) const {
  if (size_ == 1) return text;
  auto length = static_cast<std::uint64_t>(text.size());
  MPI_Bcast(&length, 1, MPI_UINT64_T, root, get());
  text.resize(length);
  broadcast_bytes(reinterpret_cast<std::byte*>(text.data()), length, root);
  return text;
}

std::vector<std::string> Comm::gather_to_all(const std::string& mine) const {
  if (size_ == 1) return {mine};
  const auto ranks = static_cast<std::size_t>(size_);
  std::vector<std::int64_t> lengths(ranks);
  const auto my_length = static_cast<std::int64_t>(mine.size());
  MPI_Allgather(&my_length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, get());

  // In rounds, so that the 32-bit counts and displacements of MPI_Allgatherv hold whatever the lengths are.
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const std::int64_t round = std::max<std::int64_t>(1, (std::int64_t{1} << 30) / size_);
  std::vector<std::string> all(ranks);
  for (std::int64_t at = 0; at < longest; at += round) {
    std::vector<int> counts(ranks);
    std::vector<int> places(ranks);
    int total = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      counts[r] = static_cast<int>(std::clamp<std::int64_t>(lengths[r] - at, 0, round));
      places[r] = total;
      total += counts[r];
    }
    std::string received(static_cast<std::size_t>(total), '\0');
    const auto me = static_cast<std::size_t>(rank_);
    MPI_Allgatherv(mine.data() + std::min<std::int64_t>(at, my_length), counts[me], MPI_BYTE, received.data(),
                   counts.data(), places.data(), MPI_BYTE, get());
    for (std::size_t r = 0; r < ranks; ++r) {
      all[r].append(received, static_cast<std::size_t>(places[r]), static_cast<std::size_t>(counts[r]));
    }
  }
  return all;
}

namespace {
constexpr double default_patience = 60;
constexpr double longest_patience = 10 * 365 * 86400.0;
}  // namespace

void end_job() {
  MPI_Abort(MPI_COMM_WORLD, 1);
}

Result<double> patience_of_environment() {
  const char* text = std::getenv("WEIR_TIMEOUT");
  if (text == nullptr || *text == '\0') return default_patience;
  auto seconds = parse_seconds(text);
  if (seconds && *seconds >= 1 && *seconds <= longest_patience) return seconds;
  return fail(ErrorCode::invalid_argument, fmt::format("WEIR_TIMEOUT is '{}'", text),
              "make it a time of 1 s or more: 60, 90s or 5min");
}

double patience() {
  return patience_of_environment().value_or(default_patience);
}

namespace {

// Ends the job if the peers of a rank that failed do not come to the agreement in time. Owned by that rank's
// call of agree().
class Watchdog {
 public:
  explicit Watchdog(const Failure& failure)
      : message_(failure.message()), thread_(thread_without_signals([this] { watch(); })) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::duration<double>(patience()), [this] { return over_; })) return;
    fmt::print(stderr,
               "weir: {}\nweir: the other ranks did not return from the same call within {} s "
               "(WEIR_TIMEOUT); ending the job\n",
               message_, patience());
    std::fflush(stderr);
    std::_Exit(1);  // not MPI_Abort: the other thread is inside MPI. The launcher ends the rest
  }

  std::string message_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;  // last: it uses all of the above
};

std::unique_ptr<Watchdog> watch_over(const Status& mine) {
  try {
    if (!mine) return std::make_unique<Watchdog>(mine.error());
  } catch (const std::system_error&) {  // no thread to be had: wait without one
  }
  return nullptr;
}

std::string pack(const Failure& failure) {
  return nlohmann::json{static_cast<int>(failure.code),
                        failure.cause,
                        failure.operation,
                        failure.object,
                        failure.advice,
                        failure.rank}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A failure that was agreed on before keeps the rank it happened on.
Failure unpack(const std::string& text, int sender) {
  const auto parts = nlohmann::json::parse(text);
  const int rank = parts[5].get<int>();
  return {.code = static_cast<ErrorCode>(parts[0].get<int>()),
          .cause = parts[1].get<std::string>(),
          .operation = parts[2].get<std::string>(),
          .object = parts[3].get<std::string>(),
          .advice = parts[4].get<std::string>(),
          .rank = rank >= 0 ? rank : sender};
}

}  // namespace

Status agree(const Comm& comm, Status mine) {
  if (comm.is_serial() || comm.size() == 1) {
    if (!mine && mine.error().rank < 0 && !comm.is_serial()) mine.error().rank = 0;
    return mine;
  }
  std::int64_t lowest = mine ? comm.size() : comm.rank();
  {
    const auto watchdog = watch_over(mine);
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT64_T, MPI_MIN, comm.get());
  }
  if (lowest == comm.size()) return {};
  const auto root = static_cast<int>(lowest);
  const std::string text = comm.broadcast(comm.rank() == root ? pack(mine.error()) : std::string(), root);
  return tl::make_unexpected(unpack(text, root));
}

Status same_everywhere(const Comm& comm, const std::string& text, std::string_view what) {
  if (comm.size() == 1) return {};
  const std::string first = comm.broadcast(text, 0);
  Status mine;
  if (first != text) {
    mine = fail(ErrorCode::disagreement,
                fmt::format("{} differs between ranks: {} here, {} on rank 0", what, text, first),
                "pass the same on every rank");
  }
  return agree(comm, mine);
}

namespace {

// What every rank says when a collective call is opened.
class Ballot {
 public:
  enum class Patience : std::uint8_t { none, until_joined };

  Ballot(const Comm& comm, const std::string& call, bool good, bool flag, Patience patience = Patience::none)
      : comm_(comm) {
    // Minimum and, through the complement, maximum of a digest: equal only if everybody has the same.
    const auto digest = static_cast<std::int64_t>(std::hash<std::string>{}(call));
    votes_ = {good ? comm.size() : comm.rank(), digest, ~digest, flag ? -1 : 0,
              patience == Patience::until_joined ? 1 : 0};
  }
  void cast() {
    MPI_Allreduce(MPI_IN_PLACE, votes_.data(), static_cast<int>(votes_.size()), MPI_INT64_T, MPI_MIN,
                  comm_.get());
  }
  bool any_failed() const { return votes_[0] < comm_.size(); }
  bool all_call_the_same() const { return votes_[1] == ~votes_[2]; }
  bool any_flag() const { return votes_[3] != 0; }
  bool all_wait() const { return votes_[4] != 0; }

 private:
  const Comm& comm_;
  std::array<std::int64_t, 5> votes_{};
};

Status outcome_of(const Ballot& ballot, const Comm& comm, const std::string& call, const Status& mine) {
  if (ballot.any_failed()) WEIR_TRY(agree(comm, mine));
  if (!ballot.all_call_the_same()) WEIR_TRY(same_everywhere(comm, call, "the call"));
  return {};
}

}  // namespace

Result<bool> vote(const Comm& comm, const std::function<std::string()>& describe, const Status& mine,
                  bool flag) {
  if (comm.size() == 1) {
    WEIR_TRY(agree(comm, mine));
    return flag;
  }
  const std::string call = describe();
  Ballot ballot(comm, call, static_cast<bool>(mine), flag);
  {
    const auto watchdog = watch_over(mine);
    ballot.cast();
  }
  WEIR_TRY(outcome_of(ballot, comm, call, mine));
  return ballot.any_flag();
}

Status vote_until_joined(const Comm& comm, const std::string& call, Status mine,
                         const std::function<void(const Failure&)>& meanwhile) {
  if (comm.size() == 1) return agree(comm, std::move(mine));
  for (bool told = false;; told = true) {
    Ballot ballot(comm, call, static_cast<bool>(mine), false, Ballot::Patience::until_joined);
    {
      // None beside the program: the others may have much to compute before they call.
      const auto watchdog = meanwhile ? nullptr : watch_over(mine);
      ballot.cast();
    }
    Status outcome = outcome_of(ballot, comm, call, mine);
    if (ballot.all_call_the_same() || ballot.all_wait()) return outcome;
    if (!told && meanwhile) meanwhile(outcome.error());
    if (mine) mine = std::move(outcome);
  }
}

void take_leave(const Comm& comm, const Failure& failure) {
  for (bool all = comm.size() == 1; !all;) {
    Ballot ballot(comm, "leave", false, false, Ballot::Patience::until_joined);
    ballot.cast();  // no watchdog: the others may have much to compute before they call
    static_cast<void>(agree(comm, tl::make_unexpected(failure)));
    all = ballot.all_call_the_same();
  }
}

Status vote_to_end(const Comm& comm, const std::string& call) {
  const auto together = vote(comm, call, {});
  if (together) return {};
  take_leave(comm, together.error());
  return tl::make_unexpected(together.error());
}

}  // namespace weir::mpi
