#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "aggregation/file_system.hpp"
#include "backends/early_blocks.hpp"
#include "backends/raw.hpp"
#include "backends/raw_layout.hpp"
#include "backends/room.hpp"
#include "core/copy.hpp"
#include "mpi/datatype.hpp"

namespace weir::backends {

namespace fs = std::filesystem;

namespace {

// Pieces stay below the 32-bit counts of MPI-IO and of its implementations' inner arithmetic.
constexpr std::uint64_t largest_transfer = 512U << 20U;

// From this many bytes in a row, going together gains nothing: collective buffering would only add a copy.
constexpr std::uint64_t enough_alone = 1U << 20U;

bool is_one_run(const Extent& shape, const Box& box) {
  int runs = 0;
  for_each_run(shape, box, [&](const Run&) { return ++runs < 2; });
  return runs <= 1;
}

Status check_mpi(int code, std::string operation, const fs::path& path) {
  if (code == MPI_SUCCESS) return {};
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(code, &error_class);
  if (error_class == MPI_ERR_NO_SPACE || error_class == MPI_ERR_QUOTA)
    return fail_errno(ENOSPC, std::move(operation), path.string());
  if (error_class == MPI_ERR_ACCESS) return fail_errno(EACCES, std::move(operation), path.string());
  if (error_class == MPI_ERR_NO_SUCH_FILE) return fail_errno(ENOENT, std::move(operation), path.string());
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return in(Status(fail(ErrorCode::io, std::string(text.data(), static_cast<std::size_t>(length)))),
            operation, path.string());
}

// Hints of one file, from its specification; freed when they go out of scope.
class Hints {
 public:
  explicit Hints(const FileSpec& spec) {
    const Options& options = spec.options;
    MPI_Info_create(&info_);
    const std::string& buffering = options.text("collective_buffering");
    if (buffering != "automatic") {
      const char* value = buffering == "on" ? "enable" : "disable";
      MPI_Info_set(info_, "romio_cb_write", value);
      MPI_Info_set(info_, "romio_cb_read", value);
      MPI_Info_set(info_, "collective_buffering", buffering == "on" ? "true" : "false");
    }
    set_if_given(options, "aggregators", "cb_nodes");
    set_if_given(options, "buffer", "cb_buffer_size");
    if (spec.memory > 0 && spec.memory < usual_buffer && options.integer("buffer") == 0)
      MPI_Info_set(info_, "cb_buffer_size", std::to_string(std::max(spec.memory, least_buffer)).c_str());
    set_if_given(options, "stripes", "striping_factor");
    set_if_given(options, "stripe_size", "striping_unit");
  }
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  ~Hints() { MPI_Info_free(&info_); }
  MPI_Info get() const { return info_; }

 private:
  void set_if_given(const Options& options, std::string_view option, const char* hint) {
    if (options.integer(option) > 0) MPI_Info_set(info_, hint, options.text(option).c_str());
  }
  static constexpr std::uint64_t usual_buffer = 16U << 20U;  // ROMIO's own
  static constexpr std::uint64_t least_buffer = 64U << 10U;
  MPI_Info info_ = MPI_INFO_NULL;
};

// The MPI file, and transfers of boxes of an array at a position in it.
class MpiFile {
 public:
  MpiFile(fs::path path, mpi::Comm comm, MPI_File handle)
      : path_(std::move(path)), comm_(std::move(comm)), handle_(handle) {}
  MpiFile(MpiFile&& other) noexcept
      : path_(std::move(other.path_)),
        comm_(std::move(other.comm_)),
        handle_(std::exchange(other.handle_, MPI_FILE_NULL)) {}
  MpiFile& operator=(MpiFile&&) = delete;
  // MPI_File_close is collective and a destructor must not be: a file that was given up stays open in the
  // library.
  ~MpiFile() = default;

  static Result<MpiFile> open(const FileSpec& spec, int mode) {
    MPI_File handle = MPI_FILE_NULL;
    const Hints hints(spec);
    WEIR_TRY(check_mpi(MPI_File_open(spec.comm.get(), spec.path.c_str(), mode, hints.get(), &handle),
                       (mode & MPI_MODE_CREATE) != 0 ? "create" : "open", spec.path));
    return MpiFile(spec.path, spec.comm, handle);
  }

  Status set_size(std::uint64_t size) {
    return check_mpi(MPI_File_set_size(handle_, static_cast<MPI_Offset>(size)), "set the size of", path_);
  }
  Status close() { return check_mpi(MPI_File_close(&handle_), "close", path_); }
  const fs::path& path() const { return path_; }

  // `Block` is SourceBlock or TargetBlock; the direction follows from it.
  template <class Block>
  Status transfer(const Variable& variable, std::uint64_t base, Access access,
                  std::span<const Block> blocks) {
    if (access == Access::independent) return transfer_runs(variable, base, blocks);

    const std::size_t size = size_of(variable.type);
    std::vector<Block> pieces;
    bool contiguous = true;
    for (const Block& block : blocks) {
      for (Box& box : split(block.box, std::max<std::uint64_t>(1, largest_transfer / size))) {
        auto* data = block.data + position_of(box, block.box) * size;
        contiguous = contiguous && is_one_run(variable.shape, box);
        pieces.push_back({std::move(box), data});
      }
    }
    // One reduction in the ordinary case of at most one contiguous piece per rank.
    const auto ranks_with =
        comm_.sum({contiguous ? 0 : 1, pieces.empty() ? 0 : 1, pieces.size() > 1 ? 1 : 0});
    const bool without_views = ranks_with[0] == 0;
    std::int64_t rounds = std::min<std::int64_t>(1, ranks_with[1]);
    if (ranks_with[2] > 0) rounds = comm_.max(static_cast<std::int64_t>(pieces.size()));
    Status status;  // the first failure here; later rounds go on, since the other ranks wait in them
    for (std::size_t round = 0; round < static_cast<std::size_t>(rounds); ++round) {
      const Block* piece = round < pieces.size() ? &pieces[round] : nullptr;
      Status done = without_views ? transfer_run_together(variable, base, piece)
                                  : transfer_view_together(variable, base, piece);
      if (status) status = std::move(done);
    }
    return status;
  }

 private:
  int call(MPI_Offset at, const std::byte* data, int count, bool together, MPI_Status* status) {
    return together ? MPI_File_write_at_all(handle_, at, data, count, MPI_BYTE, status)
                    : MPI_File_write_at(handle_, at, data, count, MPI_BYTE, status);
  }
  int call(MPI_Offset at, std::byte* data, int count, bool together, MPI_Status* status) {
    return together ? MPI_File_read_at_all(handle_, at, data, count, MPI_BYTE, status)
                    : MPI_File_read_at(handle_, at, data, count, MPI_BYTE, status);
  }

  // One transfer of up to largest_transfer bytes, counted: MPI reports a short one as success.
  template <class Byte>
  Status move(std::uint64_t at, Byte* data, std::uint64_t bytes, bool together) {
    constexpr bool writing = std::is_const_v<Byte>;
    const std::string operation = fmt::format("{} {} bytes", writing ? "write" : "read", bytes);
    Status status;
    const auto once = [&](Byte* memory, std::uint64_t part, std::uint64_t from) -> std::int64_t {
      MPI_Status done;
      status = check_mpi(call(static_cast<MPI_Offset>(from), memory, static_cast<int>(part), together, &done),
                         operation, path_);
      int count = 0;
      if (status) MPI_Get_count(&done, MPI_BYTE, &count);
      return status ? count : -1;
    };
    std::int64_t moved = 0;
    if constexpr (writing) {
      moved = once(data, bytes, at);
    } else {
      moved = together ? once(data, bytes, at) : read_clear(data, bytes, at, once);
    }
    WEIR_TRY(status);
    if (static_cast<std::uint64_t>(moved) == bytes) return {};
    const std::string cause = fmt::format("only {} of {} bytes were transferred", moved, bytes);
    return in(Status(fail(writing ? ErrorCode::io : ErrorCode::corrupt, cause,
                          writing ? "the disk may be full" : "the file was cut off")),
              operation, path_.string());
  }

  template <class Block>
  Status transfer_runs(const Variable& variable, std::uint64_t base, std::span<const Block> blocks) {
    const std::size_t size = size_of(variable.type);
    Status status;
    for (const Block& block : blocks) {
      for_each_run(variable.shape, block.box, [&](const Run& run) {
        for (std::uint64_t at = 0; status && at < run.length * size; at += largest_transfer) {
          const std::uint64_t position = base + run.in_array * size + at;
          status = move(position, block.data + run.in_box * size + at,
                        std::min(largest_transfer, run.length * size - at), false);
        }
        return status.has_value();
      });
      if (!status) break;
    }
    return status;
  }

  template <class Block>
  Status transfer_run_together(const Variable& variable, std::uint64_t base, const Block* piece) {
    const std::size_t size = size_of(variable.type);
    Run run{0, 0, 0};
    decltype(piece->data) data = nullptr;
    if (piece != nullptr) {
      data = piece->data;
      for_each_run(variable.shape, piece->box, [&](const Run& only) {
        run = only;
        return false;
      });
    }
    const std::uint64_t position = base + run.in_array * size;
    return move(position, data, run.length * size, true);
  }

  template <class Block>
  Status transfer_view_together(const Variable& variable, std::uint64_t base, const Block* piece) {
    const std::size_t size = size_of(variable.type);
    mpi::Datatype file_type;
    if (piece != nullptr) file_type = mpi::box_in_array(variable.shape, piece->box, size);
    WEIR_TRY(
        check_mpi(MPI_File_set_view(handle_, static_cast<MPI_Offset>(base), MPI_BYTE,
                                    piece != nullptr ? file_type.get() : MPI_BYTE, "native", MPI_INFO_NULL),
                  "set the view of", path_));
    decltype(piece->data) data = piece != nullptr ? piece->data : nullptr;
    Status moved = move(0, data, piece != nullptr ? volume(piece->box.count) * size : 0, true);
    // Independent access and contiguous pieces count on the plain view.
    Status reset = check_mpi(MPI_File_set_view(handle_, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
                             "set the view of", path_);
    return moved ? reset : moved;
  }

  fs::path path_;
  mpi::Comm comm_;
  MPI_File handle_;
};

class MpiioOutput final : public RawOutput {
 public:
  MpiioOutput(const FileSpec& spec, MpiFile file)
      : RawOutput(spec),
        comm_(spec.comm),
        file_(std::move(file)),
        left_to_weir_(spec.options.text("collective_buffering") == "automatic") {
    if (comm_.rank() != 0) return;
    if (const auto opened = open_file(spec.path, O_RDONLY))
      shared_locks_ = aggregation::ask_file_system(opened->get()).shared_locks;
    if (wants_early_blocks(spec.options)) blocks_ = EarlyBlocks::beside(spec.path);
  }

  Status write(const Place& place, std::span<const SourceBlock> blocks) override {
    Access access = place.access;
    if (access == Access::collective) {
      if (goes_alone(place)) {
        access = Access::independent;
        blocks_.ask_for(layout().offset(place), bytes_of(place));
      } else {
        WEIR_TRY(prepare_collective(place, blocks));
        note_way(place, blocks);
      }
    }
    return file_.transfer(layout().variable(place.variable), layout().offset(place), access, blocks);
  }
  Status close() override {
    blocks_.finish();
    WEIR_TRY(file_.close());
    if (comm_.rank() != 0) return {};
    // Arrays whose tail nobody wrote still have their full length. MPI_File_set_size takes milliseconds even
    // when there is nothing to do.
    std::error_code error;
    if (fs::file_size(file_.path(), error) < layout().size())
      fs::resize_file(file_.path(), layout().size(), error);
    if (error) return fail_errno(error.value(), "set the size of", file_.path().string());
    return save_layout(file_.path(), layout());
  }

 private:
  std::uint64_t bytes_of(const Place& place) const {
    const Variable& variable = layout().variable(place.variable);
    return volume(variable.shape) * size_of(variable.type);
  }

  // Whether each rank writes by itself what all of them write in the same call: known from the slot before,
  // so that nobody has to be asked, as long as there is plenty of room. The same on every rank.
  bool goes_alone(const Place& place) {
    const auto known = alone_.find(place.variable);
    const std::uint64_t bytes = bytes_of(place);
    if (!place.repeated || !place.covered || known == alone_.end() || !known->second || bytes > plenty_)
      return false;
    plenty_ -= bytes;
    return true;
  }

  // COLLECTIVE.
  void note_way(const Place& place, std::span<const SourceBlock> blocks) {
    if (!left_to_weir_ || !place.covered) return;
    const Variable& variable = layout().variable(place.variable);
    const bool large = std::all_of(blocks.begin(), blocks.end(), [&](const SourceBlock& block) {
      return block.box.empty() || (volume(block.box.count) * size_of(variable.type) >= enough_alone &&
                                   is_one_run(variable.shape, block.box));
    });
    alone_[place.variable] = comm_.max(large && !shared_locks_ ? 0 : 1) == 0;
  }

  Status prepare_collective(const Place& place, std::span<const SourceBlock> blocks) {
    const Variable& variable = layout().variable(place.variable);
    std::uint64_t elements = 0;
    for (const SourceBlock& block : blocks) elements += volume(block.box.count);
    const Totals all = totals(comm_, file_.path(), elements, size_of(variable.type));
    if (!all.fits) return fail_errno(ENOSPC, "write", file_.path().string());
    plenty_ = all.free / 2;
    const bool whole = all.elements == volume(variable.shape);
    if (whole) blocks_.ask_for(layout().offset(place), all.elements * size_of(variable.type));
    // Collective buffering reads the gaps between the ranks' data and writes them back. Beyond the end of the
    // file there is nothing to read, and Open MPI (OMPIO's vulcan, seen in 4.1.4) then writes whatever is in
    // memory.
    if (whole || length_ == layout().size()) return {};
    length_ = layout().size();
    return file_.set_size(length_);
  }

  mpi::Comm comm_;
  MpiFile file_;
  EarlyBlocks blocks_;  // rank 0, for all
  bool left_to_weir_;   // whether data is gathered before it is written
  bool shared_locks_ =
      false;                  // rank 0: nodes lock parts of the file, and MPI may know how to keep them apart
  std::uint64_t length_ = 0;  // as set last
  std::uint64_t plenty_ = 0;  // bytes that may be written before free space is looked at again
  std::map<VariableId, bool> alone_;  // whether all ranks have large contiguous blocks
};

class MpiioInput final : public Input {
 public:
  MpiioInput(RawLayout layout, MpiFile file, bool always_together)
      : layout_(std::move(layout)), file_(std::move(file)), always_together_(always_together) {}

  const std::vector<Variable>& variables() const override { return layout_.variables(); }
  const std::vector<Attribute>& attributes() const override { return layout_.attributes(); }
  Status read(const Place& place, std::span<const TargetBlock> blocks) override {
    return file_.transfer(layout_.variable(place.variable), layout_.offset(place), place.access, blocks);
  }
  bool reads_alone(VariableId id, const Box& box) const override {
    const Variable& variable = layout_.variable(id);
    return !always_together_ && volume(box.count) * size_of(variable.type) >= enough_alone &&
           is_one_run(variable.shape, box);
  }
  Status close() override { return file_.close(); }

 private:
  RawLayout layout_;
  MpiFile file_;
  bool always_together_;  // the user asked for collective buffering
};

Result<std::unique_ptr<Output>> create(const FileSpec& spec) {
  // Not MPI_File_set_size(0), which takes milliseconds.
  std::error_code error;
  if (spec.comm.rank() == 0) fs::remove(spec.path, error);
  spec.comm.barrier();
  WEIR_ASSIGN(MpiFile file, MpiFile::open(spec, MPI_MODE_CREATE | MPI_MODE_RDWR));
  return std::make_unique<MpiioOutput>(spec, std::move(file));
}

Result<std::unique_ptr<Input>> open(const FileSpec& spec) {
  WEIR_ASSIGN(RawLayout layout, mpi::agree(spec.comm, load_layout(spec)));
  WEIR_ASSIGN(MpiFile file, MpiFile::open(spec, MPI_MODE_RDONLY));
  return std::make_unique<MpiioInput>(std::move(layout), std::move(file),
                                      spec.options.text("collective_buffering") == "on");
}

}  // namespace

Entry mpiio_entry() {
  const std::int64_t most = INT32_MAX;
  return {.name = "mpiio",
          .summary = "plain file + FILE.json, written by MPI-IO",
          .options = {{.name = "alignment",
                       .kind = Option::Kind::bytes,
                       .fallback = "1",
                       .help = "each array starts at a multiple of this",
                       .least = 1,
                       .most = std::int64_t{1} << 40},
                      early_blocks_option(),
                      {.name = "collective_buffering",
                       .kind = Option::Kind::word,
                       .fallback = "automatic",
                       .help = "gather data on some ranks before writing",
                       .words = {"automatic", "on", "off"}},
                      {.name = "aggregators",
                       .kind = Option::Kind::integer,
                       .fallback = "0",
                       .help = "how many ranks write (0: as MPI chooses)",
                       .least = 0,
                       .most = most},
                      {.name = "buffer",
                       .kind = Option::Kind::bytes,
                       .fallback = "0",
                       .help = "collective buffer per aggregator, at least 4KiB (0: as MPI chooses; an I/O "
                               "server a 32nd of its budget at most)",
                       // With 1 byte, Open MPI (OMPIO, seen in 4.1.4) writes nothing and reports success.
                       .least = 4096,
                       .most = most,
                       .or_zero = true},
                      {.name = "stripes",
                       .kind = Option::Kind::integer,
                       .fallback = "0",
                       .help = "storage targets of a new file (0: as the file system chooses)",
                       .least = 0,
                       .most = most},
                      {.name = "stripe_size",
                       .kind = Option::Kind::bytes,
                       .fallback = "0",
                       .help = "bytes per stripe of a new file (0: as the file system chooses)",
                       .least = 0,
                       .most = most}},
          .extensions = {".mpiio"},
          .companions = {sidecar_suffix},
          .needs_mpi = true,
          .keeps_books_only = true,
          .create = create,
          .open = open};
}

}  // namespace weir::backends
