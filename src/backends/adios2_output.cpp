#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "backends/adios2_files.hpp"
#include "backends/adios2_folder.hpp"
#include "backends/adios2_notes.hpp"
#include "backends/early_blocks.hpp"
#include "core/file.hpp"

namespace weir::backends::bp {

namespace fs = std::filesystem;

namespace {

// From this many bytes a rank, BP5 data goes straight from the caller's memory to the file; smaller blocks
// are copied, gathered.
constexpr std::int64_t direct_from = 256 << 10;
// Of those, smaller blocks are copied nevertheless; ADIOS2 by itself copies all below 4 MiB.
constexpr std::int64_t direct_block = 64 << 10;
// Bytes of metadata that a step may add to a file besides its data, for every rank; only to notice a full
// disk in time.
constexpr std::int64_t metadata_room = 8 << 10;
// What BP4 adds to a block in its buffer is less: two names, which have 64 KiB at most, and headers.
constexpr std::uint64_t bp4_headers = 144U << 10U;
// However little memory there is: writes of less would be too many, and in BP4 blocks.
constexpr std::uint64_t least_gathered = 1U << 20U;
// Data files of a node, unless told otherwise: one keeps the ranks of a node waiting for each other, as many
// as ranks would be too many for a parallel file system.
constexpr std::int64_t files_per_node = 4;
// HDF5 hands each piece to MPI-IO, where counts beyond 2^31 bytes are not safe in every MPI.
constexpr std::uint64_t hdf5_piece = std::uint64_t{1} << 30;

struct Slot {
  std::int64_t step = 0;         // the program's number
  std::uint64_t adios_step = 0;  // ADIOS2's
  std::int64_t elements = 0;     // written by this rank
  int collective_writes = 0;
  bool made = false;  // HDF5: the data set is there
};

struct Defined {
  Variable variable;
  adios2::VariableNT handle;
  std::vector<Slot> slots;
  bool empty() const { return Box::whole(variable.shape).empty(); }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(volume(variable.shape) * size_of(variable.type));
  }
};

// A process by itself has HDF5 write without MPI.
bool transfers_collectively(const FileSpec& spec) {
  return spec.options.text("transfer") == "collective" && spec.comm.size() > 1;
}

class Adios2Output final : public Output {
 public:
  // `bp4_room` as configured.
  Adios2Output(Format format, const FileSpec& spec, Library library, std::int64_t budget,
               std::uint64_t bp4_room)
      : format_(format),
        path_(spec.path),
        comm_(spec.comm),
        options_(spec.options),
        library_(std::move(library)),
        budget_(budget),
        bp4_room_(bp4_room) {
    if (format == Format::bp5) {
      gathered_ = options_.integer("buffer");
      if (spec.memory > 0)
        gathered_ = std::min(gathered_, static_cast<std::int64_t>(std::max(spec.memory, least_gathered)));
    }
    collective_transfer_ = format == Format::hdf5 && transfers_collectively(spec);
    compressed_ = format != Format::hdf5 && options_.text("compression") != "none";
    if (format == Format::hdf5 && comm_.rank() == 0 && wants_early_blocks(options_))
      blocks_ = EarlyBlocks::beside(path_);
  }
  ~Adios2Output() override {
    if (!closed_) library_.abandon();
  }

  Status define(const Variable& variable) override;
  Status set_attribute(const Attribute& attribute) override;
  Status reserve(VariableId id, std::uint64_t slot, std::int64_t step) override;
  Status reserve_to_write(VariableId id, std::uint64_t slot, std::int64_t step) override;
  Status write(const Place& place, std::span<const SourceBlock> blocks) override;
  Status close() override;
  bool settles_late() const override { return format_ == Format::hdf5 && !collective_transfer_; }

 private:
  Status begin_step();
  Status end_step();
  Status mark_step();
  Status store_notes();
  Status write_bp4(Defined& target, std::span<const SourceBlock> blocks, Access access);
  Status put_in_portions(Defined& target, std::span<const SourceBlock> blocks);
  Status write_bp5(Defined& target, Slot& slot, std::span<const SourceBlock> blocks, Access access);
  Status write_hdf5(Defined& target, Slot& slot, std::span<const SourceBlock> blocks, const Place& place);
  void put(Defined& target, const Box& box, const std::byte* data, adios2::Mode mode);
  Status guard(std::string_view operation, const std::function<void()>& call) {
    return guarded(format_, operation, path_, call);
  }
  Status check_room(std::int64_t bytes_here) const;

  Format format_;
  fs::path path_;
  mpi::Comm comm_;
  Options options_;
  Library library_;
  // Bytes that can be reserved before free space has to be watched; the same on all ranks.
  std::int64_t budget_;
  std::uint64_t bp4_room_;     // BP4: bytes that ADIOS2 holds before it writes them; 0: a whole step
  std::int64_t gathered_ = 0;  // BP5: bytes of small blocks that a rank gathers
  std::int64_t small_ = 0;     // BP5: bytes of small variables since data was written, of all ranks, on each
  EarlyBlocks blocks_;         // HDF5, rank 0, for all
  bool collective_transfer_ = false;
  bool compressed_ = false;  // nobody knows how many bytes will be written

  std::vector<Defined> variables_;
  std::vector<Attribute> attributes_;
  adios2::Variable<std::int64_t> marker_;
  bool step_is_open_ = false;
  bool wrote_in_step_ = false;      // this rank, something
  std::int64_t step_number_ = 0;    // the program's, of the open step
  bool step_has_number_ = false;    // false: only variables without steps so far
  std::uint64_t adios_step_ = 0;    // of the open step
  std::int64_t buffered_here_ = 0;  // bytes that ADIOS2 holds and has not written, on this rank
  bool closed_ = false;
};

// ADIOS2 has no way back from a disk that fills up in the middle of a collective call: ranks that fail leave
// the others waiting. So a shortage is noticed before, by all. COLLECTIVE, but only where space is scarce:
// with plenty of it, nobody is asked.
Status Adios2Output::check_room(std::int64_t bytes_here) const {
  if (compressed_ || budget_ >= 0) return {};
  const auto together =
      comm_.sum({bytes_here, comm_.rank() == 0 ? static_cast<std::int64_t>(free_space(path_)) : 0});
  if (together[0] <= together[1]) return {};
  Failure failure = fail_errno(ENOSPC, "write", path_.string()).value();
  failure.cause += fmt::format(" ({} needed, {} free)", format_bytes(static_cast<std::uint64_t>(together[0])),
                               format_bytes(static_cast<std::uint64_t>(together[1])));
  return tl::make_unexpected(std::move(failure));
}

Status Adios2Output::define(const Variable& variable) {
  Defined defined{.variable = variable, .handle = {}, .slots = {}};
  if (!defined.empty()) {
    WEIR_TRY(guard(fmt::format("define variable '{}'", variable.name), [&] {
      const adios2::Dims shape(variable.shape.begin(), variable.shape.end());
      const adios2::Dims nothing(shape.size(), 0);
      defined.handle =
          library_.io().DefineVariable(to_adios2(variable.type), variable.name, shape, nothing, nothing);
      if (!compressed_) return;
      defined.handle.AddOperation(options_.text("compression"),
                                  {{"clevel", std::to_string(options_.integer("level"))}});
    }));
  }
  variables_.push_back(std::move(defined));
  return {};
}

Status Adios2Output::set_attribute(const Attribute& attribute) {
  // All are defined when the file is closed: ADIOS2 refuses to change the type of one, and shows those of the
  // last step.
  const auto same = [&](const Attribute& other) {
    return other.variable == attribute.variable && other.name == attribute.name;
  };
  const auto known = std::find_if(attributes_.begin(), attributes_.end(), same);
  if (known != attributes_.end()) {
    known->value = attribute.value;
  } else {
    attributes_.push_back(attribute);
  }
  return {};
}

Status Adios2Output::begin_step() {
  WEIR_TRY(guard("begin a step", [&] { library_.engine().BeginStep(); }));
  step_is_open_ = true;
  step_has_number_ = false;
  return {};
}

Status Adios2Output::reserve_to_write(VariableId id, std::uint64_t slot, std::int64_t step) {
  Defined& target = variables_.at(id);
  if (slot != target.slots.size()) throw std::logic_error("slots are reserved in order");
  const bool new_step = target.variable.stepped && step_has_number_ && step_number_ != step;
  // A variable without steps shares the open step, but one step of ADIOS2 holds a variable only once.
  const bool taken = !target.slots.empty() && target.slots.back().adios_step == adios_step_;
  if (step_is_open_ && (new_step || taken)) WEIR_TRY(end_step());
  if (!step_is_open_) WEIR_TRY(begin_step());
  if (target.variable.stepped) {
    step_number_ = step;
    step_has_number_ = true;
  }
  target.slots.push_back({.step = step, .adios_step = adios_step_});
  budget_ -= target.bytes();
  return {};
}

Status Adios2Output::reserve(VariableId id, std::uint64_t slot, std::int64_t step) {
  WEIR_TRY(reserve_to_write(id, slot, step));
  // Making a data set is collective in HDF5, writing to it is not. With one rank, ADIOS2 removes data sets
  // that have no data.
  Defined& target = variables_.at(id);
  if (format_ != Format::hdf5 || comm_.size() == 1 || target.empty()) return {};
  target.slots.back().made = true;
  const Extent nothing(target.variable.shape.size(), 0);
  return guard(fmt::format("reserve variable '{}'", target.variable.name), [&] {
    put(target, {nothing, nothing}, nullptr, adios2::Mode::Sync);
  });
}

void Adios2Output::put(Defined& target, const Box& box, const std::byte* data, adios2::Mode mode) {
  target.handle.SetSelection({{box.offset.begin(), box.offset.end()}, {box.count.begin(), box.count.end()}});
  library_.engine().Put(target.handle, static_cast<const void*>(data), mode);
}

Status Adios2Output::write(const Place& place, std::span<const SourceBlock> blocks) {
  Defined& target = variables_.at(place.variable);
  if (place.slot >= target.slots.size()) throw std::logic_error("a slot is reserved before it is written");
  Slot& slot = target.slots[place.slot];
  if (!step_is_open_ || slot.adios_step != adios_step_) {
    return fail(ErrorCode::state, fmt::format("ADIOS2 writes steps in order: step {} has ended", slot.step),
                "write all variables of a step before the next one");
  }
  if (target.empty()) return {};
  std::vector<SourceBlock> full;
  for (const SourceBlock& block : blocks) {
    if (block.box.empty()) continue;
    full.push_back(block);
    wrote_in_step_ = true;
    slot.elements += static_cast<std::int64_t>(volume(block.box.count));
  }
  switch (format_) {
    case Format::bp4:
      return write_bp4(target, full, place.access);
    case Format::bp5:
      return write_bp5(target, slot, full, place.access);
    case Format::hdf5:
      return write_hdf5(target, slot, full, place);
  }
  return {};
}

// BP4 keeps a step in memory until it ends, unless there is a bound; blocks that are put together are copied
// there after a single reallocation.
Status Adios2Output::write_bp4(Defined& target, std::span<const SourceBlock> blocks, Access access) {
  for (const SourceBlock& block : blocks)
    buffered_here_ += static_cast<std::int64_t>(volume(block.box.count) * size_of(target.variable.type));
  if (bp4_room_ != 0) {
    if (access == Access::collective) WEIR_TRY(check_room(buffered_here_));
    buffered_here_ = std::min(buffered_here_, static_cast<std::int64_t>(bp4_room_));
    return put_in_portions(target, blocks);
  }
  return guard(fmt::format("write variable '{}'", target.variable.name), [&] {
    const auto mode = blocks.size() == 1 ? adios2::Mode::Sync : adios2::Mode::Deferred;
    for (const SourceBlock& block : blocks) put(target, block.box, block.data, mode);
    library_.engine().PerformPuts();
  });
}

// ADIOS2 writes what it holds when a put does not fit beside it, and refuses one that would not fit by
// itself. Deferred puts it does not check.
Status Adios2Output::put_in_portions(Defined& target, std::span<const SourceBlock> blocks) {
  const std::size_t size = size_of(target.variable.type);
  return guard(fmt::format("write variable '{}'", target.variable.name), [&] {
    for (const SourceBlock& block : blocks) {
      for (const Box& portion : split(block.box, (bp4_room_ - bp4_headers) / size))
        put(target, portion, block.data + position_of(portion, block.box) * size, adios2::Mode::Sync);
    }
  });
}

// Blocks go to the file before the call returns, without a copy, where that is collective and worth it, or
// where small ones have become many; all ranks have to come to the same decision. The shape tells for the
// first calls; a slot that is written in many calls is asked about.
Status Adios2Output::write_bp5(Defined& target, Slot& slot, std::span<const SourceBlock> blocks,
                               Access access) {
  std::int64_t bytes = 0;
  for (const SourceBlock& block : blocks) {
    bytes += static_cast<std::int64_t>(volume(block.box.count) * size_of(target.variable.type));
  }
  buffered_here_ += bytes;
  bool direct = access == Access::collective && target.bytes() >= direct_from * comm_.size();
  constexpr int few = 4;
  if (access == Access::collective && slot.collective_writes++ == 0 && !direct) small_ += target.bytes();
  if (direct && slot.collective_writes > few) {
    const auto together = comm_.sum({bytes, buffered_here_});
    direct = together[0] >= direct_from * comm_.size() || together[1] >= gathered_ * comm_.size();
  }
  direct = direct || (access == Access::collective && small_ > gathered_ * comm_.size());
  if (direct) WEIR_TRY(check_room(buffered_here_));
  return guard(fmt::format("write variable '{}'", target.variable.name), [&] {
    for (const SourceBlock& block : blocks) {
      put(target, block.box, block.data, direct ? adios2::Mode::Deferred : adios2::Mode::Sync);
    }
    if (!direct) return;
    library_.engine().PerformDataWrite();
    buffered_here_ = 0;
    small_ = 0;
  });
}

Status Adios2Output::write_hdf5(Defined& target, Slot& slot, std::span<const SourceBlock> blocks,
                                const Place& place) {
  const Access access = place.access;
  if (collective_transfer_ && access == Access::independent) {
    return fail(ErrorCode::unsupported, "with transfer=collective all ranks have to write together",
                "write collectively, or set transfer=independent");
  }
  const std::size_t size = size_of(target.variable.type);
  std::int64_t bytes = 0;
  std::vector<SourceBlock> pieces;
  for (const SourceBlock& block : blocks) {
    for (Box& piece : split(block.box, hdf5_piece / size)) {
      const std::byte* data = block.data + position_of(piece, block.box) * size;
      bytes += static_cast<std::int64_t>(volume(piece.count) * size);
      pieces.push_back({std::move(piece), data});
    }
  }
  if (access == Access::collective) WEIR_TRY(check_room(bytes));
  if (place.covered && slot.collective_writes++ == 0)
    blocks_.ask_for_growth(static_cast<std::uint64_t>(target.bytes()));
  // A collective transfer needs every rank in every round, and making the data set needs every rank once.
  const bool makes = !std::exchange(slot.made, true) && comm_.size() > 1;
  const std::size_t least = makes ? std::max<std::size_t>(1, pieces.size()) : pieces.size();
  const auto rounds =
      collective_transfer_ ? static_cast<std::size_t>(comm_.max(static_cast<std::int64_t>(least))) : least;
  const Extent nothing(target.variable.shape.size(), 0);
  pieces.resize(rounds, {{nothing, nothing}, nullptr});
  return guard(fmt::format("write variable '{}'", target.variable.name), [&] {
    for (const SourceBlock& piece : pieces) put(target, piece.box, piece.data, adios2::Mode::Sync);
  });
}

// BP4 cannot read a file that has a step in which no rank wrote anything, and one rank does not know of the
// others.
Status Adios2Output::mark_step() {
  return guard("end a step", [&] {
    if (!marker_) marker_ = library_.io().DefineVariable<std::int64_t>(std::string(step_marker));
    library_.engine().Put(marker_, step_number_, adios2::Mode::Sync);
  });
}

Status Adios2Output::end_step() {
  WEIR_TRY(check_room(buffered_here_ + metadata_room));
  if (format_ == Format::bp4 && comm_.rank() == 0 && !wrote_in_step_) WEIR_TRY(mark_step());
  // With one rank, ADIOS2 looks in the HDF5 file for every variable, whether it is in this step or not.
  const Reports reports = comm_.size() == 1 ? Reports::drop : Reports::count;
  WEIR_TRY(guarded(
      format_, "end a step", path_, [&] { library_.engine().EndStep(); }, reports));
  wrote_in_step_ = false;
  buffered_here_ = 0;
  small_ = 0;
  step_is_open_ = false;
  ++adios_step_;
  return {};
}

Status Adios2Output::store_notes() {
  std::vector<std::int64_t> elements;
  for (const Defined& defined : variables_) {
    for (const Slot& slot : defined.slots) elements.push_back(slot.elements);
  }
  elements = comm_.sum(std::move(elements));
  auto total = elements.begin();
  Notes notes;
  for (const Defined& defined : variables_) {
    notes.variables.push_back(defined.variable);
    notes.variables.back().slots = defined.slots.size();
    for (std::uint64_t slot = 0; slot < defined.slots.size(); ++slot, ++total) {
      if (*total < static_cast<std::int64_t>(volume(defined.variable.shape)))
        notes.with_gaps.emplace(defined.variable.name, slot);
      if (*total == 0) notes.unwritten.emplace(defined.variable.name, slot);
    }
  }
  return guard("store attributes",
               [&] { store_attributes(format_, library_.io(), attributes_, std::move(notes)); });
}

Status Adios2Output::close() {
  if (!step_is_open_) WEIR_TRY(mpi::agree(comm_, begin_step()));
  WEIR_TRY(mpi::agree(comm_, store_notes()));
  WEIR_TRY(mpi::agree(comm_, end_step()));
  WEIR_TRY(mpi::agree(comm_, guard("close", [&] { library_.close_written(); })));
  blocks_.finish();
  closed_ = true;
  return format_ != Format::hdf5 && comm_.rank() == 0 ? seal_folder(path_) : Status();
}

// Makes sure that ADIOS2 will be able to create its files: it would fail on one rank and leave the others
// waiting. On rank 0.
Status prepare(Format format, const fs::path& path) {
  std::error_code error;
  const fs::file_status there = fs::symlink_status(path, error);
  if (fs::is_directory(there) && folder_version(path) == 0 && !fs::is_empty(path, error)) {
    return fail_errno(EISDIR, "create", path.string());
  }
  if (fs::exists(there)) fs::remove_all(path, error);
  if (format == Format::hdf5) {
    WEIR_ASSIGN(Descriptor file, open_file(path, O_CREAT | O_WRONLY | O_TRUNC));
    WEIR_TRY(file.close(path));
    fs::remove(path, error);  // ext4 flushes a file on closing that was cut to nothing after it was made
    return {};
  }
  if (!fs::create_directory(path, error))
    return fail_errno(error ? error.value() : EEXIST, "create", path.string());
  const fs::path probe = path / "md.idx";
  WEIR_ASSIGN(Descriptor file, open_file(probe, O_CREAT | O_WRONLY | O_TRUNC));
  WEIR_TRY(write_at(file.get(), "weir", 4, 0, probe));
  return file.close(probe);
}

// COLLECTIVE. BP4 can bound its memory only where no ranks share a file, see bp4_room().
std::int64_t data_files(Format format, const FileSpec& spec) {
  if (const std::int64_t asked = spec.options.integer("aggregators"); asked > 0) return asked;
  if (format == Format::bp4 && spec.memory > 0) return spec.comm.size();
  const std::int64_t on_fullest_node = spec.comm.max(spec.comm.ranks_on_node());
  const std::int64_t ranks_per_file = (on_fullest_node + files_per_node - 1) / files_per_node;
  return (spec.comm.size() + ranks_per_file - 1) / ranks_per_file;
}

// Bytes that BP4 holds before it writes them; 0: a whole step. It writes from within a put, and where ranks
// share a data file all of them would have to take part in that.
std::uint64_t bp4_room(const FileSpec& spec, std::int64_t data_files) {
  if (spec.memory == 0 || data_files < spec.comm.size()) return 0;
  return std::max({spec.memory, static_cast<std::uint64_t>(spec.options.integer("buffer")), least_gathered});
}

void configure(Format format, const FileSpec& spec, std::int64_t data_files, adios2::IO& io) {
  const Options& options = spec.options;
  if (format == Format::hdf5) {
    io.SetParameter("H5CollectiveMPIO", transfers_collectively(spec) ? "yes" : "no");
    return;
  }
  io.SetParameter("AsyncOpen", "false");  // failures belong to create()
  io.SetParameter("NumAggregators", std::to_string(data_files));
  io.SetParameter("StatsLevel", options.flag("stats") ? "1" : "0");
  if (format == Format::bp4) {
    io.SetParameter("Profile", "off");
    io.SetParameter("InitialBufferSize", std::to_string(options.integer("buffer")));
    if (const std::uint64_t room = bp4_room(spec, data_files); room != 0)
      io.SetParameter("MaxBufferSize", std::to_string(room));
  } else {
    io.SetParameter("AggregationType", options.text("aggregation"));
    io.SetParameter("MinDeferredSize", std::to_string(direct_block));
  }
}

}  // namespace

Result<std::unique_ptr<Output>> create(Format format, const FileSpec& spec) {
  const std::string compression = format == Format::hdf5 ? "none" : spec.options.text("compression");
  if (compression != "none" && !has_compression(compression)) {
    return fail(ErrorCode::unsupported, fmt::format("this ADIOS2 was built without {}", compression),
                "leave out 'compression', or use the hdf5 backend, which has deflate");
  }
  WEIR_TRY(mpi::agree(spec.comm, spec.comm.rank() == 0 ? prepare(format, spec.path) : Status()));
  const std::int64_t budget =
      spec.comm.max(spec.comm.rank() == 0 ? static_cast<std::int64_t>(free_space(spec.path) / 2) : 0);
  const std::int64_t files = format == Format::hdf5 ? 0 : data_files(format, spec);
  std::optional<Library> library;
  Status status = guarded(format, "create", spec.path, [&] {
    library.emplace(format, spec.comm);
    configure(format, spec, files, library->io());
    library->open(spec.path, adios2::Mode::Write);
  });
  if (!status) {
    if (library) library->abandon();
    return tl::make_unexpected(std::move(status).error());
  }
  return std::make_unique<Adios2Output>(format, spec, std::move(*library), budget,
                                        format == Format::bp4 ? bp4_room(spec, files) : 0);
}

}  // namespace weir::backends::bp
