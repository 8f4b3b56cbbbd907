#include "collective/gathering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <numeric>

#include "aggregation/cycles.hpp"

namespace weir::collective {

using aggregation::Row;
using aggregation::RowIndex;
using aggregation::Rows;

namespace {

constexpr std::size_t words_per_row = 4;

Rows get(const std::uint64_t*& at) {
  Rows rows(*at++);
  for (Row& row : rows) {
    row = {.offset = at[0], .length = at[1], .count = at[2], .stride = at[3]};
    at += words_per_row;
  }
  return rows;
}

}  // namespace

void put(Words& words, const Rows& rows) {
  words.push_back(rows.size());
  for (const Row& row : rows) words.insert(words.end(), {row.offset, row.length, row.count, row.stride});
}

std::vector<Rows> rows_in(const Words& words) {
  std::vector<Rows> rows;
  const std::uint64_t* at = words.data();
  while (at != words.data() + words.size()) rows.push_back(get(at));
  return rows;
}

namespace {

// One message of the same size from each rank: a single exchange, whatever is in it.
std::vector<Rows> gather_everywhere(Team& team, const Rows& mine, std::uint64_t most_rows) {
  const std::uint64_t length = 1 + words_per_row * most_rows;
  Words words;
  put(words, mine);
  words.resize(length);
  const Words from_all = team.gather(words);
  std::vector<Rows> all;
  for (std::size_t begin = 0; begin < from_all.size(); begin += length) {
    const std::uint64_t* at = from_all.data() + begin;
    all.push_back(get(at));
  }
  return all;
}

// The pieces of all ranks of the team, on its leader. COLLECTIVE over the team.
Result<std::vector<Rows>> gather_team(const Team& team, const Rows& mine) {
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

}  // namespace

Result<Gathered> gather(Team& team, const Rows& mine, std::uint64_t most_rows, bool want_all) {
  constexpr std::uint64_t few = Team::most_gathered;  // words: every rank gets them all
  const auto ranks = static_cast<std::uint64_t>(team.comm().size());
  Gathered gathered;
  if (most_rows <= few && ranks * (1 + words_per_row * most_rows) <= few) {
    gathered.everywhere = true;
    gathered.all = gather_everywhere(team, mine, most_rows);
    return gathered;
  }
  WEIR_ASSIGN(gathered.team, mpi::agree(team.comm(), gather_team(team, mine)));
  if (want_all && team.leads()) gathered.all = gather_all(team, gathered.team);
  return gathered;
}

std::vector<RowIndex> share_all(const Team& team, const Gathered& gathered) {
  std::vector<RowIndex> shared;
  if (gathered.everywhere) {
    for (const Rows& rows : gathered.all) shared.emplace_back(rows);
    return shared;
  }
  Words words;
  for (const Rows& rows : gathered.all) put(words, rows);
  std::uint64_t length = words.size();
  if (team.size() > 1) {
    MPI_Bcast(&length, 1, MPI_UINT64_T, 0, team.local());
    words.resize(length);
    MPI_Bcast(words.data(), static_cast<int>(length), MPI_UINT64_T, 0, team.local());
  }
  for (Rows& rows : rows_in(words)) shared.emplace_back(std::move(rows));
  return shared;
}

namespace {

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

// The middle of the file, as far as looking at it costs little.
Range sample_of(const aggregation::CallFacts& facts) {
  constexpr std::uint64_t enough = 512;  // pieces
  if (facts.pieces <= enough) return {facts.begin, facts.end};
  const double share = static_cast<double>(enough) / static_cast<double>(facts.pieces);
  const auto half = static_cast<std::uint64_t>(static_cast<double>(facts.end - facts.begin) * share / 2);
  const std::uint64_t middle = facts.begin + (facts.end - facts.begin) / 2;
  return {middle - half, middle + half + 1};
}

struct Counts {
  std::uint64_t pieces = 0;    // as they are
  std::uint64_t gathered = 0;  // those of a node put together
};

// Of one node. `taken`: gaps that are nobody's are filled.
Counts count(const std::vector<RowIndex>& parts, const RowIndex* taken) {
  Counts counts;
  for (const RowIndex& rows : parts) counts.pieces += rows.pieces();
  Rows runs = merged(parts, 0, UINT64_MAX);
  if (taken != nullptr) runs = fill_nobodys_gaps(runs, *taken).runs;
  counts.gathered = total_pieces(runs);
  return counts;
}

std::vector<RowIndex> cut_to(const Range& range, const std::vector<Rows>& many) {
  std::vector<RowIndex> parts;
  for (const Rows& rows : many) parts.emplace_back(clip(rows, range.begin, range.end));
  return parts;
}

}  // namespace

std::uint64_t count_node_pieces(const Team& team, const Gathered& gathered,
                                const aggregation::CallFacts& facts) {
  const Range sample = sample_of(facts);
  const std::vector<RowIndex> all = cut_to(sample, gathered.all);
  RowIndex taken;
  const bool fills = facts.may_fill && !all.empty();
  if (fills) taken = RowIndex(merged(all, 0, UINT64_MAX));
  Counts total;
  const auto add = [&](const std::vector<RowIndex>& parts) {
    const Counts counts = count(parts, fills ? &taken : nullptr);
    total.pieces += counts.pieces;
    total.gathered += counts.gathered;
  };
  if (gathered.everywhere) {
    for (const auto& ranks : team.ranks_by_node()) {
      std::vector<RowIndex> parts;
      for (const std::uint32_t rank : ranks) parts.push_back(all[rank]);
      add(parts);
    }
  } else {
    std::array<std::uint64_t, 2> words{};
    if (team.leads()) {
      add(cut_to(sample, gathered.team));
      words = {total.pieces, total.gathered};
      MPI_Allreduce(MPI_IN_PLACE, words.data(), 2, MPI_UINT64_T, MPI_SUM, team.leaders());
    }
    MPI_Bcast(words.data(), 2, MPI_UINT64_T, 0, team.local());
    total = {.pieces = words[0], .gathered = words[1]};
  }
  if (total.pieces == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(facts.pieces) * static_cast<double>(total.gathered) /
                                    static_cast<double>(total.pieces));
}

}  // namespace weir::collective
