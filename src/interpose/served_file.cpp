#include "interpose/served_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <future>

#include "interpose/mpi_error.hpp"
#include "interpose/next.hpp"
#include "interpose/packed_memory.hpp"
#include "interpose/pending.hpp"
#include "interpose/roles.hpp"

namespace weir::interpose {

namespace {

Result<Descriptor> open_for(const std::string& path, int mode) {
  if ((mode & MPI_MODE_SEQUENTIAL) != 0)
    return fail(ErrorCode::unsupported, "the file is open in sequential mode");
  // Devices and the like have no size to go by, and some wait when they are opened.
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown))
    return fail(ErrorCode::unsupported, "there is no regular file of that name");
  if ((mode & MPI_MODE_RDONLY) != 0) return open_file(path, O_RDONLY | O_CLOEXEC);
  // Bytes between those that are written may have to be read, even if the program only writes.
  auto both = open_file(path, O_RDWR | O_CLOEXEC);
  if (both || (mode & MPI_MODE_RDWR) != 0) return both;
  return open_file(path, O_WRONLY | O_CLOEXEC);
}

}  // namespace

Result<std::string> opened_path(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return name;
  const std::string behind = name.substr(colon + 1);
  const bool whole = ::access(name.c_str(), F_OK) == 0;
  if (whole && ::access(behind.c_str(), F_OK) == 0)
    return fail(ErrorCode::unsupported,
                fmt::format("the MPI library may have '{}' open, or '{}'", name, behind));
  return whole ? name : behind;
}

Result<std::unique_ptr<ServedFile>> ServedFile::open(mpi::Comm comm, MPI_File handle, const std::string& name,
                                                     int mode, const aggregation::Settings& settings,
                                                     Hints hints) {
  const auto path = opened_path(name);
  auto descriptor = path ? open_for(*path, mode) : Result<Descriptor>(tl::make_unexpected(path.error()));
  WEIR_TRY(agree(comm, descriptor ? Status() : Status(tl::make_unexpected(descriptor.error()))));
  std::unique_ptr<ServedFile> file(new ServedFile);
  file->descriptor_ = std::move(*descriptor);
  WEIR_ASSIGN(file->collective_, collective::Collective::create(
                                     comm, {.descriptor = file->descriptor_.get(), .path = *path}, settings));
  file->handle_ = handle;
  file->mode_ = mode;
  file->path_ = *path;
  file->comm_ = std::move(comm);
  file->hints_ = std::move(hints);
  return file;
}

// Aggregators are told as they were named, by their ranks in MPI_COMM_WORLD.
Hints ServedFile::hints_in_use() const {
  Hints used = hints_of(collective_->settings());
  if (const auto named = hints_.find("weir_aggregators"); named != hints_.end())
    if (const auto found = used.find(named->first); found != used.end()) found->second = named->second;
  return used;
}

ServedFile::~ServedFile() {
  finish();
}

void ServedFile::finish() {
  if (!worker_) return;
  std::promise<void> reached;
  worker_->post([&] { reached.set_value(); });
  reached.get_future().wait();
}

// Whether the MPI library places the data of the view where we do: both touch the same file. ROMIO does not,
// against the standard, if a lower bound is not 0 or a named type is longer than its bytes; at the latest the
// second file type shows it.
bool ServedFile::is_placed_alike() const {
  const auto doubtful = [](const TypeTree& tree) { return tree.lower != 0 || tree.has_padded_names(); };
  if (!doubtful(view_types_->file_tree) && !doubtful(view_types_->elementary_tree)) return true;
  const pattern::View& view = file_rows_.view();
  const std::uint64_t elements = view.file_type().size() / view.elementary_size();
  if (elements == 0) return true;
  for (const std::uint64_t element : {std::uint64_t{0}, elements - 1, elements}) {
    const auto ours = view.accesses(element, 1);
    MPI_Offset theirs = -1;
    if (!ours || next::get_byte_offset(handle_, static_cast<MPI_Offset>(element), &theirs) != MPI_SUCCESS ||
        theirs != ours->front().offset)
      return false;
  }
  return true;
}

// Libraries set one view after another that differ by their displacement only: the types are understood once.
Status ServedFile::read_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype) {
  WEIR_ASSIGN(TypeTree elementary_tree, read_type(etype));
  WEIR_ASSIGN(TypeTree file_tree, read_type(filetype));
  if (!view_types_ || view_types_->elementary_tree != elementary_tree ||
      view_types_->file_tree != file_tree) {
    view_types_.reset();
    WEIR_ASSIGN(pattern::Datatype elementary, to_datatype(elementary_tree));
    WEIR_ASSIGN(pattern::Datatype file_type, to_datatype(file_tree));
    if (!in_file_order(file_type)) return fail(ErrorCode::unsupported, "the view is not in file order");
    view_types_ = ViewTypesRead{std::move(elementary_tree), std::move(file_tree), std::move(elementary),
                                std::move(file_type)};
  }
  WEIR_ASSIGN(pattern::View view,
              pattern::View::make(displacement, view_types_->elementary, view_types_->file_type));
  file_rows_.set_view(std::move(view));
  if (!is_placed_alike())
    return fail(ErrorCode::unsupported, "the MPI library places the data of the view elsewhere");
  return {};
}

void ServedFile::set_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                          const char* representation, bool succeeded) {
  finish();
  const bool understood = succeeded && std::strcmp(representation, "native") == 0 &&
                          guarded([&] { return read_view(displacement, etype, filetype); }).has_value();
  view_served_ = comm_.min(understood ? 1 : 0) == 1;
}

// What a call asks for, as far as numbers go. What is wrong on this rank must reach the others: they wait for
// it.
ServedFile::Place ServedFile::place_of(const Call& call) {
  Place place;
  MPI_Count size = 0;
  if (call.count < 0) {
    place.status = fail(ErrorCode::invalid_argument,
                        fmt::format("MPI_File_{}: {}, {}", call.name, wrong_count, call.count));
  } else if (call.type == MPI_DATATYPE_NULL || PMPI_Type_size_x(call.type, &size) != MPI_SUCCESS ||
             size < 0) {
    place.status = fail(ErrorCode::invalid_argument, fmt::format("MPI_File_{}: {}", call.name, wrong_type));
  } else if (__builtin_mul_overflow(static_cast<std::uint64_t>(call.count), static_cast<std::uint64_t>(size),
                                    &place.bytes)) {
    place.status = fail(ErrorCode::invalid_argument, fmt::format("MPI_File_{}: {}, {} of {} bytes", call.name,
                                                                 wrong_count, call.count, size));
  } else if (place.bytes % file_rows_.view().elementary_size() != 0) {
    place.status = fail(
        ErrorCode::invalid_argument,
        fmt::format("MPI_File_{}: {} bytes are no whole number of elementary types", call.name, place.bytes));
  }
  if (call.pointer == Pointer::given)
    place.offset = call.offset;
  else
    next::get_position(handle_, &place.offset);
  if (place.status && place.offset < 0)
    place.status =
        fail(ErrorCode::invalid_argument, fmt::format("MPI_File_{}: offset {}", call.name, place.offset));
  return place;
}

// Behind the last element that the call asked for, as the MPI library would have done it, whatever becomes of
// the call.
void ServedFile::move_pointer(const Call& call, const Place& place) {
  if (call.pointer != Pointer::individual || !place.status || place.bytes == 0) return;
  next::seek(handle_,
             static_cast<MPI_Offset>(
                 place.offset + static_cast<MPI_Offset>(place.bytes / file_rows_.view().elementary_size())),
             MPI_SEEK_SET);
}

collective::Outcome ServedFile::carry_out(Direction direction, const collective::Request& request,
                                          const Status& mine) {
  return direction == Direction::write ? collective_->write(request, mine) : collective_->read(request, mine);
}

namespace {

// What one rank cannot describe, or has no memory for, is done by the MPI library, on all ranks: they all
// have this outcome. Bytes that some have written by then are written once more.
bool is_left_to_library(const Failure& failure) {
  return failure.code == ErrorCode::unsupported || failure.code == ErrorCode::no_memory;
}

}  // namespace

std::optional<int> ServedFile::transfer(const Call& call) {
  const bool ordered = call.pointer == Pointer::ordered;  // by the shared pointer, which is the library's
  if (call.phase == Phase::ended) {
    if (!split_ || ordered) return std::nullopt;
    const Split done = *split_;
    split_.reset();
    set_bytes(call.status, done.bytes);
    return done.code;
  }
  if (split_ && call.phase == Phase::begun)
    return error_code_of({.code = ErrorCode::invalid_argument,
                          .cause = std::string(split_before),
                          .operation = fmt::format("MPI_File_{}", call.name),
                          .object = path_,
                          .advice = "end that one first"});
  if (ordered || atomic_ || !view_served_ || split_) return std::nullopt;
  const int forbidding = call.direction == Direction::write ? MPI_MODE_RDONLY : MPI_MODE_WRONLY;
  if ((mode_ & forbidding) != 0) return std::nullopt;  // the MPI library says it in its own words
  if (call.phase == Phase::started) return start(call);

  finish();
  const Place place = place_of(call);
  const Status mine = guarded([&]() -> Status {
    WEIR_TRY(place.status);
    WEIR_TRY(file_rows_.update(request_.file, static_cast<std::uint64_t>(place.offset), place.bytes));
    return memory_rows_.update(request_.memory, call.buffer, static_cast<std::uint64_t>(call.count),
                               call.type);
  });
  const collective::Outcome outcome =
      carry_out(call.direction, mine ? request_ : collective::Request{}, mine);
  if (!outcome.status && is_left_to_library(outcome.status.error())) return std::nullopt;
  move_pointer(call, place);
  const int code = outcome.status ? MPI_SUCCESS : error_code_of(outcome.status.error());
  if (call.phase == Phase::begun) {
    split_ = Split{code, outcome.bytes};
    return MPI_SUCCESS;
  }
  set_bytes(call.status, outcome.bytes);
  return code;
}

// By another thread, which waits for the other ranks.
int ServedFile::start(const Call& call) {
  const Place place = place_of(call);
  struct Job {
    collective::Request request;
    std::unique_ptr<PackedMemory> packed;  // null: the request names the program's own memory
    Status mine;
    Pending* pending = nullptr;
  };
  const auto job = std::make_shared<Job>();
  // Rows of its own: the next call may come before this one is done.
  FileRows rows;
  rows.set_view(file_rows_.view());
  job->mine = guarded([&]() -> Status {
    WEIR_TRY(place.status);
    WEIR_TRY(rows.update(job->request.file, static_cast<std::uint64_t>(place.offset), place.bytes));
    const Status described = MemoryRows().update(job->request.memory, call.buffer,
                                                 static_cast<std::uint64_t>(call.count), call.type);
    if (described || described.error().code != ErrorCode::unsupported) return described;
    // The MPI library cannot do it instead: other ranks may have made the call, and gone on.
    WEIR_ASSIGN(job->packed, PackedMemory::make(call.buffer, call.count, call.type, place.bytes));
    job->request.memory = job->packed->rows();
    return {};
  });
  // A wrong argument is told at once. The other ranks wait for this one, and hear of it when they wait for
  // their requests.
  int code = place.status ? MPI_SUCCESS : error_code_of(place.status.error());
  if (code == MPI_SUCCESS && (job->pending = Pending::start(call.request, handle_)) == nullptr) {
    job->mine = fail(ErrorCode::no_memory, fmt::format("MPI_File_{}: MPI has no request to give", call.name));
    code = MPI_ERR_OTHER;
  }
  if (code == MPI_SUCCESS)
    move_pointer(call, place);
  else
    *call.request = MPI_REQUEST_NULL;
  if (!job->mine) job->request = {};
  if (!worker_) worker_ = std::make_unique<Worker>();
  worker_->post([this, job, direction = call.direction] {
    const Inside now;
    const collective::Outcome outcome = carry_out(direction, job->request, job->mine);
    if (job->packed && outcome.status && direction == Direction::read) job->packed->unpack();
    if (job->pending == nullptr) return;
    job->pending->complete(outcome.status ? MPI_SUCCESS : error_code_of(outcome.status.error()),
                           outcome.bytes);
  });
  return code;
}

}  // namespace weir::interpose
