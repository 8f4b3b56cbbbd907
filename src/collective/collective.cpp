#include "collective/collective.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <new>
#include <optional>
#include <system_error>

#include "aggregation/file_system.hpp"
#include "collective/direct.hpp"
#include "collective/exchange.hpp"
#include "core/timed.hpp"
#include "core/worker.hpp"

namespace weir::collective {

using aggregation::Algorithm;
using aggregation::Rows;
using Direction = FileIo::Direction;

namespace {

Status check_request(const Request& request, Direction direction) {
  WEIR_TRY(check(request.file, direction == Direction::read));
  const std::uint64_t bytes = aggregation::total_bytes(request.file);
  if (const std::uint64_t memory = aggregation::total_bytes(request.memory); memory != bytes)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes of memory for {} bytes of the file", memory, bytes));
  return {};
}

// What the file and its file system allow, the same on all ranks.
struct FileTraits {
  bool shared_locks = false;
  bool may_fill = false;
  bool early_blocks = false;
  std::vector<aggregation::StripedPart> parts;  // as the file system has it; none: it does not say
  aggregation::Striping said;                   // by the user, for where it does not

  aggregation::Striping striping_between(std::uint64_t begin, std::uint64_t end) const {
    aggregation::Striping striping = aggregation::striping_between(parts, begin, end);
    return striping.known() ? striping : said;
  }
};

constexpr std::uint64_t most_early_ring = 64U << 20U;

// One rank's word counts: nodes may see attributes of a new file at different times. COLLECTIVE.
FileTraits ask_one_rank(const mpi::Comm& comm, int descriptor) {
  const auto facts =
      comm.rank() == 0 ? aggregation::ask_file_system(descriptor) : aggregation::FileSystemFacts{};
  const auto broadcast = [&](std::span<std::uint64_t> words) {
    comm.broadcast_bytes(reinterpret_cast<std::byte*>(words.data()), words.size_bytes(), 0);
  };
  std::array<std::uint64_t, 3> word = {facts.shared_locks ? 1U : 0U, facts.early_blocks ? 1U : 0U,
                                       facts.parts.size()};
  broadcast(word);
  FileTraits traits{.shared_locks = word[0] != 0, .early_blocks = word[1] != 0, .parts = facts.parts};
  traits.parts.resize(word[2]);
  if (traits.parts.empty()) return traits;
  std::vector<std::uint64_t> of_parts;
  for (const auto& [begin, end, striping] : traits.parts)
    of_parts.insert(of_parts.end(), {begin, end, striping.unit, striping.factor});
  broadcast(of_parts);
  for (std::size_t i = 0; i < traits.parts.size(); ++i)
    traits.parts[i] = {
        .begin = of_parts[4 * i],
        .end = of_parts[4 * i + 1],
        .striping = {.unit = of_parts[4 * i + 2], .factor = static_cast<std::uint32_t>(of_parts[4 * i + 3])}};
  return traits;
}

bool is_readable_and_writable(int descriptor) {
  return (::fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDWR;
}

class Implementation final : public Collective {
 public:
  Implementation(std::unique_ptr<Team> team, OpenFile file, aggregation::Settings settings, FileTraits traits)
      : team_(std::move(team)),
        file_(std::move(file)),
        settings_(std::move(settings)),
        traits_(std::move(traits)),
        io_(file_.descriptor, file_.path, !traits_.shared_locks),
        cycle_io_(io_),
        tokens_(*team_),
        buffers_of_(team_->nodes().ranks()) {}

  Outcome write(const Request& request, const Status& mine) override {
    return without_way_back([&] { return call(Direction::write, request, mine); });
  }
  Outcome read(const Request& request, const Status& mine) override {
    return without_way_back([&] { return call(Direction::read, request, mine); });
  }

  const Accounting& accounting() const override { return accounting_; }
  const aggregation::Settings& settings() const override { return settings_; }
  const aggregation::Decision* last_decision() const override {
    return last_ == nullptr ? nullptr : &last_->decision;
  }
  bool locks() const override { return !traits_.shared_locks; }

 private:
  struct Kept {
    std::uint64_t hash = 0;
    std::uint64_t first = 0;         // offset of the first piece
    aggregation::Striping striping;  // it was decided for
    std::unique_ptr<Schedule> schedule;
  };
  struct Agreed {
    Schedule* schedule = nullptr;
    std::int64_t shift = 0;
  };

  template <class Body>
  auto without_way_back(const Body& body) -> decltype(body());
  Outcome call(Direction direction, const Request& request, const Status& mine);
  bool goes_ahead(Direction direction, const Rows& pieces, std::uint64_t hash) const;
  bool transfer_ahead(Direction direction, const Rows& pieces, const MemoryStream& memory);
  Ballot opening(Direction direction, const Rows& pieces, const Status& mine, std::uint64_t hash) const;
  aggregation::CallFacts facts_of(const Ballot& ballot, Direction direction) const;
  void use_striping_of(const aggregation::CallFacts& facts);
  Result<Agreed> schedule_for(const Ballot& ballot, const aggregation::CallFacts& facts, const Rows& pieces,
                              std::uint64_t hash, bool worth_keeping);
  Status have_buffers(const Schedule& schedule, const aggregation::CallFacts& facts);
  void note_direct(const Ballot& ballot, const aggregation::CallFacts& facts, const Rows& pieces,
                   std::uint64_t hash);
  Schedule* keep(std::unique_ptr<Schedule> schedule, const Rows& pieces, std::uint64_t hash);
  void ask_for_blocks(const aggregation::CallFacts& facts, const Rows& pieces, bool direct);
  Status carry_out(Direction direction, const Agreed& agreed, const Rows& pieces, const MemoryStream& memory);
  Status touch_file(Direction direction, const Rows& pieces, const MemoryStream& memory);
  Status direct(Direction direction, Schedule& schedule, const Rows& pieces, const MemoryStream& memory);
  Status close_call(Direction direction, const Status& mine);
  void count(std::uint64_t bytes) {
    accounting_.bytes += bytes;
    accounting_.requests = io_.requests();
    accounting_.file_bytes = io_.bytes();
  }
  std::optional<std::uint64_t> have_file_alone();
  Worker* worker(const Schedule& schedule);

  std::unique_ptr<Team> team_;
  OpenFile file_;
  aggregation::Settings settings_;  // those of the last call
  FileTraits traits_;
  FileIo io_;
  CycleIo cycle_io_;
  TokenRing tokens_;
  CycleBuffers buffers_;
  std::vector<std::uint64_t> buffers_of_;  // by rank: bytes that it has in each of its buffers
  std::array<Kept, kept_schedules> kept_;
  std::size_t next_kept_ = 0;
  bool guesses_ = true;                // until it was in vain that this rank went ahead
  std::unique_ptr<Schedule> passing_;  // of a call whose pieces are not worth keeping
  const Schedule* last_ = nullptr;
  std::uint64_t messages_so_far_ = 0;
  std::optional<WriteLock> alone_;  // rank 0, in calls that fill gaps
  Accounting accounting_;
  std::optional<Worker> worker_;  // last: it uses the above
};

// The others are in the call, and wait for this rank: what it cannot tell them ends the job. There may be no
// memory to put that into words.
template <class Body>
auto Implementation::without_way_back(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& error) {
    const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    std::array<char, 256> why{};
    std::snprintf(why.data(), why.size(), "rank %d cannot go on: %s", team_->comm().rank(),
                  no_memory ? "out of memory" : error.what());
    team_->end_job(why.data());
  }
}

Ballot Implementation::opening(Direction direction, const Rows& pieces, const Status& mine,
                               std::uint64_t hash) const {
  Ballot ballot;
  if (!mine) ballot.least[Ballot::failed] = team_->comm().rank();
  const auto kind = static_cast<std::int64_t>(direction);
  ballot.least[Ballot::call] = kind;
  ballot.least[Ballot::call_too] = ~kind;
  if (direction == Direction::read) ballot.least[Ballot::size] = ~static_cast<std::int64_t>(io_.size());
  ballot.known = 0;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (!kept_[i].schedule || kept_[i].hash != hash) continue;
    ballot.known |= std::uint64_t{1} << i;
    if (pieces.empty()) continue;  // fits any shift
    const auto shift = static_cast<std::int64_t>(pieces.front().offset - kept_[i].first);
    ballot.least[Ballot::shift + i] = shift;
    ballot.least[Ballot::shift_too + i] = ~shift;
  }
  if (pieces.empty()) return ballot;
  ballot.least[Ballot::begin] = static_cast<std::int64_t>(pieces.front().offset);
  ballot.least[Ballot::rows] = ~static_cast<std::int64_t>(pieces.size());
  ballot.least[Ballot::end] = ~static_cast<std::int64_t>(pieces.back().end());
  ballot.sum[Ballot::bytes] = static_cast<std::int64_t>(aggregation::total_bytes(pieces));
  ballot.sum[Ballot::pieces] = static_cast<std::int64_t>(aggregation::total_pieces(pieces));
  return ballot;
}

// Whether this rank touches the file for itself before it meets the others: it did so the last time it had
// pieces like these, or nothing is lost if it reads them twice.
bool Implementation::goes_ahead(Direction direction, const Rows& pieces, std::uint64_t hash) const {
  const bool reading = direction == Direction::read;
  if (reading && !pieces.empty() && pieces.back().end() > io_.size()) return false;
  bool known = false;
  for (const Kept& kept : kept_) {
    if (!kept.schedule || kept.hash != hash) continue;
    known = true;
    if (kept.schedule->decision.algorithm == Algorithm::direct && !kept.schedule->decision.steps.throttled())
      return true;
  }
  if (known || !reading || !guesses_) return false;
  return all_direct({.bytes = aggregation::total_bytes(pieces),
                     .pieces = aggregation::total_pieces(pieces),
                     .shared_locks = traits_.shared_locks,
                     .reading = true},
                    settings_);
}

// False: to be done again with all others, who will hear what is wrong.
bool Implementation::transfer_ahead(Direction direction, const Rows& pieces, const MemoryStream& memory) {
  if (direction == Direction::write && traits_.early_blocks) ask_for_blocks({}, pieces, true);
  return touch_file(direction, pieces, memory).has_value();
}

Outcome Implementation::call(Direction direction, const Request& request, const Status& mine) {
  ++accounting_.calls;
  team_->set_purpose(direction == Direction::write ? "collective write" : "collective read", file_.path);
  Status checked = mine ? check_request(request, direction) : mine;
  // A rank whose pieces overlap each other reads them by itself: which byte of memory is which is its
  // business.
  const bool by_itself = checked && !check(request.file, false);
  Rows pieces;
  if (checked && !by_itself) pieces = request.file;
  const std::uint64_t hash = shape_hash(pieces) * 2 + (direction == Direction::read ? 1 : 0);

  // Ranks that touch the file for themselves do so before they meet: if all did, that was all.
  const bool ahead = checked && !by_itself && goes_ahead(direction, pieces, hash) &&
                     transfer_ahead(direction, pieces, MemoryStream(request.memory));

  Result<Agreed> agreed = Agreed{};
  std::uint64_t size = UINT64_MAX;
  aggregation::CallFacts facts;
  {
    const Timed timed(accounting_.of(Phase::negotiate));
    Ballot mine_of_call = opening(direction, pieces, checked, hash);
    mine_of_call.least[Ballot::done] = ahead ? 1 : 0;
    const Ballot ballot = team_->reduce(mine_of_call);
    if (ballot.least[Ballot::failed] != INT64_MAX) {
      checked = in(mpi::agree(team_->comm(), checked),
                   direction == Direction::write ? "collective write" : "collective read", file_.path);
      return {.status = checked};
    }
    if (ballot.least[Ballot::call] != ~ballot.least[Ballot::call_too])
      return {.status = in(Status(fail(ErrorCode::disagreement, "some ranks read and others write")),
                           "collective I/O", file_.path)};
    facts = facts_of(ballot, direction);
    use_striping_of(facts);
    if (ballot.least[Ballot::done] == 1) {
      if (facts.bytes > 0) note_direct(ballot, facts, pieces, hash);
      const std::uint64_t bytes = aggregation::total_bytes(pieces);
      count(bytes);
      return {.status = {}, .bytes = bytes};
    }
    guesses_ = guesses_ && !ahead;
    if (direction == Direction::read) size = static_cast<std::uint64_t>(~ballot.least[Ballot::size]);
    const bool cut = facts.end > size;
    if (cut) pieces = clip(pieces, 0, size);
    if (facts.begin < std::min(facts.end, size)) agreed = schedule_for(ballot, facts, pieces, hash, !cut);
  }
  if (!agreed)
    return {.status = in(Status(tl::make_unexpected(agreed.error())), "collective I/O", file_.path)};

  if (traits_.early_blocks && agreed->schedule != nullptr && direction == Direction::write)
    ask_for_blocks(facts, pieces, agreed->schedule->decision.algorithm == Algorithm::direct);
  const MemoryStream memory(request.memory);
  Status status;
  std::uint64_t bytes = aggregation::total_bytes(pieces);
  if (by_itself) {
    const Timed timed(accounting_.of(Phase::read));
    const Rows own = clip(request.file, 0, size);
    bytes = aggregation::total_bytes(own);
    status = guarded([&] { return transfer(io_, direction, own, memory); });
  }
  if (agreed->schedule != nullptr) {
    const Status carried = carry_out(direction, *agreed, pieces, memory);
    if (status) status = carried;
  }
  status = close_call(direction, status);
  alone_.reset();
  if (!status) bytes = 0;
  count(bytes);
  return {.status = std::move(status), .bytes = bytes};
}

aggregation::CallFacts Implementation::facts_of(const Ballot& ballot, Direction direction) const {
  const std::int64_t end = ballot.least[Ballot::end];
  return {.begin = static_cast<std::uint64_t>(ballot.least[Ballot::begin]),
          .end = end == INT64_MAX ? 0 : static_cast<std::uint64_t>(~end),
          .bytes = static_cast<std::uint64_t>(ballot.sum[Ballot::bytes]),
          .pieces = static_cast<std::uint64_t>(ballot.sum[Ballot::pieces]),
          .shared_locks = traits_.shared_locks,
          .reading = direction == Direction::read,
          .may_fill = traits_.may_fill && direction == Direction::write};
}

// Parts of a file may be striped in different ways, and a file grows into them: each call goes by the part
// that it touches.
void Implementation::use_striping_of(const aggregation::CallFacts& facts) {
  if (traits_.parts.size() > 1 && facts.begin < facts.end)
    settings_.striping = traits_.striping_between(facts.begin, facts.end);
}

// One rank asks for the blocks of a call that leaves little out; else each for its own, if it writes them.
void Implementation::ask_for_blocks(const aggregation::CallFacts& facts, const Rows& pieces, bool direct) {
  const Timed timed(accounting_.of(Phase::write));
  const auto ask = [&](const aggregation::CallFacts& writes) {
    const aggregation::Piece blocks = blocks_to_ask_for(writes, io_.allocated());
    if (blocks.length > 0) io_.ask_for_blocks(blocks.offset, blocks.length);
  };
  if (blocks_to_ask_for(facts, 0).length > 0) {
    if (team_->comm().rank() == 0) ask(facts);
  } else if (direct && !pieces.empty()) {
    ask({.begin = pieces.front().offset,
         .end = pieces.back().end(),
         .bytes = aggregation::total_bytes(pieces)});
  }
}

Result<Implementation::Agreed> Implementation::schedule_for(const Ballot& ballot,
                                                            const aggregation::CallFacts& facts,
                                                            const Rows& pieces, std::uint64_t hash,
                                                            bool worth_keeping) {
  for (std::size_t i = 0; worth_keeping && i < kept_.size(); ++i) {
    const std::int64_t shift = ballot.least[Ballot::shift + i];
    if ((ballot.known >> i & 1U) == 0 || shift != ~ballot.least[Ballot::shift_too + i]) continue;
    if (kept_[i].striping != settings_.striping) continue;
    Schedule& schedule = *kept_[i].schedule;
    if (schedule.decision.domains && !schedule.decision.domains->move_with(shift)) continue;
    last_ = &schedule;
    return Agreed{&schedule, shift};
  }
  ++accounting_.schedules;
  last_ = nullptr;
  // A cut at the end of the file makes at most two rows of one.
  const auto most_rows = static_cast<std::uint64_t>(~ballot.least[Ballot::rows]);
  auto schedule = negotiate(*team_, pieces, worth_keeping ? most_rows : 2 * most_rows, facts, settings_);
  if (!schedule) return tl::make_unexpected(schedule.error());
  WEIR_TRY(have_buffers(**schedule, facts));
  Schedule* made = nullptr;
  if (worth_keeping) {
    made = keep(std::move(*schedule), pieces, hash);
  } else {
    passing_ = std::move(*schedule);
    made = passing_.get();
  }
  last_ = made;
  return Agreed{made, 0};
}

// Every aggregator has buffers for what comes from other nodes before anything is on its way. All ranks know
// who has how much, so they meet for it only when somebody needs more than before.
Status Implementation::have_buffers(const Schedule& schedule, const aggregation::CallFacts& facts) {
  if (schedule.decision.algorithm == Algorithm::direct || team_->nodes().count == 1) return {};
  // A program whose calls become larger little by little is not to meet in each of them.
  const std::uint64_t most = most_bytes_of_cycle(*team_, settings_);
  const std::uint64_t bytes = std::min(most, std::bit_ceil(std::min(most, facts.bytes)));
  const auto& aggregators = schedule.decision.aggregators;
  if (std::all_of(aggregators.begin(), aggregators.end(),
                  [&](std::uint32_t rank) { return buffers_of_[rank] >= bytes; }))
    return {};
  WEIR_TRY(team_->agree(schedule.is_aggregator() ? buffers_.reserve(bytes) : Status()));
  for (const std::uint32_t rank : aggregators) buffers_of_[rank] = std::max(buffers_of_[rank], bytes);
  return {};
}

// After a call in which every rank went ahead: the schedule that says so, made where there is none. Nothing
// is sent for it.
void Implementation::note_direct(const Ballot& ballot, const aggregation::CallFacts& facts,
                                 const Rows& pieces, std::uint64_t hash) {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if ((ballot.known >> i & 1U) == 0) continue;
    last_ = kept_[i].schedule.get();
    return;
  }
  auto schedule = std::make_unique<Schedule>();
  schedule->file = aggregation::RowIndex(pieces);
  schedule->decision = decide(facts, team_->nodes(), settings_);
  if (schedule->decision.algorithm != Algorithm::direct) return;  // pieces of very different sizes
  schedule->number = schedule->decision.number_of(static_cast<std::uint32_t>(team_->comm().rank()));
  ++accounting_.schedules;
  last_ = keep(std::move(schedule), pieces, hash);
}

// Every rank keeps schedules of the same calls, so places are dealt alike.
Schedule* Implementation::keep(std::unique_ptr<Schedule> schedule, const Rows& pieces, std::uint64_t hash) {
  Kept& kept = kept_[next_kept_];
  kept = {.hash = hash,
          .first = pieces.empty() ? 0 : pieces.front().offset,
          .striping = settings_.striping,
          .schedule = std::move(schedule)};
  next_kept_ = (next_kept_ + 1) % kept_schedules;
  return kept.schedule.get();
}

Worker* Implementation::worker(const Schedule& schedule) {
  if (!schedule.is_aggregator()) return nullptr;
  try {
    if (!worker_) worker_.emplace();
  } catch (const std::system_error&) {  // no thread to be had: the file is touched in between
    return nullptr;
  }
  return &*worker_;
}

// Until the end of the call nobody else writes through Weir: rank 0 has the lock. All ranks are in the call
// by now, so who is kept waiting by it waits for none that waits for him. Returns the size of the file;
// nothing: somebody else is writing.
std::optional<std::uint64_t> Implementation::have_file_alone() {
  const Timed timed(accounting_.of(Phase::negotiate));
  Ballot ballot;
  if (team_->comm().rank() == 0) {
    alone_.emplace(file_.descriptor, WriteLock::Kind::exclusive);
    if (alone_->held()) ballot.least[Ballot::size] = static_cast<std::int64_t>(io_.size());
  }
  const std::int64_t size = team_->reduce(ballot).least[Ballot::size];
  if (size == INT64_MAX) return std::nullopt;
  return static_cast<std::uint64_t>(size);
}

Status Implementation::carry_out(Direction direction, const Agreed& agreed, const Rows& pieces,
                                 const MemoryStream& memory) {
  Schedule& schedule = *agreed.schedule;
  if (schedule.decision.algorithm == Algorithm::direct) return direct(direction, schedule, pieces, memory);
  accounting_.model_between_nodes += schedule.model_between_nodes;
  const ExchangeTools tools{.team = *team_,
                            .tokens = tokens_,
                            .io = cycle_io_,
                            .buffers = buffers_,
                            .worker = worker(schedule),
                            .accounting = accounting_};
  const Terms terms{.shift = agreed.shift,
                    .zeros_from = schedule.fill ? have_file_alone() : std::optional<std::uint64_t>()};
  Exchange exchange(tools, schedule, memory, messages_so_far_, terms);
  messages_so_far_ += schedule.messages.size();
  // While it is still there: the worker may be at one of its cycles.
  return without_way_back([&] { return direction == Direction::write ? exchange.write() : exchange.read(); });
}

// This rank's own pieces.
Status Implementation::touch_file(Direction direction, const Rows& pieces, const MemoryStream& memory) {
  if (pieces.empty()) return {};
  const Timed timed(accounting_.of(direction == Direction::write ? Phase::write : Phase::read));
  const WriteLock lock = direction == Direction::write ? io_.share() : WriteLock();
  return guarded([&] { return transfer(io_, direction, pieces, memory); });
}

Status Implementation::direct(Direction direction, Schedule& schedule, const Rows& pieces,
                              const MemoryStream& memory) {
  tokens_.begin(schedule.decision, schedule.number, 1);
  if (schedule.decision.steps.throttled()) {
    const Timed timed(accounting_.of(Phase::token));
    for (unsigned rounds = 0;; ++rounds) {
      const std::uint32_t seen = team_->bell();
      if (tokens_.may_touch(0)) break;
      team_->nap(seen, rounds, tokens_.polls());
    }
  }
  const Status status = touch_file(direction, pieces, memory);
  tokens_.pass(0);
  tokens_.finish();
  return status;
}

// One outcome of many.
Status Implementation::close_call(Direction direction, const Status& mine) {
  const Timed timed(accounting_.of(direction == Direction::write ? Phase::write : Phase::read));
  return in(team_->agree(mine), direction == Direction::write ? "collective write" : "collective read",
            file_.path);
}

}  // namespace

Result<std::unique_ptr<Collective>> Collective::create(const mpi::Comm& comm, OpenFile file,
                                                       const aggregation::Settings& settings) {
  aggregation::Settings used = settings;
  WEIR_TRY(mpi::agree(comm, in(check(used), "settings of collective I/O", file.path)));
  WEIR_TRY(mpi::same_everywhere(
      comm,
      fmt::format("{} agg={} rr={} req={} cb_nodes={} buffer={} striping={}x{} ranks={} team={} domains={} "
                  "fill={} allocate={}",
                  to_string(used.algorithm), used.striping_aware, used.round_robin, used.requests,
                  used.aggregators, used.buffer, used.striping.unit, used.striping.factor,
                  fmt::join(used.ranks, ","), used.team, to_string(used.domains), used.fill, used.allocate),
      "the settings of collective I/O"));
  auto team = Team::create(comm, used.team);
  if (!team) return tl::make_unexpected(team.error());
  if (!used.ranks.empty())
    WEIR_TRY(mpi::agree(comm, in(check(used.ranks, (*team)->nodes()), "aggregators", file.path)));

  FileTraits traits = ask_one_rank(comm, file.descriptor);
  if (used.buffer == 0) used.buffer = aggregation::suitable_buffer(traits.shared_locks);
  traits.said = completed(used.striping);
  used.striping = traits.striping_between(0, 1);
  // Takes no memory before it is used.
  if (const std::uint64_t ring = usual_ring_bytes(**team, used); ring > 0 && ring <= most_early_ring)
    (*team)->make_rings(ring);
  const bool both_ways = comm.min(is_readable_and_writable(file.descriptor) ? 1 : 0) == 1;
  traits.may_fill = used.fill && both_ways && !traits.shared_locks;
  traits.early_blocks = used.allocate && traits.early_blocks;
  return std::unique_ptr<Collective>(std::make_unique<Implementation>(std::move(*team), std::move(file),
                                                                      std::move(used), std::move(traits)));
}

}  // namespace weir::collective
