#include "workloads/collective_io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <climits>

#include "core/file.hpp"
#include "mpi/comm.hpp"
#include "workloads/share.hpp"

namespace weir::workloads {

using pattern::Access;

namespace {

// A type that is freed at the end of its scope, unless it is taken.
MPI_Datatype nested(const Access& access) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(access.shape.block), MPI_BYTE, &type);
  for (auto level = access.shape.levels.rbegin(); level != access.shape.levels.rend(); ++level) {
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(static_cast<int>(level->count), 1, static_cast<MPI_Aint>(level->stride), type,
                            &outer);
    MPI_Type_free(&type);
    type = outer;
  }
  return type;
}

Status to_status(int code, const std::string& operation, const std::string& path) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return in(Status(fail(ErrorCode::io, std::string(text, static_cast<std::size_t>(length)))), operation,
            path);
}

template <class Byte>
Result<CollectiveTimes> run(MPI_Comm comm, const std::string& path, const IoProgram& program, Byte* memory) {
  constexpr bool writes = std::is_const_v<Byte>;
  CollectiveTimes times;
  if (program.call_bytes > INT_MAX)
    return fail(ErrorCode::unsupported,
                fmt::format("a call of {} bytes; at most {} can be", program.call_bytes, INT_MAX));
  const mpi::Comm ours = mpi::Comm::duplicate(comm);
  const NodeTraffic traffic(comm);
  MPI_Barrier(comm);
  double start = MPI_Wtime();
  MPI_File file = MPI_FILE_NULL;
  const int mode = writes ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  WEIR_TRY(mpi::agree(
      ours, to_status(MPI_File_open(comm, path.c_str(), mode, MPI_INFO_NULL, &file), "open", path)));
  Status status;
  if (!program.tile.empty()) {
    const FileType type(program);
    status = to_status(MPI_File_set_view(file, 0, MPI_BYTE, type.get(), "native", MPI_INFO_NULL),
                       "set the view", path);
  }
  times.open = slowest(MPI_Wtime() - start, comm);
  const std::uint64_t before = traffic.sent();
  MPI_Barrier(comm);
  start = MPI_Wtime();
  const int count = static_cast<int>(program.call_bytes);
  for (std::uint64_t call = 0; call < program.calls && status; ++call) {
    Byte* data = memory + call * program.call_bytes;
    int code = MPI_SUCCESS;
    if constexpr (writes) {
      code = program.tile.empty() ? MPI_File_write_at_all(file, program.offsets[call], data, count, MPI_BYTE,
                                                          MPI_STATUS_IGNORE)
                                  : MPI_File_write_all(file, data, count, MPI_BYTE, MPI_STATUS_IGNORE);
    } else {
      code = program.tile.empty()
                 ? MPI_File_read_at_all(file, program.offsets[call], data, count, MPI_BYTE, MPI_STATUS_IGNORE)
                 : MPI_File_read_all(file, data, count, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    status = to_status(code, fmt::format("{} collectively, call {}", writes ? "write" : "read", call), path);
  }
  times.transfer = slowest(MPI_Wtime() - start, comm);
  times.sent_between_nodes = traffic.sent() - before;
  start = MPI_Wtime();
  const Status closed = to_status(MPI_File_close(&file), "close", path);
  times.close = slowest(MPI_Wtime() - start, comm);
  WEIR_TRY(mpi::agree(ours, status ? closed : status));
  return times;
}

template <class Byte, class Transfer>
Status directly(const std::string& path, int flags, const IoProgram& program, Byte* memory,
                const Transfer& transfer) {
  WEIR_ASSIGN(const Descriptor file, open_file(path, flags));
  for (std::uint64_t call = 0; call < program.calls; ++call) {
    for (const Access& access : program.accesses(call)) {
      for (pattern::PieceCursor cursor(access); !cursor.done(); cursor.advance()) {
        const pattern::Piece piece = cursor.piece();
        WEIR_TRY(transfer(file.get(), memory, piece.length, static_cast<std::uint64_t>(piece.offset), path));
        memory += piece.length;
      }
    }
  }
  return {};
}

}  // namespace

FileType::FileType(const IoProgram& program) {
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> places;
  for (const Access& access : program.tile) {
    types.push_back(nested(access));
    places.push_back(static_cast<MPI_Aint>(access.offset));
  }
  const std::vector<int> lengths(types.size(), 1);
  MPI_Datatype all = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), places.data(), types.data(), &all);
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
  MPI_Type_create_resized(all, 0, static_cast<MPI_Aint>(program.extent), &type_);
  MPI_Type_free(&all);
  MPI_Type_commit(&type_);
}

FileType::~FileType() {
  MPI_Type_free(&type_);
}

Result<CollectiveTimes> write_collectively(MPI_Comm comm, const std::string& path, const IoProgram& program,
                                           const std::byte* memory) {
  return run(comm, path, program, memory);
}

Result<CollectiveTimes> read_collectively(MPI_Comm comm, const std::string& path, const IoProgram& program,
                                          std::byte* memory) {
  return run(comm, path, program, memory);
}

std::uint64_t bytes_sent(std::string_view text) {
  std::uint64_t total = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;  // the titles
    std::string_view name = line.substr(0, colon);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    if (name == "lo") continue;
    line.remove_prefix(colon + 1);
    // Eight columns of what was received come before the bytes sent.
    std::uint64_t value = 0;
    for (int column = 0; column < 9; ++column) {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      const auto [after, error] = std::from_chars(line.data(), line.data() + line.size(), value);
      if (error != std::errc()) {
        value = 0;
        break;
      }
      line.remove_prefix(static_cast<std::size_t>(after - line.data()));
    }
    total += value;
  }
  return total;
}

NodeTraffic::NodeTraffic(MPI_Comm comm) : comm_(comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  leads_ = rank == 0;
  MPI_Comm_free(&node);
}

NodeTraffic::~NodeTraffic() = default;

std::uint64_t NodeTraffic::sent() const {
  std::uint64_t mine = 0, all = 0;
  MPI_Barrier(comm_);
  if (leads_) mine = bytes_sent(read_text("/proc/self/net/dev").value_or(""));
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, comm_);
  return all;
}

Status read_directly(const std::string& path, const IoProgram& program, std::byte* memory) {
  // Not read_at(), which knows better than system calls alone.
  return directly(path, O_RDONLY, program, memory,
                  [](int fd, std::byte* data, std::uint64_t size, std::uint64_t offset,
                     const std::string& name) -> Status {
                    while (size > 0) {
                      const ssize_t got = ::pread(fd, data, size, static_cast<off_t>(offset));
                      if (got < 0 && errno == EINTR) continue;
                      if (got < 0) return fail_errno(errno, "read", name);
                      if (got == 0) return fail(ErrorCode::corrupt, "the file ends too early");
                      data += got;
                      size -= static_cast<std::uint64_t>(got);
                      offset += static_cast<std::uint64_t>(got);
                    }
                    return {};
                  });
}

Status write_directly(const std::string& path, const IoProgram& program, const std::byte* memory) {
  return directly(path, O_WRONLY | O_CREAT, program, memory,
                  [](int fd, const std::byte* data, std::uint64_t size, std::uint64_t offset,
                     const std::string& name) { return write_at(fd, data, size, offset, name); });
}

}  // namespace weir::workloads
