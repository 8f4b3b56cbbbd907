#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "backends/early_blocks.hpp"
#include "backends/hdf5_file.hpp"
#include "backends/hdf5_pieces.hpp"
#include "backends/room.hpp"
#include "core/file.hpp"

namespace weir::backends::hdf5 {

namespace {

// One call of the library moves at most this much of a rank: MPI counts are 32-bit in places, and for
// compressed data the library holds a copy.
constexpr std::uint64_t most_per_transfer = std::uint64_t{1} << 30;
constexpr std::uint64_t most_per_compressed_transfer = std::uint64_t{64} << 20;
constexpr std::uint64_t largest_chunk = std::uint64_t{1} << 30;  // the format allows 4 GiB
struct Stored {
  Variable variable;
  DataSet set;
  DataSpace space;  // of the file; a write selects its part in it
  DataType type;
  Extent chunk;                                   // of a stepped variable, without the slot
  bool filtered = false;                          // chunks are compressed
  std::optional<std::uint64_t> long_enough = {};  // the slot that lengthen_file saw last
  std::optional<std::uint64_t> asked_for = {};    // the slot whose blocks were asked for last
};

// Selects a piece of the array in the space of the file, nothing if there is none; returns the space in
// memory that goes with it.
DataSpace select(const Stored& stored, std::uint64_t slot, const Piece* piece) {
  const std::size_t rank = stored.variable.shape.size() + (stored.variable.stepped ? 1 : 0);
  std::vector<hsize_t> start(rank, 0);
  std::vector<hsize_t> count(rank, 1);
  if (piece == nullptr) {
    DataSpace memory(H5Screate_simple(static_cast<int>(rank), count.data(), nullptr));
    H5Sselect_none(memory.get());
    H5Sselect_none(stored.space.get());
    return memory;
  }
  if (stored.variable.stepped) start[0] = slot;
  std::copy(piece->box.offset.rbegin(), piece->box.offset.rend(), start.rbegin());
  std::copy(piece->box.count.rbegin(), piece->box.count.rend(), count.rbegin());
  H5Sselect_hyperslab(stored.space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  // The same dimensions in memory and in the file: otherwise the library goes through chunks element by
  // element.
  return DataSpace(H5Screate_simple(static_cast<int>(rank), count.data(), nullptr));
}

class Hdf5Output final : public Output {
 public:
  Hdf5Output(const FileSpec& spec, File file)
      : path_(spec.path),
        comm_(spec.comm),
        file_(std::move(file)),
        deflate_(static_cast<unsigned>(spec.options.integer("deflate"))),
        shuffle_(spec.options.flag("shuffle")),
        chunk_(static_cast<std::uint64_t>(spec.options.integer("chunk"))),
        old_format_(spec.options.text("libver") == "earliest"),
        transfer_(spec.options.text("transfer")),
        links_(H5Pcreate(H5P_LINK_CREATE)),
        together_(H5Pcreate(H5P_DATASET_XFER)) {
    H5Pset_create_intermediate_group(links_.get(), 1);
    H5Pset_char_encoding(links_.get(), H5T_CSET_UTF8);
    if (parallel()) H5Pset_dxpl_mpio(together_.get(), H5FD_MPIO_COLLECTIVE);
    if (comm_.rank() == 0 && deflate_ == 0 && wants_early_blocks(spec.options))
      blocks_ = EarlyBlocks::beside(path_);
  }

  ~Hdf5Output() override {
    if (file_) give_up();
  }

  Status define(const Variable& variable) override;
  Status set_attribute(const Attribute& attribute) override;
  Status reserve(VariableId variable, std::uint64_t slot, std::int64_t step) override;
  Status write(const Place& place, std::span<const SourceBlock> blocks) override;
  Status close() override;
  // Without compression, a new slot is a matter of metadata that is kept in memory.
  bool settles_late() const override { return deflate_ == 0; }

 private:
  bool parallel() const { return comm_.size() > 1; }
  Properties layout_of(const Variable& variable, Stored& stored) const;
  Properties access_of(const Stored& stored) const;
  Status write_piece(const Stored& stored, std::uint64_t slot, const Piece* piece, hid_t transfer);
  Status write_compressed(const Stored& stored, std::uint64_t slot, std::deque<Piece> pieces);
  bool takes_rounds(const Stored& stored, std::span<const Piece> pieces);
  Status lengthen_file(Stored& stored, std::uint64_t slot);
  void ask_for_blocks(Stored& stored, const Place& place);
  void give_up();

  std::filesystem::path path_;
  mpi::Comm comm_;
  File file_;
  unsigned deflate_;
  bool shuffle_;
  std::uint64_t chunk_;
  bool old_format_;
  std::string transfer_;
  Properties links_;
  Properties together_;
  EarlyBlocks blocks_;  // rank 0, for all
  std::vector<Stored> variables_;
  std::map<Extent, bool> fragmented_;  // by shape and element size: see takes_rounds
  bool broken_ = false;                // the library failed to close something
};

Properties Hdf5Output::layout_of(const Variable& variable, Stored& stored) const {
  Properties layout(H5Pcreate(H5P_DATASET_CREATE));
  stored.filtered = deflate_ > 0 && !Box::whole(variable.shape).empty();
  if (stored.filtered || variable.stepped) {
    stored.chunk = chunk_of(variable.shape, size_of(variable.type), stored.filtered ? chunk_ : largest_chunk);
    std::vector<hsize_t> chunk(stored.chunk.begin(), stored.chunk.end());
    if (variable.stepped) chunk.insert(chunk.begin(), 1);
    H5Pset_chunk(layout.get(), static_cast<int>(chunk.size()), chunk.data());
  }
  if (stored.filtered) {
    if (shuffle_) H5Pset_shuffle(layout.get());
    H5Pset_deflate(layout.get(), deflate_);
    // A chunk written in part must be zero elsewhere; zeros compress to nothing.
    H5Pset_fill_time(layout.get(), H5D_FILL_TIME_ALLOC);
  } else {
    // Space that was never in use reads as zero: see keep_metadata_in_memory.
    H5Pset_alloc_time(layout.get(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(layout.get(), H5D_FILL_TIME_NEVER);
  }
  return layout;
}

Properties Hdf5Output::access_of(const Stored& stored) const {
  Properties access(H5Pcreate(H5P_DATASET_ACCESS));
  if (stored.chunk.empty()) return access;
  // Without compression the library's cache of chunks would be one more copy.
  const std::size_t cache = stored.filtered ? std::max<std::size_t>(16U << 20U, 2 * chunk_) : 0;
  H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, cache, H5D_CHUNK_CACHE_W0_DEFAULT);
  return access;
}

Status Hdf5Output::define(const Variable& variable) {
  const Quiet quiet;
  WEIR_TRY(check_name(variable.name));
  Stored stored{
      .variable = variable, .set = {}, .space = {}, .type = native_type(variable.type), .chunk = {}};
  std::vector<hsize_t> now(variable.shape.begin(), variable.shape.end());
  std::vector<hsize_t> most = now;
  if (variable.stepped) {
    now.insert(now.begin(), 0);
    most.insert(most.begin(), H5S_UNLIMITED);
  }
  stored.space = DataSpace(H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data()));
  const Properties layout = layout_of(variable, stored);
  const Properties access = access_of(stored);
  stored.set = DataSet(H5Dcreate2(file_.get(), variable.name.c_str(), stored.type.get(), stored.space.get(),
                                  links_.get(), layout.get(), access.get()));
  if (!stored.set) return write_failure(path_);
  if (variable.stepped) {
    const std::int32_t yes = 1;
    WEIR_TRY(write_attribute(stored.set.get(), stepped_mark, Values::of(std::span(&yes, 1)), path_));
  }
  variables_.push_back(std::move(stored));
  return {};
}

Status Hdf5Output::set_attribute(const Attribute& attribute) {
  const Quiet quiet;
  const auto* values = std::get_if<Values>(&attribute.value);
  constexpr std::size_t most_in_old_format = 64000;
  if (old_format_ && values != nullptr && values->bytes.size() > most_in_old_format) {
    return fail(ErrorCode::unsupported, "HDF5's earliest format holds no attribute of more than 64 KB",
                "use the option libver=v18, or make it a variable");
  }
  hid_t object = file_.get();
  if (!attribute.variable.empty()) {
    const auto owner = std::find_if(variables_.begin(), variables_.end(), [&](const Stored& stored) {
      return stored.variable.name == attribute.variable;
    });
    if (owner == variables_.end()) {
      return fail(ErrorCode::not_found,
                  fmt::format("there is no variable '{}' to carry an attribute", attribute.variable));
    }
    object = owner->set.get();
  }
  return write_attribute(object, attribute.name, attribute.value, path_);
}

Status Hdf5Output::reserve(VariableId variable, std::uint64_t slot, std::int64_t) {
  Stored& stored = variables_.at(variable);
  if (!stored.variable.stepped) return {};
  const Quiet quiet;
  std::vector<hsize_t> now = {slot + 1};
  now.insert(now.end(), stored.variable.shape.begin(), stored.variable.shape.end());
  if (H5Dset_extent(stored.set.get(), now.data()) < 0) return write_failure(path_);
  H5Sset_extent_simple(stored.space.get(), static_cast<int>(now.size()), now.data(), nullptr);
  return {};
}

// COLLECTIVE. MPI's collective buffering reads what lies between the pieces that ranks write, and writes it
// back. Behind the end of the file it reads nothing and writes back whatever its buffer held. So rank 0 first
// writes the last element of each part of the array, as it is.
Status Hdf5Output::lengthen_file(Stored& stored, std::uint64_t slot) {
  const Extent& shape = stored.variable.shape;
  if (stored.filtered || stored.long_enough == slot || Box::whole(shape).empty()) return {};
  stored.long_enough = slot;
  comm_.barrier();  // what ranks wrote independently before this call has arrived
  if (comm_.rank() != 0) return {};
  const Extent& part = stored.chunk.empty() ? shape : stored.chunk;
  std::array<std::byte, 64> element{};
  Extent corner(shape.size(), 0);
  for (bool more = true; more;) {
    Piece last{{corner, Extent(shape.size(), 1)}, element.data()};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      last.box.offset[d] = std::min(shape[d], corner[d] + part[d]) - 1;
    }
    const DataSpace memory = select(stored, slot, &last);
    const hid_t set = stored.set.get();
    if (H5Dread(set, stored.type.get(), memory.get(), stored.space.get(), H5P_DEFAULT, element.data()) < 0 ||
        H5Dwrite(set, stored.type.get(), memory.get(), stored.space.get(), H5P_DEFAULT, element.data()) < 0) {
      return write_failure(path_);
    }
    more = false;
    for (std::size_t d = shape.size(); d-- > 0 && !more;) {
      corner[d] += part[d];
      more = corner[d] < shape[d];
      if (!more) corner[d] = 0;
    }
  }
  return {};
}

Status Hdf5Output::write_piece(const Stored& stored, std::uint64_t slot, const Piece* piece, hid_t transfer) {
  const DataSpace memory = select(stored, slot, piece);
  const std::byte nothing{};
  const std::byte* data = piece != nullptr ? piece->data : &nothing;
  if (H5Dwrite(stored.set.get(), stored.type.get(), memory.get(), stored.space.get(), transfer, data) < 0) {
    return write_failure(path_);
  }
  return {};
}

// COLLECTIVE. Whether all ranks write their pieces in rounds of collective calls, or each for itself. What
// was found for one array holds for all of its shape, so that a program pays once for asking all ranks.
bool Hdf5Output::takes_rounds(const Stored& stored, std::span<const Piece> pieces) {
  if (stored.filtered || transfer_ == "collective") return true;
  if (transfer_ == "independent") return false;
  const std::size_t element_size = size_of(stored.variable.type);
  Extent shape = stored.variable.shape;
  shape.push_back(element_size);
  const auto [entry, is_new] = fragmented_.try_emplace(std::move(shape), false);
  if (is_new) {
    const bool mine = std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
      return is_fragmented(piece.box, stored.variable.shape, element_size);
    });
    entry->second = comm_.max(mine ? 1 : 0) != 0;
  }
  return entry->second;
}

// The bytes of the chunks that a box touches: compressed, it takes no more.
std::uint64_t most_room_of(const Stored& stored, const Box& box) {
  std::uint64_t bytes = size_of(stored.variable.type);
  for (std::size_t d = 0; d < box.offset.size(); ++d) {
    const std::uint64_t length = stored.chunk[d];
    const std::uint64_t first = box.offset[d] / length;
    const std::uint64_t last = (box.offset[d] + box.count[d] - 1) / length;
    bytes *= (last - first + 1) * length;
  }
  return bytes;
}

// COLLECTIVE. How much room data takes once it is compressed is not known before, and a disk must not be
// full inside a collective call. So what all ranks write in one call would fit as it is: where little is
// free, they write less at a time, and look again.
Status Hdf5Output::write_compressed(const Stored& stored, std::uint64_t slot, std::deque<Piece> pieces) {
  const std::size_t size = size_of(stored.variable.type);
  const std::uint64_t chunk = volume(stored.chunk) * size;
  Status status;  // a rank that failed goes on without data: the others wait for it
  while (true) {
    if (!status) pieces.clear();
    const Piece* piece = pieces.empty() ? nullptr : &pieces.front();
    const std::uint64_t bytes = piece != nullptr ? volume(piece->box.count) * size : 0;
    const auto all = comm_.sum(
        {static_cast<std::int64_t>(piece != nullptr ? most_room_of(stored, piece->box) : 0),
         static_cast<std::int64_t>(comm_.rank() == 0 ? free_space(path_) : 0), bytes > chunk ? 1 : 0});
    const std::int64_t needed = all[0], free = all[1], could_write_less = all[2];
    if (needed == 0) return status;
    if (needed <= free) {
      status = write_piece(stored, slot, piece, together_.get());
      if (piece != nullptr) pieces.pop_front();
    } else if (could_write_less == 0) {
      return fail_errno(ENOSPC, "write", path_.string());
    } else if (bytes > chunk) {
      const SourceBlock block{piece->box, piece->data};
      pieces.pop_front();
      const std::vector<Piece> halves = pieces_of({&block, 1}, size, bytes / 2);
      pieces.insert(pieces.begin(), halves.begin(), halves.end());
    }
  }
}

// Where the library puts the slot is not known, but it is new, and so at the end.
void Hdf5Output::ask_for_blocks(Stored& stored, const Place& place) {
  if (!place.covered || stored.filtered || stored.asked_for == place.slot) return;
  stored.asked_for = place.slot;
  blocks_.ask_for_growth(volume(stored.variable.shape) * size_of(stored.variable.type));
}

Status Hdf5Output::write(const Place& place, std::span<const SourceBlock> blocks) {
  Stored& stored = variables_.at(place.variable);
  const bool collective = place.access == Access::collective;
  if (parallel() && stored.filtered && !collective) {
    return fail(ErrorCode::unsupported, "HDF5 compresses only what all ranks write together",
                "write collectively, or without the option deflate");
  }
  ask_for_blocks(stored, place);
  const Quiet quiet;
  const std::uint64_t most = !parallel()       ? UINT64_MAX
                             : stored.filtered ? most_per_compressed_transfer
                                               : most_per_transfer;
  const std::vector<Piece> pieces = pieces_of(blocks, size_of(stored.variable.type), most);
  if (!parallel() || !collective || !takes_rounds(stored, pieces)) {
    for (const Piece& piece : pieces) WEIR_TRY(write_piece(stored, place.slot, &piece, H5P_DEFAULT));
    return {};
  }
  if (stored.filtered) return write_compressed(stored, place.slot, {pieces.begin(), pieces.end()});
  // A rank that failed goes on without data: the others wait for it in every round.
  Status status = lengthen_file(stored, place.slot);
  const auto rounds = static_cast<std::size_t>(comm_.max(static_cast<std::int64_t>(pieces.size())));
  for (std::size_t round = 0; round < rounds; ++round) {
    const Piece* piece = round < pieces.size() && status ? &pieces[round] : nullptr;
    const std::uint64_t bytes =
        piece != nullptr ? volume(piece->box.count) * size_of(stored.variable.type) : 0;
    WEIR_TRY(check_room(comm_, path_, bytes));
    const Status written = write_piece(stored, place.slot, piece, together_.get());
    if (status) status = written;
  }
  return status;
}

Status Hdf5Output::close() {
  const Quiet quiet;
  std::size_t metadata = 0;
  H5Fget_mdc_size(file_.get(), nullptr, nullptr, &metadata, nullptr);
  WEIR_TRY(check_room(comm_, path_, comm_.rank() == 0 ? metadata : 0));
  bool closed = true;
  for (Stored& stored : variables_) closed = stored.set.close() && closed;
  variables_.clear();
  broken_ = !closed;
  if (!closed) return write_failure(path_);
  broken_ = true;
  if (H5Fclose(file_.get()) < 0) return write_failure(path_);
  blocks_.finish();
  file_.release();
  forget_open_file();
  return {};
}

void Hdf5Output::give_up() {
  const Quiet quiet;
  if (parallel() || broken_) {
    // Closing would wait for the other ranks, or end in a crash. The handles stay open, so at least the space
    // is given back.
    [[maybe_unused]] const int truncated = ::truncate(path_.c_str(), 0);  // it may have been removed already
    for (Stored& stored : variables_) stored.set.release();
    file_.release();
    return;
  }
  // The library writes while it closes, and does not survive a failure of that. So it writes to memory, not
  // to a disk that may be full.
  void* handle = nullptr;
  const Descriptor memory(::memfd_create("weir", MFD_CLOEXEC));
  if (H5Fget_vfd_handle(file_.get(), H5P_DEFAULT, &handle) >= 0 && handle != nullptr && memory) {
    [[maybe_unused]] const int replaced = ::dup2(memory.get(), *static_cast<int*>(handle));
  }
  variables_.clear();
  if (file_.close()) forget_open_file();
}

// HDF5 hands out space at the end of the file again after it has freed metadata there. If that metadata had
// been written by then, an array placed there would not be zero where nobody writes. So metadata waits for
// close().
void keep_metadata_in_memory(const Properties& access) {
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  H5Pget_mdc_config(access.get(), &config);
  config.evictions_enabled = false;
  config.incr_mode = H5C_incr__off;
  config.flash_incr_mode = H5C_flash_incr__off;
  config.decr_mode = H5C_decr__off;
  H5Pset_mdc_config(access.get(), &config);
}

Status try_to_create(const FileSpec& spec) {
  int error = 0;
  if (spec.comm.rank() == 0) {
    const Descriptor file(::open(spec.path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0666));
    if (!file) error = errno;
    // ext4 flushes a file on closing that was cut to nothing after it was made; so HDF5 makes its own,
    // afresh.
    if (file && spec.comm.size() == 1) ::unlink(spec.path.c_str());
  }
  error = static_cast<int>(spec.comm.max(error));
  if (error != 0) return fail_errno(error, {}, {});
  return {};
}

}  // namespace

Result<std::unique_ptr<Output>> create_output(const FileSpec& spec) {
  const Quiet quiet;
  const bool parallel = spec.comm.size() > 1;
  if (parallel && spec.options.integer("deflate") > 0 && spec.options.text("transfer") == "independent") {
    return fail(ErrorCode::unsupported, "HDF5 compresses only what all ranks write together",
                "leave out the option transfer=independent, or deflate");
  }
  // MPI says little about why a file cannot be made, and on one rank only; the operating system says it
  // exactly.
  WEIR_TRY(try_to_create(spec));
  const Properties access(H5Pcreate(H5P_FILE_ACCESS));
  const Properties creation(H5Pcreate(H5P_FILE_CREATE));
  const std::string& version = spec.options.text("libver");
  const H5F_libver_t oldest = version == "earliest" ? H5F_LIBVER_EARLIEST
                              : version == "v18"    ? H5F_LIBVER_V18
                                                    : H5F_LIBVER_LATEST;
  H5Pset_libver_bounds(access.get(), oldest, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  if (spec.options.integer("deflate") == 0) keep_metadata_in_memory(access);
  if (const auto alignment = static_cast<hsize_t>(spec.options.integer("alignment")); alignment > 0) {
    constexpr hsize_t smallest_aligned = 64U << 10U;
    H5Pset_alignment(access.get(), std::min(alignment, smallest_aligned), alignment);
  }
  if (parallel && H5Pset_fapl_mpio(access.get(), spec.comm.get(), MPI_INFO_NULL) < 0) {
    return write_failure(spec.path);
  }
  note_open_file();
  File file(
      H5Fcreate(spec.path.c_str(), parallel ? H5F_ACC_TRUNC : H5F_ACC_EXCL, creation.get(), access.get()));
  if (!file) {
    auto failure = write_failure(spec.path);
    if (!parallel) forget_open_file();
    return failure;
  }
  return std::make_unique<Hdf5Output>(spec, std::move(file));
}

}  // namespace weir::backends::hdf5
