#include "interpose/gather.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <optional>

#include "interpose/write_parts.hpp"
#include "pattern/pattern_file.hpp"
#include "recording/log_pattern.hpp"

namespace weir::interpose {

namespace {

using pattern::Pattern;

// Accesses of one rank in one file that are kept; more are no pattern any more.
constexpr std::uint64_t most_accesses = std::uint64_t{1} << 20U;

// The types of a view, worked out when the first call needs them.
class TypeCache {
 public:
  explicit TypeCache(const std::vector<ViewTrees>& trees) : trees_(trees), made_(trees.size()) {}
  const recording::ViewTypes* find(std::uint32_t number) {
    Entry& entry = made_[number];
    if (!entry.tried) {
      entry.tried = true;
      const auto elementary = to_datatype(trees_[number].elementary);
      const auto file_type = to_datatype(trees_[number].file_type);
      if (elementary && file_type) entry.types = recording::ViewTypes{*elementary, *file_type};
    }
    return entry.types ? &*entry.types : nullptr;
  }

 private:
  struct Entry {
    bool tried = false;
    std::optional<recording::ViewTypes> types;
  };
  const std::vector<ViewTrees>& trees_;
  std::vector<Entry> made_;
};

}  // namespace

recording::Index recording_of_rank(std::vector<LoggedFile>& files, const std::vector<ViewTrees>& types,
                                   std::vector<recording::CallBacklog>& put_off, std::uint64_t& lost) {
  recording::Index index{Pattern(1), {}};
  TypeCache cache(types);
  const auto is_plain = [&](std::uint32_t number) {
    const recording::ViewTypes* const view = cache.find(number);
    return view != nullptr && recording::shows_bytes(*view);
  };
  for (LoggedFile& file : files) {
    recording::Part part{.rank = 0, .file = file.name, .kinds = {}};
    if (recording::describe(file.log, is_plain, part)) {
      put_off.push_back(file.log.take_put_off());
      index.parts.push_back(std::move(part));
    }
    const recording::LogPattern calls = recording::pattern_of(
        file.log, [&](std::uint32_t number) { return cache.find(number); }, most_accesses);
    lost += file.undescribed + calls.lost;
    pattern::FilePattern& into = index.pattern.add_file(file.name);
    into.reads.collective_calls = file.collective_reads;
    into.writes.collective_calls = file.collective_writes;
    for (const pattern::Access& access : calls.reads) index.pattern.add(into.reads, 0, access);
    for (const pattern::Access& access : calls.writes) index.pattern.add(into.writes, 0, access);
  }
  return index;
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
  std::vector<recording::CallBacklog> put_off;
  // A rank that cannot describe what it did takes part all the same: the others wait for it.
  recording::Index mine = [&] {
    try {
      return recording_of_rank(files, types, put_off, lost);
    } catch (const std::exception& error) {
      outcome = fail(ErrorCode::no_memory, error.what());
      put_off.clear();
      return recording::Index{Pattern(1), {}};
    }
  }();
  for (int distance = 1; distance < size; distance *= 2) {
    if ((rank & distance) != 0) {
      send(recording::encode(mine), rank - distance, comm);
      break;
    }
    if (rank + distance >= size) continue;
    auto theirs = recording::decode_index(receive(rank + distance, comm));
    if (theirs)
      mine = recording::joined(std::move(mine), std::move(*theirs));
    else if (outcome)
      outcome = tl::make_unexpected(theirs.error());
  }
  std::uint64_t counts[3] = {lost, outcome ? 0U : 1U, put_off.size()};
  std::uint64_t sums[3] = {0, 0, 0};
  PMPI_Allreduce(counts, sums, 3, MPI_UINT64_T, MPI_SUM, comm);
  const auto [all_lost, failed, parts] = sums;
  if (outcome && failed != 0)
    outcome = fail(ErrorCode::no_memory, "another rank could not describe what it did");
  if (failed == 0 && parts != 0) outcome = write_parts(mine, put_off, path, comm);
  if (failed == 0 && parts == 0 && rank == 0) outcome = pattern::save(mine.pattern, path);
  PMPI_Comm_free(&comm);
  WEIR_TRY(in(outcome, "record", path.string()));
  if (rank == 0 && all_lost != 0) {
    fmt::print(stderr,
               "libweir-mpiio: {} calls are missing in {}: too irregular, or through types that MPI does not "
               "describe\n",
               all_lost, path.string());
  }
  return {};
}

}  // namespace weir::interpose
