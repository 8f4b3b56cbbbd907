#include "interpose/gather.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <unordered_map>

#include "interpose/run_pattern.hpp"
#include "pattern/pattern_file.hpp"

namespace weir::interpose {

namespace {

using pattern::Access;
using pattern::Direction;
using pattern::Pattern;

// Accesses of one rank in one file that are kept; more are no pattern any more.
constexpr std::uint64_t most_accesses = std::uint64_t{1} << 20U;

constexpr int length_tag = 1;
constexpr int data_tag = 2;
constexpr std::uint64_t chunk = std::uint64_t{1} << 28U;

void send(const std::string& data, int to, MPI_Comm comm) {
  std::uint64_t length = data.size();
  PMPI_Send(&length, 1, MPI_UINT64_T, to, length_tag, comm);
  for (std::uint64_t at = 0; at < length; at += chunk)
    PMPI_Send(data.data() + at, static_cast<int>(std::min(chunk, length - at)), MPI_BYTE, to, data_tag, comm);
}

std::string receive(int from, MPI_Comm comm) {
  std::uint64_t length = 0;
  PMPI_Recv(&length, 1, MPI_UINT64_T, from, length_tag, comm, MPI_STATUS_IGNORE);
  std::string data(length, '\0');
  for (std::uint64_t at = 0; at < length; at += chunk)
    PMPI_Recv(data.data() + at, static_cast<int>(std::min(chunk, length - at)), MPI_BYTE, from, data_tag,
              comm, MPI_STATUS_IGNORE);
  return data;
}

// The types of a view, worked out when the first CallRun needs them.
class TypeCache {
 public:
  explicit TypeCache(const std::vector<ViewTrees>& trees) : trees_(trees), made_(trees.size()) {}
  const ViewTypes* find(std::uint32_t number) {
    Entry& entry = made_[number];
    if (!entry.tried) {
      entry.tried = true;
      const auto elementary = to_datatype(trees_[number].elementary);
      const auto file_type = to_datatype(trees_[number].file_type);
      if (elementary && file_type) entry.types = ViewTypes{*elementary, *file_type};
    }
    return entry.types ? &*entry.types : nullptr;
  }

 private:
  struct Entry {
    bool tried = false;
    std::optional<ViewTypes> types;
  };
  const std::vector<ViewTrees>& trees_;
  std::vector<Entry> made_;
};

void add_files_of(const Pattern& source, std::uint64_t first_rank, Pattern& target) {
  std::unordered_map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < target.files.size(); ++i) by_name.emplace(target.files[i].name, i);
  for (const pattern::FilePattern& file : source.files) {
    const auto [place, is_new] = by_name.try_emplace(file.name, target.files.size());
    if (is_new) target.add_file(file.name);
    for (const Direction direction : {Direction::read, Direction::write}) {
      const pattern::AccessTable& from = table_of(file, direction);
      pattern::AccessTable& to = table_of(target.files[place->second], direction);
      to.collective_calls = std::max(to.collective_calls, from.collective_calls);
      for (std::uint64_t rank = 0; rank < from.ranks(); ++rank)
        for (const pattern::Use& use : from.of(rank)) target.add(to, first_rank + rank, source.access(use));
    }
  }
}

}  // namespace

Pattern pattern_of_rank(std::vector<LoggedFile>& files, const std::vector<ViewTrees>& types,
                        std::uint64_t& lost) {
  Pattern pattern(1);
  TypeCache cache(types);
  for (LoggedFile& file : files) {
    std::vector<Access> reads, writes;
    const std::size_t runs = file.log.finish();
    lost += file.undescribed + file.log.lost();
    for (std::size_t number = 0; number < runs; ++number) {
      const CallRun run = file.log.run(number);
      const ViewTypes* const view = cache.find(run.types);
      std::vector<Access>& accesses = run.writes ? writes : reads;
      const std::uint64_t room = most_accesses - std::min<std::uint64_t>(accesses.size(), most_accesses);
      auto more = view == nullptr
                      ? Result<std::vector<Access>>(fail(ErrorCode::unsupported, "an unknown data type"))
                      : accesses_of(run, *view, room);
      if (more)
        accesses.insert(accesses.end(), std::make_move_iterator(more->begin()),
                        std::make_move_iterator(more->end()));
      else
        lost += run.calls * run.repeats;
    }
    pattern::FilePattern& into = pattern.add_file(file.name);
    into.reads.collective_calls = file.collective_reads;
    into.writes.collective_calls = file.collective_writes;
    for (const Access& access : pattern::compressed(std::move(reads))) pattern.add(into.reads, 0, access);
    for (const Access& access : pattern::compressed(std::move(writes))) pattern.add(into.writes, 0, access);
  }
  return pattern;
}

Pattern joined(const Pattern& first, const Pattern& second) {
  Pattern both(first.ranks + second.ranks);
  add_files_of(first, 0, both);
  add_files_of(second, first.ranks, both);
  return both;
}

Status save_recording(std::vector<LoggedFile>& files, const std::vector<ViewTrees>& types,
                      const std::filesystem::path& path, const Status& so_far) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) return fail(ErrorCode::io, "MPI_Comm_dup failed");
  int rank = 0, size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);

  std::uint64_t lost = 0;
  Status outcome = so_far;
  // A rank that cannot describe what it did takes part all the same: the others wait for it.
  Pattern mine = [&] {
    try {
      return pattern_of_rank(files, types, lost);
    } catch (const std::exception& error) {
      outcome = fail(ErrorCode::no_memory, error.what());
      return Pattern(1);
    }
  }();
  for (int distance = 1; distance < size; distance *= 2) {
    if ((rank & distance) != 0) {
      send(pattern::encode(mine), rank - distance, comm);
      break;
    }
    if (rank + distance >= size) continue;
    auto theirs = pattern::decode(receive(rank + distance, comm));
    if (theirs)
      mine = joined(mine, *theirs);
    else if (outcome)
      outcome = tl::make_unexpected(theirs.error());
  }
  std::uint64_t counts[2] = {lost, outcome ? 0U : 1U};
  std::uint64_t sums[2] = {0, 0};
  PMPI_Reduce(counts, sums, 2, MPI_UINT64_T, MPI_SUM, 0, comm);
  PMPI_Comm_free(&comm);
  if (rank != 0) return outcome;
  if (outcome && sums[1] != 0)
    outcome = fail(ErrorCode::no_memory, "another rank could not describe what it did");
  WEIR_TRY(in(outcome, "record", path.string()));
  if (sums[0] != 0) {
    fmt::print(stderr,
               "libweir-mpiio: {} calls are missing in {}: too irregular, or through types that MPI does not "
               "describe\n",
               sums[0], path.string());
  }
  return pattern::save(mine, path);
}

}  // namespace weir::interpose
