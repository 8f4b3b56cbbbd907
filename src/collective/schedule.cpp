#include "collective/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <numeric>

namespace weir::collective {

using aggregation::Algorithm;
using aggregation::Row;
using aggregation::RowIndex;
using aggregation::Rows;

namespace {

constexpr int rows_tag = 1;
constexpr std::size_t words_per_row = 4;
using Words = std::vector<std::uint64_t>;

void put(Words& words, const Rows& rows) {
  words.push_back(rows.size());
  for (const Row& row : rows) words.insert(words.end(), {row.offset, row.length, row.count, row.stride});
}

Rows get(const std::uint64_t*& at) {
  Rows rows(*at++);
  for (Row& row : rows) {
    row = {.offset = at[0], .length = at[1], .count = at[2], .stride = at[3]};
    at += words_per_row;
  }
  return rows;
}

std::vector<Rows> rows_in(const Words& words) {
  std::vector<Rows> rows;
  const std::uint64_t* at = words.data();
  while (at != words.data() + words.size()) rows.push_back(get(at));
  return rows;
}

// The pieces of all ranks of the team, on its leader. COLLECTIVE over the team.
Result<std::vector<Rows>> gather_rows(const Team& team, const Rows& mine) {
  if (team.size() == 1) return std::vector<Rows>{mine};
  Words words;
  put(words, mine);
  const std::uint64_t length = words.size();
  std::vector<std::uint64_t> lengths(team.size());
  MPI_Allgather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, team.local());
  std::vector<int> counts(team.size());
  std::vector<int> places(team.size());
  std::uint64_t total = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    places[r] = static_cast<int>(std::min<std::uint64_t>(total, INT_MAX));
    counts[r] = static_cast<int>(std::min<std::uint64_t>(lengths[r], INT_MAX));
    total += lengths[r];
  }
  if (total > INT_MAX)  // the same on all ranks of the team
    return fail(ErrorCode::unsupported,
                fmt::format("the ranks of a node have {} irregular pieces", total / words_per_row),
                "write in several calls, or with WEIR_TWO_PHASE=N");
  Words all(team.leads() ? total : 0);
  MPI_Gatherv(words.data(), static_cast<int>(length), MPI_UINT64_T, all.data(), counts.data(), places.data(),
              MPI_UINT64_T, 0, team.local());
  return rows_in(all);
}

// The pieces of all ranks, known to the leaders; nothing if they are too many to tell everybody. COLLECTIVE
// over the leaders.
std::vector<Rows> gather_all(const Team& team, const std::vector<Rows>& team_rows) {
  if (team.nodes().count == 1) return team_rows;
  Words words;
  for (const Rows& rows : team_rows) put(words, rows);
  const std::uint64_t length = words.size();
  std::vector<std::uint64_t> lengths(team.nodes().count);
  MPI_Allgather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, team.leaders());
  constexpr std::uint64_t most_words = 1U << 15U;
  if (std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}) > most_words) return {};
  const std::vector<int> counts(lengths.begin(), lengths.end());
  std::vector<int> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  Words all(static_cast<std::size_t>(places.back()) + lengths.back());
  MPI_Allgatherv(words.data(), static_cast<int>(length), MPI_UINT64_T, all.data(), counts.data(),
                 places.data(), MPI_UINT64_T, team.leaders());
  return rows_in(all);
}

// Every rank of the team learns the pieces of all ranks; nothing: they are not known. COLLECTIVE over the
// team.
std::vector<RowIndex> share_all(const Team& team, const std::vector<Rows>& all) {
  Words words;
  for (const Rows& rows : all) put(words, rows);
  std::uint64_t length = words.size();
  if (team.size() > 1) {
    MPI_Bcast(&length, 1, MPI_UINT64_T, 0, team.local());
    words.resize(length);
    MPI_Bcast(words.data(), static_cast<int>(length), MPI_UINT64_T, 0, team.local());
  }
  std::vector<RowIndex> shared;
  for (Rows& rows : rows_in(words)) shared.emplace_back(std::move(rows));
  return shared;
}

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

// The middle of the file, as far as looking at it costs little.
Range sample_of(const aggregation::CallFacts& facts) {
  constexpr std::uint64_t enough = 2048;  // pieces
  if (facts.pieces <= enough) return {facts.begin, facts.end};
  const double share = static_cast<double>(enough) / static_cast<double>(facts.pieces);
  const auto half = static_cast<std::uint64_t>(static_cast<double>(facts.end - facts.begin) * share / 2);
  const std::uint64_t middle = facts.begin + (facts.end - facts.begin) / 2;
  return {middle - half, middle + half + 1};
}

// How many pieces there would be if each node gathered its own, by a sample. `all`: gaps that are nobody's
// are filled; without it none are. COLLECTIVE.
std::uint64_t count_node_pieces(const Team& team, const std::vector<Rows>& team_rows,
                                const std::vector<Rows>& all, const aggregation::CallFacts& facts) {
  std::array<std::uint64_t, 2> counts{};  // of pieces as they are, and gathered
  if (team.leads()) {
    const Range sample = sample_of(facts);
    const auto cut = [&](const std::vector<Rows>& many) {
      std::vector<RowIndex> parts;
      for (const Rows& rows : many) parts.emplace_back(clip(rows, sample.begin, sample.end));
      return parts;
    };
    const std::vector<RowIndex> parts = cut(team_rows);
    for (const RowIndex& rows : parts) counts[0] += rows.pieces();
    Rows runs = merged(parts, 0, UINT64_MAX);
    if (!all.empty())
      runs = fill_nobodys_gaps(runs, RowIndex(merged(cut(all), 0, UINT64_MAX))).runs;
    counts[1] = total_pieces(runs);
    MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2, MPI_UINT64_T, MPI_SUM, team.leaders());
  }
  MPI_Bcast(counts.data(), 2, MPI_UINT64_T, 0, team.local());
  if (counts[0] == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(facts.pieces) * static_cast<double>(counts[1]) /
                                    static_cast<double>(counts[0]));
}

// What goes to each aggregator of one rank's pieces.
std::vector<Rows> parts_of(const Rows& rows, std::uint32_t rank, const aggregation::Decision& decision) {
  if (decision.domains) return by_aggregator(rows, *decision.domains);
  std::vector<Rows> parts(decision.aggregators.size());
  parts[decision.group_of_rank[rank]] = rows;
  return parts;
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
      const std::uint64_t* at = letter.data();
      while (at != letter.data() + letter.size()) {
        Rows rows = get(at);
        schedule.sources.push_back({.node = node, .rows = RowIndex(std::move(rows))});
      }
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

std::uint64_t bytes_in(const RowIndex& rows, std::uint64_t begin, std::uint64_t end) {
  return rows.bytes_before(end) - rows.bytes_before(begin);
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

// Which messages this node exchanges with aggregators, how large they are and where this rank's part is.
// COLLECTIVE over the team.
void list_messages(const Team& team, const aggregation::Settings& settings, Schedule& schedule) {
  const auto& decision = schedule.decision;
  const auto rank = static_cast<std::uint32_t>(team.comm().rank());
  std::vector<Message> all;
  Words sizes;
  for (std::uint32_t cycle = 0; cycle < schedule.most_cycles; ++cycle) {
    for (std::uint32_t a = 0; a < decision.aggregators.size(); ++a) {
      if (cycle + 1 >= schedule.boundaries[a].size()) continue;
      all.push_back({.aggregator = a, .cycle = cycle});
      sizes.push_back(
          part_size(schedule, rank, a, schedule.boundaries[a][cycle], schedule.boundaries[a][cycle + 1]));
    }
  }
  Words before(sizes.size());
  Words total = sizes;
  if (team.size() > 1) {
    const auto count = static_cast<int>(sizes.size());
    MPI_Exscan(sizes.data(), before.data(), count, MPI_UINT64_T, MPI_SUM, team.local());
    if (team.leads()) std::fill(before.begin(), before.end(), 0);  // MPI leaves it undefined
    MPI_Allreduce(sizes.data(), total.data(), count, MPI_UINT64_T, MPI_SUM, team.local());
  }
  const auto& team_ranks = team.ranks_by_node()[team.node()];
  schedule.message_of_cycle.assign(schedule.is_aggregator() ? schedule.most_cycles : 0, UINT32_MAX);
  Words message_sizes;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (total[i] == 0) continue;
    Message& message = all[i];
    const std::uint32_t carrier = schedule.carrier_rank(team.node(), message.aggregator, team);
    message.local = team.nodes().of_rank[decision.aggregators[message.aggregator]] == team.node();
    message.carrier = static_cast<std::uint32_t>(
        std::lower_bound(team_ranks.begin(), team_ranks.end(), carrier) - team_ranks.begin());
    message.size = total[i];
    message.part_offset = before[i];
    message.part_size = sizes[i];
    if (!message.local) schedule.model_between_nodes += sizes[i];
    if (message.aggregator == schedule.number)
      schedule.message_of_cycle[message.cycle] = static_cast<std::uint32_t>(schedule.messages.size());
    largest = std::max(largest, total[i]);
    message_sizes.push_back(total[i]);
    schedule.messages.push_back(message);
  }
  const auto on_node = static_cast<std::uint32_t>(
      std::count_if(decision.aggregators.begin(), decision.aggregators.end(),
                    [&](std::uint32_t r) { return team.nodes().of_rank[r] == team.node(); }));
  constexpr std::uint64_t line = 64;
  schedule.ring_bytes = std::max(node_memory(settings, on_node), (largest + line - 1) / line * line);
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

Result<std::unique_ptr<Schedule>> negotiate(Team& team, const Rows& pieces, aggregation::CallFacts facts,
                                            const aggregation::Settings& settings) {
  auto schedule = std::make_unique<Schedule>();
  schedule->file = RowIndex(pieces);
  facts.may_fill = facts.may_fill && facts.bytes < facts.end - facts.begin;
  std::vector<Rows> team_rows;
  std::vector<Rows> all_rows;
  const auto gather = [&]() -> Status {
    WEIR_ASSIGN(team_rows, mpi::agree(team.comm(), gather_rows(team, pieces)));
    if (facts.may_fill && team.leads()) all_rows = gather_all(team, team_rows);
    return {};
  };
  const bool ask_nodes = needs_node_pieces(facts, team.nodes(), settings);
  if (ask_nodes) {
    WEIR_TRY(gather());
    facts.node_pieces = count_node_pieces(team, team_rows, all_rows, facts);
  }
  schedule->decision = decide(facts, team.nodes(), settings);
  const auto rank = static_cast<std::uint32_t>(team.comm().rank());
  schedule->number = schedule->decision.number_of(rank);
  if (schedule->decision.algorithm == Algorithm::direct) return schedule;
  if (!ask_nodes) WEIR_TRY(gather());
  schedule->fill = facts.may_fill;
  if (facts.may_fill && !schedule->decision.domains) {
    schedule->all = share_all(team, all_rows);
    schedule->fill = !schedule->all.empty();
  }
  tell_aggregators(team, team_rows, *schedule);

  const aggregation::CycleLimits limits{
      .bytes = std::max<std::uint64_t>(settings.buffer, team.nodes().ranks()),
      .alignment = settings.striping.known() ? settings.striping.unit : 4096};
  Words mine;
  if (schedule->is_aggregator()) {
    std::vector<RowIndex> rows;
    for (const Source& source : schedule->sources) rows.push_back(source.rows);
    mine = cut_cycles(rows, limits);
  }
  share_boundaries(team, mine, *schedule);
  schedule->runs.resize(schedule->own_cycles());
  schedule->gaps.resize(schedule->own_cycles());
  list_messages(team, settings, *schedule);
  WEIR_TRY(mpi::agree(team.comm(), team.make_ring(schedule->ring_bytes)));
  return schedule;
}

}  // namespace weir::collective
