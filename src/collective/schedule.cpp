#include "collective/schedule.hpp"

#include <algorithm>
#include <numeric>

#include "collective/gathering.hpp"

namespace weir::collective {

using aggregation::Algorithm;
using aggregation::RowIndex;
using aggregation::Rows;

std::uint64_t most_bytes_of_cycle(const Team& team, const aggregation::Settings& settings) {
  return std::max<std::uint64_t>(settings.buffer, team.nodes().ranks());
}

namespace {

constexpr int rows_tag = 1;

// What goes to each aggregator of one rank's pieces.
std::vector<Rows> parts_of(const Rows& rows, std::uint32_t rank, const aggregation::Decision& decision) {
  if (decision.domains) return by_aggregator(rows, *decision.domains);
  std::vector<Rows> parts(decision.aggregators.size());
  parts[decision.group_of_rank[rank]] = rows;
  return parts;
}

std::uint64_t bytes_in(const RowIndex& rows, std::uint64_t begin, std::uint64_t end) {
  return rows.bytes_before(end) - rows.bytes_before(begin);
}

// The messages that there may be, and who puts how much into them.
struct Shares {
  std::vector<Message> messages;
  Words mine;
  Words before;  // of ranks before this one in the team
  Words total;   // of the team
};

// The order in which this node turns to aggregators in each cycle: every node to another one at a time, or
// links to the first would be full and others empty. Those of the node itself come last in a write and first
// in a read, and where tokens are handed on, all are in their order: see exchange.hpp.
std::vector<std::uint32_t> turns(const Team& team, const Schedule& schedule) {
  const auto& decision = schedule.decision;
  std::vector<std::uint32_t> order(decision.aggregators.size());
  std::iota(order.begin(), order.end(), 0);
  if (decision.steps.throttled()) return order;
  const std::uint32_t nodes = team.nodes().count;
  const std::uint32_t first = schedule.reading ? team.node() : team.node() + 1;
  const auto turn = [&](std::uint32_t aggregator) {
    return (team.nodes().of_rank[decision.aggregators[aggregator]] + nodes - first) % nodes;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return turn(a) < turn(b); });
  return order;
}

std::vector<Message> possible_messages(const Team& team, const Schedule& schedule) {
  const std::vector<std::uint32_t> order = turns(team, schedule);
  std::vector<Message> messages;
  for (std::uint32_t cycle = 0; cycle < schedule.most_cycles; ++cycle)
    for (const std::uint32_t a : order)
      if (cycle + 1 < schedule.boundaries[a].size()) messages.push_back({.aggregator = a, .cycle = cycle});
  return messages;
}

// Where every rank knows the pieces of all, it works out the rest by itself, and nothing has to be sent.
Shares work_out(const Team& team, const std::vector<Rows>& all, const aggregation::CycleLimits& limits,
                Schedule& schedule) {
  const auto& decision = schedule.decision;
  const auto& nodes = team.nodes();
  const std::size_t aggregators = decision.aggregators.size();
  std::vector<std::vector<RowIndex>> by_aggregator(aggregators);  // in the order of sources
  std::vector<std::vector<RowIndex>> of_team(aggregators);
  for (std::uint32_t node = 0; node < nodes.count; ++node) {
    for (const std::uint32_t rank : team.ranks_by_node()[node]) {
      auto parts = parts_of(all[rank], rank, decision);
      for (std::size_t a = 0; a < aggregators; ++a) {
        RowIndex rows(std::move(parts[a]));
        if (a == schedule.number) schedule.sources.push_back({.node = node, .rows = rows});
        if (node == team.node()) of_team[a].push_back(rows);
        by_aggregator[a].push_back(std::move(rows));
      }
    }
  }
  // Without domains and tokens nobody has to know the cycles of those who serve other ranks.
  const bool all_cycles = decision.domains || decision.steps.throttled();
  schedule.boundaries.resize(aggregators);
  for (std::size_t a = 0; a < aggregators; ++a) {
    const bool served = std::any_of(of_team[a].begin(), of_team[a].end(),
                                    [](const RowIndex& rows) { return rows.bytes() > 0; });
    if (!all_cycles && !served && a != schedule.number) continue;
    schedule.boundaries[a] = cut_cycles(by_aggregator[a], limits);
    if (!schedule.boundaries[a].empty())
      schedule.most_cycles =
          std::max(schedule.most_cycles, static_cast<std::uint32_t>(schedule.boundaries[a].size() - 1));
  }
  Shares shares{.messages = possible_messages(team, schedule), .mine = {}, .before = {}, .total = {}};
  for (const Message& message : shares.messages) {
    const auto& boundaries = schedule.boundaries[message.aggregator];
    std::uint64_t before = 0;
    std::uint64_t mine = 0;
    std::uint64_t total = 0;
    for (std::uint32_t r = 0; r < team.size(); ++r) {
      const std::uint64_t size =
          bytes_in(of_team[message.aggregator][r], boundaries[message.cycle], boundaries[message.cycle + 1]);
      if (r < team.rank()) before += size;
      if (r == team.rank()) mine = size;
      total += size;
    }
    shares.mine.push_back(mine);
    shares.before.push_back(before);
    shares.total.push_back(total);
  }
  return shares;
}

// Leaders tell aggregators what their ranks want. COLLECTIVE.
void tell_aggregators(const Team& team, const std::vector<Rows>& team_rows, Schedule& schedule) {
  const auto& decision = schedule.decision;
  const std::size_t aggregators = decision.aggregators.size();
  std::vector<Words> letters(team.leads() ? aggregators : 0);
  std::vector<MPI_Request> requests;
  if (team.leads()) {
    const auto& ranks = team.ranks_by_node()[team.node()];
    for (std::size_t r = 0; r < team_rows.size(); ++r) {
      const auto parts = parts_of(team_rows[r], ranks[r], decision);
      for (std::size_t a = 0; a < aggregators; ++a) put(letters[a], parts[a]);
    }
    for (std::size_t a = 0; a < aggregators; ++a)
      MPI_Isend(letters[a].data(), static_cast<int>(letters[a].size()), MPI_UINT64_T,
                static_cast<int>(decision.aggregators[a]), rows_tag, team.comm().get(),
                &requests.emplace_back());
  }
  if (schedule.is_aggregator()) {
    for (std::uint32_t node = 0; node < team.nodes().count; ++node) {
      MPI_Status status;
      MPI_Probe(static_cast<int>(team.ranks_by_node()[node].front()), rows_tag, team.comm().get(), &status);
      int count = 0;
      MPI_Get_count(&status, MPI_UINT64_T, &count);
      Words letter(static_cast<std::size_t>(count));
      MPI_Recv(letter.data(), count, MPI_UINT64_T, status.MPI_SOURCE, rows_tag, team.comm().get(),
               MPI_STATUS_IGNORE);
      for (Rows& rows : rows_in(letter))
        schedule.sources.push_back({.node = node, .rows = RowIndex(std::move(rows))});
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

// Every rank learns the cycles of every aggregator. COLLECTIVE.
void share_boundaries(const Team& team, const Words& mine, Schedule& schedule) {
  const mpi::Comm& comm = team.comm();
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<int> counts(ranks);
  const auto length = static_cast<int>(mine.size());
  MPI_Allgather(&length, 1, MPI_INT, counts.data(), 1, MPI_INT, comm.get());
  std::vector<int> places(ranks);
  int total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    places[r] = total;
    total += counts[r];
  }
  Words all(static_cast<std::size_t>(total));
  MPI_Allgatherv(mine.data(), length, MPI_UINT64_T, all.data(), counts.data(), places.data(), MPI_UINT64_T,
                 comm.get());
  for (const std::uint32_t rank : schedule.decision.aggregators) {
    const auto begin = all.begin() + places[rank];
    schedule.boundaries.emplace_back(begin, begin + counts[rank]);
    if (counts[rank] > 0)
      schedule.most_cycles = std::max(schedule.most_cycles, static_cast<std::uint32_t>(counts[rank] - 1));
  }
}

// This rank's bytes for an aggregator between two offsets.
std::uint64_t part_size(const Schedule& schedule, std::uint32_t rank, std::uint32_t a, std::uint64_t begin,
                        std::uint64_t end) {
  if (!schedule.decision.domains)
    return schedule.decision.group_of_rank[rank] == a ? bytes_in(schedule.file, begin, end) : 0;
  std::uint64_t size = 0;
  schedule.decision.domains->for_each_part(a, begin, end, [&](std::uint64_t from, std::uint64_t to) {
    size += bytes_in(schedule.file, from, to);
  });
  return size;
}

// The same by messages within the team. COLLECTIVE over it.
Shares share_sizes(const Team& team, const Schedule& schedule) {
  const auto rank = static_cast<std::uint32_t>(team.comm().rank());
  Shares shares{.messages = possible_messages(team, schedule), .mine = {}, .before = {}, .total = {}};
  for (const Message& message : shares.messages) {
    const auto& boundaries = schedule.boundaries[message.aggregator];
    shares.mine.push_back(part_size(schedule, rank, message.aggregator, boundaries[message.cycle],
                                    boundaries[message.cycle + 1]));
  }
  shares.before.resize(shares.mine.size());
  shares.total = shares.mine;
  if (team.size() == 1) return shares;
  const auto count = static_cast<int>(shares.mine.size());
  MPI_Exscan(shares.mine.data(), shares.before.data(), count, MPI_UINT64_T, MPI_SUM, team.local());
  if (team.leads()) std::fill(shares.before.begin(), shares.before.end(), 0);  // MPI leaves it undefined
  MPI_Allreduce(shares.mine.data(), shares.total.data(), count, MPI_UINT64_T, MPI_SUM, team.local());
  return shares;
}

std::uint32_t aggregators_on(std::uint32_t node, const Team& team, const aggregation::Decision& decision) {
  return static_cast<std::uint32_t>(
      std::count_if(decision.aggregators.begin(), decision.aggregators.end(),
                    [&](std::uint32_t rank) { return team.nodes().of_rank[rank] == node; }));
}

// Bytes of a node's ring. `largest`: of its messages.
std::uint64_t ring_for(const aggregation::Settings& settings, std::uint32_t aggregators,
                       std::uint64_t largest) {
  constexpr std::uint64_t line = 64;
  return std::max(node_memory(settings, aggregators), (largest + line - 1) / line * line);
}

// What no node's ring exceeds; the same on all ranks.
std::uint64_t most_ring_bytes(const Team& team, const aggregation::Settings& settings,
                              const aggregation::Decision& decision) {
  std::uint32_t most = 0;
  for (std::uint32_t node = 0; node < team.nodes().count; ++node)
    most = std::max(most, aggregators_on(node, team, decision));
  return ring_for(settings, most, most_bytes_of_cycle(team, settings));
}

// Which messages this node exchanges with aggregators, and where they go in its ring.
void list_messages(const Team& team, const aggregation::Settings& settings, Shares shares,
                   Schedule& schedule) {
  const auto& decision = schedule.decision;
  const auto& team_ranks = team.ranks_by_node()[team.node()];
  schedule.message_of_cycle.assign(schedule.is_aggregator() ? schedule.most_cycles : 0, UINT32_MAX);
  Words message_sizes;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < shares.messages.size(); ++i) {
    const std::uint64_t size = shares.total[i];
    if (size == 0) continue;
    Message& message = shares.messages[i];
    const std::uint32_t carrier = schedule.carrier_rank(team.node(), message.aggregator, team);
    message.local = team.nodes().of_rank[decision.aggregators[message.aggregator]] == team.node();
    message.carrier = static_cast<std::uint32_t>(
        std::lower_bound(team_ranks.begin(), team_ranks.end(), carrier) - team_ranks.begin());
    message.size = size;
    message.part_offset = shares.before[i];
    message.part_size = shares.mine[i];
    if (!message.local) schedule.model_between_nodes += shares.mine[i];
    if (message.aggregator == schedule.number)
      schedule.message_of_cycle[message.cycle] = static_cast<std::uint32_t>(schedule.messages.size());
    largest = std::max(largest, size);
    message_sizes.push_back(size);
    schedule.messages.push_back(message);
  }
  schedule.ring_bytes = ring_for(settings, aggregators_on(team.node(), team, decision), largest);
  const auto places = aggregation::place_in_ring(message_sizes, schedule.ring_bytes);
  for (std::size_t m = 0; m < places.size(); ++m) schedule.messages[m].place = places[m];
}

}  // namespace

std::uint32_t Schedule::carrier_rank(std::uint32_t node, std::uint32_t aggregator, const Team& team) const {
  const std::uint32_t its_rank = decision.aggregators[aggregator];
  if (team.nodes().of_rank[its_rank] == node) return its_rank;
  // Aggregators of the node take turns, since they are awake anyway.
  std::vector<std::uint32_t> awake;
  for (const std::uint32_t rank : decision.aggregators)
    if (team.nodes().of_rank[rank] == node) awake.push_back(rank);
  return awake.empty() ? team.ranks_by_node()[node].front() : awake[aggregator % awake.size()];
}

// In a file domain the aggregator sees what everybody writes; elsewhere it has been told.
Rows Schedule::gaps_to_fill(const Rows& runs_of_cycle) const {
  if (!decision.domains) {
    const std::uint64_t begin = runs_of_cycle.front().offset;
    const std::uint64_t end = runs_of_cycle.back().end();
    return fill_nobodys_gaps(runs_of_cycle, RowIndex(merged(all, begin, end))).gaps;
  }
  return aggregation::fill_small_gaps(runs_of_cycle, aggregation::small_gap,
                                      [&](const aggregation::Piece& gap) {
                                        const auto part = decision.domains->part_at(gap.offset);
                                        return part.aggregator == number &&
                                               part.end >= gap.offset + gap.length;
                                      })
      .gaps;
}

namespace {

// By messages between leaders and aggregators, where pieces are too many for everybody to know them.
// COLLECTIVE.
Shares find_out(const Team& team, const Gathered& gathered, const aggregation::CycleLimits& limits,
                Schedule& schedule) {
  std::vector<Rows> team_rows = gathered.team;
  if (gathered.everywhere && team.leads())
    for (const std::uint32_t rank : team.ranks_by_node()[team.node()])
      team_rows.push_back(gathered.all[rank]);
  tell_aggregators(team, team_rows, schedule);
  Words mine;
  if (schedule.is_aggregator()) {
    std::vector<RowIndex> rows;
    for (const Source& source : schedule.sources) rows.push_back(source.rows);
    mine = cut_cycles(rows, limits);
  }
  share_boundaries(team, mine, schedule);
  return share_sizes(team, schedule);
}

// Whether every rank can work out the whole schedule in less time than messages would take.
bool is_small(const Gathered& gathered, const Schedule& schedule) {
  if (!gathered.everywhere) return false;
  constexpr std::size_t most = 1U << 15U;
  std::size_t rows = 0;
  for (const Rows& one : gathered.all) rows += one.size();
  return rows * schedule.decision.aggregators.size() <= most;
}

}  // namespace

std::uint64_t usual_ring_bytes(const Team& team, const aggregation::Settings& settings) {
  if (settings.algorithm == Algorithm::direct) return 0;
  aggregation::Settings gathering = settings;
  if (settings.algorithm == Algorithm::automatic) gathering.algorithm = Algorithm::two_phase;
  const aggregation::CallFacts any{.begin = 0, .end = 1, .bytes = 1, .pieces = 1};
  return most_ring_bytes(team, settings, decide(any, team.nodes(), gathering));
}

Result<std::unique_ptr<Schedule>> negotiate(Team& team, const Rows& pieces, std::uint64_t most_rows,
                                            aggregation::CallFacts facts,
                                            const aggregation::Settings& settings) {
  auto schedule = std::make_unique<Schedule>();
  schedule->file = RowIndex(pieces);
  schedule->reading = facts.reading;
  facts.may_fill = facts.may_fill && facts.bytes < facts.end - facts.begin;
  Gathered gathered;
  const bool ask_nodes = needs_node_pieces(facts, team.nodes(), settings);
  if (ask_nodes) {
    WEIR_ASSIGN(gathered, gather(team, pieces, most_rows, facts.may_fill));
    facts.node_pieces = count_node_pieces(team, gathered, facts);
  }
  schedule->decision = decide(facts, team.nodes(), settings);
  schedule->number = schedule->decision.number_of(static_cast<std::uint32_t>(team.comm().rank()));
  if (schedule->decision.algorithm == Algorithm::direct) return schedule;
  if (!ask_nodes) {
    WEIR_ASSIGN(gathered, gather(team, pieces, most_rows, facts.may_fill));
  }
  schedule->fill = facts.may_fill;
  if (facts.may_fill && !schedule->decision.domains) {
    schedule->all = share_all(team, gathered);
    schedule->fill = !schedule->all.empty();
  }
  const aggregation::CycleLimits limits{
      .bytes = most_bytes_of_cycle(team, settings),
      .alignment = settings.striping.known() ? settings.striping.unit : 4096};
  Shares shares = is_small(gathered, *schedule) ? work_out(team, gathered.all, limits, *schedule)
                                                : find_out(team, gathered, limits, *schedule);
  schedule->runs.resize(schedule->own_cycles());
  schedule->gaps.resize(schedule->own_cycles());
  list_messages(team, settings, std::move(shares), *schedule);
  if (most_ring_bytes(team, settings, schedule->decision) > team.ring_of_all())
    WEIR_TRY(team.agree(team.make_ring(schedule->ring_bytes)));
  return schedule;
}

}  // namespace weir::collective
