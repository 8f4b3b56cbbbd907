#include "interpose/recorder.hpp"

#include <fmt/format.h>

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpose/gather.hpp"
#include "interpose/next.hpp"
#include "interpose/run_log.hpp"
#include "interpose/type_tree.hpp"
#include "pattern/pattern_file.hpp"

namespace weir::interpose {

namespace {

constexpr std::size_t most_types = std::size_t{1} << 16U;
constexpr std::uint32_t unknown_types = static_cast<std::uint32_t>(-1);

}  // namespace

struct Recorder::OpenFile {
  MPI_File handle = MPI_FILE_NULL;
  std::size_t file = 0;           // in State::files
  std::uint32_t types = 0;        // of the view, in State::types
  std::int64_t displacement = 0;  // of the view
  std::int64_t elementary_size = 1;
  std::int64_t position = 0;      // of the individual pointer, in bytes of data
  MPI_Comm comm = MPI_COMM_NULL;  // of its ranks, for ordered calls; none for one rank
};

struct Recorder::State {
  std::mutex mutex;
  std::vector<std::unique_ptr<OpenFile>> open;
  OpenFile* last = nullptr;                // most programs use one file at a time
  OpenFile* streaking = nullptr;           // the file of the streak
  std::uint64_t streak_bytes = 0;          // of one of its calls
  MPI_Datatype sized = MPI_DATATYPE_NULL;  // the type whose size was asked for last, while it cannot be freed
  MPI_Count size = 0;
  std::vector<LoggedFile> files;
  std::unordered_map<std::string, std::size_t> by_name;
  std::vector<ViewTrees> types;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash;

  OpenFile* find(MPI_File handle) {
    if (last != nullptr && last->handle == handle) return last;
    for (const auto& file : open)
      if (file->handle == handle) return last = file.get();
    return nullptr;
  }

  MPI_Count size_of(MPI_Datatype type) {
    if (type != sized || type == MPI_DATATYPE_NULL) {
      size = 0;
      PMPI_Type_size_x(type, &size);
      sized = type;
    }
    return size;
  }

  std::uint32_t number_of(ViewTrees trees) {
    const std::uint64_t hash = trees.elementary.hash() * 31 + trees.file_type.hash();
    const auto [first, end] = by_hash.equal_range(hash);
    for (auto known = first; known != end; ++known)
      if (types[known->second] == trees) return known->second;
    if (types.size() >= most_types) return unknown_types;
    const auto number = static_cast<std::uint32_t>(types.size());
    types.push_back(std::move(trees));
    by_hash.emplace(hash, number);
    return number;
  }
};

Recorder::Recorder() : state_(std::make_unique<State>()) {
  state_->number_of({});  // number 0: bytes, as after MPI_File_open
}
Recorder::~Recorder() = default;

MPI_Comm Recorder::opening(MPI_Comm comm) {
  int ranks = 1;
  if (comm == MPI_COMM_NULL || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS || ranks == 1)
    return MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  PMPI_Comm_dup(comm, &copy);
  return copy;
}

void Recorder::opened(MPI_Comm comm, MPI_File file, const char* name, int mode, bool succeeded) {
  if (!succeeded) {
    if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
    return;
  }
  MPI_Offset position = 0;
  if ((mode & MPI_MODE_APPEND) != 0) next::get_position(file, &position);
  int threads = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&threads);
  const std::lock_guard lock(state_->mutex);
  if (threads != MPI_THREAD_MULTIPLE) shared_by_threads_ = false;
  const auto [place, is_new] = state_->by_name.try_emplace(name, state_->files.size());
  if (is_new) state_->files.push_back({.name = name});
  auto open = std::make_unique<OpenFile>();
  open->handle = file;
  open->file = place->second;
  open->position = position;
  open->comm = comm;
  state_->open.push_back(std::move(open));
}

void Recorder::end_streak() {
  if (OpenFile* const open = state_->streaking) {
    state_->files[open->file].log.extend(streak_.calls);
    if (streak_.pointer == Pointer::individual)
      open->position += static_cast<std::int64_t>(streak_.calls * state_->streak_bytes);
  }
  state_->streaking = nullptr;
  streak_ = {};
}

void Recorder::freeing_type() {
  const std::lock_guard lock(state_->mutex);
  end_streak();
  state_->sized = MPI_DATATYPE_NULL;
}

void Recorder::closing(MPI_File file) {
  MPI_Comm comm = MPI_COMM_NULL;
  {
    const std::lock_guard lock(state_->mutex);
    end_streak();
    std::erase_if(state_->open, [&](const std::unique_ptr<OpenFile>& open) {
      if (open->handle != file) return false;
      comm = open->comm;
      return true;
    });
    state_->last = nullptr;
  }
  if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
}

void Recorder::view_set(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype) {
  ViewTrees trees;
  auto elementary = read_type(etype);
  auto file_type = read_type(filetype);
  const bool known = elementary && file_type;
  if (known) trees = {std::move(*elementary), std::move(*file_type)};
  // The displacement of a view may be "where the shared pointer is", in sequential mode only.
  MPI_Offset from = displacement;
  if (displacement == MPI_DISPLACEMENT_CURRENT &&
      next::get_byte_offset(file, MPI_Offset{0}, &from) != MPI_SUCCESS)
    from = 0;

  const std::lock_guard lock(state_->mutex);
  end_streak();
  OpenFile* const open = state_->find(file);
  if (open == nullptr) return;
  open->displacement = from;
  open->elementary_size =
      known ? static_cast<std::int64_t>(std::max<std::uint64_t>(trees.elementary.size, 1)) : 1;
  open->types = known ? state_->number_of(std::move(trees)) : unknown_types;
  open->position = 0;
}

void Recorder::pointer_moved(MPI_File file) {
  MPI_Offset position = 0;
  if (next::get_position(file, &position) != MPI_SUCCESS) return;
  const std::lock_guard lock(state_->mutex);
  end_streak();
  if (OpenFile* const open = state_->find(file)) open->position = position * open->elementary_size;
}

MPI_Offset Recorder::before_ordered(const Call& call) {
  if (call.phase == Phase::ended) return 0;
  // The first rank of the file sees where the others will begin: all earlier ordered calls are complete, see
  // after().
  OpenFile* open = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    open = state_->find(call.file);
  }
  if (open == nullptr) return 0;
  int rank = 0;
  MPI_Offset position = 0;
  if (open->comm != MPI_COMM_NULL) PMPI_Comm_rank(open->comm, &rank);
  if (rank == 0) next::get_position_shared(call.file, &position);
  return position;
}

namespace {

// Where this rank's part of an ordered call begins, in elementary types; all ranks take part. COLLECTIVE over
// comm.
MPI_Offset ordered_offset(MPI_Comm comm, MPI_Offset first, std::int64_t mine) {
  if (comm == MPI_COMM_NULL) return first;
  int rank = 0;
  std::int64_t lower = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Exscan(&mine, &lower, 1, MPI_INT64_T, MPI_SUM, comm);
  PMPI_Bcast(&first, 1, MPI_OFFSET, 0, comm);
  return first + (rank == 0 ? 0 : lower);
}

}  // namespace

void Recorder::after(const Call& call, MPI_Offset noted, bool succeeded) {
  if (call.phase == Phase::ended) return;  // all was said when it began
  std::unique_lock lock(state_->mutex, std::defer_lock);
  if (shared_by_threads_) lock.lock();
  if (succeeded && streak_.takes(call)) return;
  end_streak();
  const MPI_Count size = succeeded ? state_->size_of(call.type) : 0;
  std::int64_t bytes = 0;
  if (size < 0 || call.count < 0 || __builtin_mul_overflow(size, call.count, &bytes)) bytes = 0;

  OpenFile* const open = state_->find(call.file);
  if (open == nullptr) return;
  std::int64_t offset = 0;
  switch (call.pointer) {
    case Pointer::given:
      offset = call.offset * open->elementary_size;
      break;
    case Pointer::individual:
      if (!succeeded) {
        if (lock.owns_lock()) lock.unlock();
        return pointer_moved(call.file);  // MPI does not say where a failed call leaves it
      }
      offset = open->position;
      open->position += bytes;
      break;
    case Pointer::shared: {
      MPI_Offset behind = 0;
      if (!succeeded || next::get_position_shared(call.file, &behind) != MPI_SUCCESS) return;
      offset = std::max<std::int64_t>(behind * open->elementary_size - bytes, 0);
      break;
    }
    case Pointer::ordered: {
      const std::int64_t unit = open->elementary_size;
      if (lock.owns_lock()) lock.unlock();  // other threads may use other files meanwhile
      offset = ordered_offset(open->comm, noted, bytes / unit) * unit;
      if (shared_by_threads_) lock.lock();
      end_streak();  // which they may have begun
      break;
    }
  }
  if (!succeeded || bytes == 0) return;
  LoggedFile& file = state_->files[open->file];
  if (open->types == unknown_types) {
    ++file.undescribed;
    return;
  }
  file.log.add({.types = open->types,
                .writes = call.direction == Direction::write,
                .displacement = open->displacement,
                .offset = offset,
                .bytes = static_cast<std::uint64_t>(bytes)});
  begin_streak(call, *open, file.log.growing());
}

void Recorder::begin_streak(const Call& call, OpenFile& open, const CallRun* run) {
  const bool follows =
      run != nullptr &&
      (call.pointer == Pointer::given ||
       (call.pointer == Pointer::individual && run->stride == static_cast<std::int64_t>(run->bytes)));
  if (!follows) return;
  state_->streaking = &open;
  state_->streak_bytes = run->bytes;
  // One view: all offsets of the run are whole elementary types apart.
  const MPI_Offset step = run->stride / open.elementary_size;
  streak_ = {.file = call.file,
             .type = call.type,
             .direction = call.direction,
             .pointer = call.pointer,
             .count = call.count,
             .next = static_cast<MPI_Offset>(static_cast<std::uint64_t>(call.offset) +
                                             static_cast<std::uint64_t>(step)),
             .step = step};
}

Status Recorder::save(const std::filesystem::path& path, const Status& so_far) {
  const std::lock_guard lock(state_->mutex);
  end_streak();
  return save_recording(state_->files, state_->types, path, so_far);
}

}  // namespace weir::interpose
