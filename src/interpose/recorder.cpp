#include "interpose/recorder.hpp"

#include <fmt/format.h>

#include <array>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpose/gather.hpp"
#include "interpose/next.hpp"
#include "interpose/type_tree.hpp"
#include "pattern/pattern_file.hpp"
#include "recording/run_log.hpp"

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

namespace {

void count_calls(LoggedFile& file, Direction direction, Reach reach, std::uint64_t calls) {
  if (reach == Reach::together)
    (direction == Direction::write ? file.collective_writes : file.collective_reads) += calls;
}

// What a sort of calls in the batch means.
struct Meaning {
  std::size_t file = 0;  // in State::files
  Direction direction = Direction::read;
  Reach reach = Reach::alone;
  std::uint32_t kind = 0;            // in the file's log
  bool described = true;             // by MPI; if not, the kind is none
  std::uint64_t bytes = 0;           // of each
  std::int64_t elementary_size = 1;  // the unit of offsets
  std::int64_t* position = nullptr;  // of the individual pointer, if calls move it
};

}  // namespace

recording::CallKind Recorder::kind_of(const Call& call, const OpenFile& open, std::uint64_t bytes) {
  return {.types = open.types,
          .writes = call.direction == Direction::write,
          .displacement = open.displacement,
          .bytes = bytes};
}

struct Recorder::State {
  std::vector<std::unique_ptr<OpenFile>> open;
  OpenFile* last = nullptr;  // most programs use one file at a time
  std::array<Meaning, CallBatch::most_sorts> meanings;
  MPI_Datatype sized = MPI_DATATYPE_NULL;  // the type whose size was asked for last, while it cannot be freed
  MPI_Count size = 0;
  std::shared_ptr<recording::ChunkPool> pool =
      std::make_shared<recording::ChunkPool>();  // of all files' logs
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
  const std::lock_guard lock(batch_.lock);
  if (threads != MPI_THREAD_MULTIPLE) batch_.one_thread = true;
  const auto [place, is_new] = state_->by_name.try_emplace(name, state_->files.size());
  if (is_new) state_->files.push_back({.name = name, .log = recording::RunLog(state_->pool)});
  auto open = std::make_unique<OpenFile>();
  open->handle = file;
  open->file = place->second;
  open->position = position;
  open->comm = comm;
  state_->open.push_back(std::move(open));
}

void Recorder::empty_batch() {
  batch_.take_out([&](std::size_t sort, const std::int64_t* offsets, std::size_t count) {
    const Meaning& meaning = state_->meanings[sort];
    LoggedFile& file = state_->files[meaning.file];
    count_calls(file, meaning.direction, meaning.reach, count);
    if (!meaning.described)
      file.undescribed += meaning.bytes == 0 ? 0 : count;
    else if (meaning.position == nullptr)
      file.log.add(meaning.kind, offsets, count, meaning.elementary_size);
    else
      file.log.add_row(meaning.kind, *meaning.position, count, static_cast<std::int64_t>(meaning.bytes));
    if (meaning.position != nullptr) *meaning.position += static_cast<std::int64_t>(count * meaning.bytes);
  });
}

void Recorder::forget_sorts() {
  empty_batch();
  batch_.forget();
}

void Recorder::freeing_type() {
  const std::lock_guard lock(batch_.lock);
  forget_sorts();
  state_->sized = MPI_DATATYPE_NULL;
}

void Recorder::closing(MPI_File file) {
  MPI_Comm comm = MPI_COMM_NULL;
  {
    const std::lock_guard lock(batch_.lock);
    forget_sorts();
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

  const std::lock_guard lock(batch_.lock);
  forget_sorts();
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
  const std::lock_guard lock(batch_.lock);
  empty_batch();
  if (OpenFile* const open = state_->find(file)) open->position = position * open->elementary_size;
}

MPI_Offset Recorder::before_ordered(const Call& call) {
  if (call.phase == Phase::ended) return 0;
  // The first rank of the file sees where the others will begin: all earlier ordered calls are complete, see
  // after().
  OpenFile* open = nullptr;
  {
    const std::lock_guard lock(batch_.lock);
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
  std::unique_lock lock(batch_.lock, std::defer_lock);
  if (!batch_.one_thread) lock.lock();
  if (succeeded && batch_.takes(call)) return;
  empty_batch();
  const MPI_Count size = succeeded ? state_->size_of(call.type) : 0;
  std::int64_t bytes = 0;
  if (size < 0 || call.count < 0 || __builtin_mul_overflow(size, call.count, &bytes)) bytes = 0;

  OpenFile* const open = state_->find(call.file);
  if (open == nullptr) return;
  std::int64_t offset = 0;
  switch (call.pointer) {
    case Pointer::individual:
      if (!succeeded) {
        if (lock.owns_lock()) lock.unlock();
        return pointer_moved(call.file);  // see take_back()
      }
      [[fallthrough]];
    case Pointer::given:
      if (succeeded) note(call, *open, static_cast<std::uint64_t>(bytes));
      return;
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
      if (!batch_.one_thread) lock.lock();
      empty_batch();  // which they may have filled
      break;
    }
  }
  if (!succeeded) return;
  LoggedFile& file = state_->files[open->file];
  count_calls(file, call.direction, call.reach, 1);
  if (bytes == 0) return;
  if (open->types == unknown_types)
    ++file.undescribed;
  else
    file.log.add(file.log.number_of(kind_of(call, *open, static_cast<std::uint64_t>(bytes))), &offset, 1, 1);
}

void Recorder::take_back(MPI_File file) {
  {
    const std::lock_guard lock(batch_.lock);
    batch_.take_back(file);
  }
  pointer_moved(file);  // MPI does not say where a failed call leaves it
}

void Recorder::note(const Call& call, OpenFile& open, std::uint64_t bytes) {
  if (batch_.takes(call)) return;  // there was no room, and now there is
  if (!batch_.has_room()) forget_sorts();
  std::size_t sort = 0;
  batch_.add(call, sort);
  Meaning& meaning = state_->meanings[sort];
  meaning = {.file = open.file,
             .direction = call.direction,
             .reach = call.reach,
             .described = open.types != unknown_types,
             .bytes = bytes,
             .elementary_size = open.elementary_size,
             .position = call.pointer == Pointer::individual ? &open.position : nullptr};
  if (meaning.described) meaning.kind = state_->files[open.file].log.number_of(kind_of(call, open, bytes));
}

Status Recorder::save(const std::filesystem::path& path, const Status& so_far) {
  const std::lock_guard lock(batch_.lock);
  empty_batch();
  return save_recording(state_->files, state_->types, path, so_far);
}

}  // namespace weir::interpose
