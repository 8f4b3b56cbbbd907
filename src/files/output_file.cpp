#include "files/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include "files/checksum.hpp"
#include "files/names.hpp"

namespace weir::files {

using backends::Access;
using backends::Place;
using backends::SourceBlock;

namespace {

constexpr std::uint64_t worth_a_thread = 128U
                                         << 10U;  // waking one costs as much as the checksum of some 100 KiB

std::string describe(std::optional<std::int64_t> step) {
  return step ? fmt::format(", step {}", *step) : "";
}

std::string describe_write(const std::string& name, std::optional<std::int64_t> step) {
  return fmt::format("write variable '{}'{}", name, describe(step));
}

}  // namespace

Result<std::unique_ptr<OutputFile>> OutputFile::create(const mpi::Comm& comm, const std::string& path,
                                                       const CreateOptions& options) {
  const backends::Entry* entry = nullptr;
  Options parsed;
  const Status prepared = [&]() -> Status {
    WEIR_ASSIGN(entry, options.backend.empty() ? backends::choose_for_writing(path)
                                               : backends::find(options.backend));
    if (entry->needs_mpi && comm.is_serial()) {
      return fail(ErrorCode::unsupported,
                  fmt::format("backend '{}' needs MPI, and this session is serial", entry->name),
                  "use posix");
    }
    WEIR_ASSIGN(parsed,
                parse_options(fmt::format("backend '{}'", entry->name), entry->options, options.options));
    return {};
  }();
  std::string call = fmt::format("create '{}' with backend '{}'", path, options.backend);
  for (const auto& [name, value] : options.options) call += fmt::format(" {}={}", name, value);
  call += fmt::format(" checksums={} fsync={}", options.checksums, options.fsync);
  WEIR_TRY(in(mpi::vote(comm, call, in(prepared, "create", path)), "create", path));

  WEIR_ASSIGN(Publication publication, Publication::begin(comm, path, *entry));
  auto output = mpi::agree(comm, guarded([&] {
                             return entry->create({.path = publication.temporary(),
                                                   .comm = backends::comm_for(*entry, comm),
                                                   .options = std::move(parsed)});
                           }));
  if (!output) {
    if (comm.rank() == 0) publication.discard();
    return in(Result<std::unique_ptr<OutputFile>>(
                  tl::make_unexpected(publication.in_terms_of_path(output.error()))),
              "create");
  }
  return std::unique_ptr<OutputFile>(
      new OutputFile(comm, options, *entry, std::move(publication), std::move(*output)));
}

OutputFile::OutputFile(mpi::Comm comm, CreateOptions options, const backends::Entry& entry,
                       Publication publication, std::unique_ptr<backends::Output> output)
    : comm_(std::move(comm)),
      options_(std::move(options)),
      entry_(&entry),
      publication_(std::move(publication)),
      output_(std::move(output)) {}

OutputFile::~OutputFile() {
  give_up();
}

void OutputFile::give_up() {
  if (!output_) return;
  output_.reset();
  if (comm_.rank() == 0) publication_.discard();
}

Status OutputFile::lose(Failure failure) {
  lost_ = publication_.in_terms_of_path(std::move(failure));
  return tl::make_unexpected(*lost_);
}

Status OutputFile::settle(Status mine) {
  Status together = mpi::agree(comm_, std::move(mine));
  return together ? together : lose(together.error());
}

Status OutputFile::settle_books(Status mine) {
  if (!entry_->keeps_books_only) return settle(std::move(mine));
  return mine ? mine : lose(mine.error());
}

Status OutputFile::check_usable() const {
  if (lost_) return tl::make_unexpected(*lost_);
  if (!output_) return in(Status(fail(ErrorCode::state, "the file is closed")), "use", path());
  return {};
}

Result<backends::Variable> OutputFile::resolve_variable(const std::string& name, Type type,
                                                        const Extent& shape,
                                                        std::optional<std::int64_t> step) const {
  WEIR_TRY(type_from_code(static_cast<int>(type)));
  WEIR_TRY(check_name(name));
  backends::Variable info{.name = name, .type = type, .shape = shape, .stepped = step.has_value()};
  const auto found = variables_.find(name);
  if (found == variables_.end()) {
    if (entry_->stores != nullptr && !entry_->stores(type)) {
      return fail(ErrorCode::unsupported,
                  fmt::format("backend '{}' cannot store type {}", entry_->name, name_of(type)));
    }
    WEIR_TRY(check_shape(info.shape, size_of(type)));
    WEIR_TRY(check_no_group(name));
    WEIR_TRY(check_limits(name));
    return info;
  }
  const backends::Variable& known = found->second.info;
  if (known.type != type) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the elements are {}, the variable was first written as {}", name_of(type),
                            name_of(known.type)));
  }
  if (shape.empty()) info.shape = known.shape;
  if (info.shape != known.shape) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the shape is {}, the variable was first written with {}",
                            format_extent(info.shape), format_extent(known.shape)));
  }
  if (known.stepped != info.stepped) {
    return fail(ErrorCode::invalid_argument, known.stepped ? "the variable has steps, and no step is given"
                                                           : "the variable was first written without a step");
  }
  const auto& steps = found->second.steps;
  if (step && !steps.empty() && *step < steps.back()) {
    return fail(ErrorCode::state,
                fmt::format("step {} has been written already; steps count up", steps.back()));
  }
  return info;
}

// In HDF5 'a' cannot be an array and the group of 'a/b' at once; we say so for every format.
Status OutputFile::check_no_group(const std::string& name) const {
  const auto conflict = [&](const std::string& other) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("there is a variable '{}': a name cannot be a variable and a group at once", other));
  };
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    if (variables_.count(name.substr(0, slash)) != 0) return conflict(name.substr(0, slash));
  }
  const auto below = variables_.lower_bound(name + "/");
  if (below != variables_.end() && below->first.starts_with(name + "/")) return conflict(below->first);
  return {};
}

Status OutputFile::check_limits(const std::string& name) const {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (end - begin > entry_->limits.name_part) {
      return fail(ErrorCode::unsupported,
                  fmt::format("backend '{}' stores names of at most {} bytes between slashes", entry_->name,
                              entry_->limits.name_part));
    }
    begin = end + 1;
  }
  return {};
}

Result<OutputFile::Resolved> OutputFile::resolve(const WriteRequest& request) const {
  WEIR_TRY(check_usable());
  Resolved resolved;
  WEIR_ASSIGN(resolved.info, resolve_variable(request.name, request.type, request.shape, request.step));
  resolved.box = {request.offset, request.count};
  if (resolved.box.offset.empty()) resolved.box.offset.assign(resolved.info.shape.size(), 0);
  if (resolved.box.count.empty()) resolved.box.count = resolved.info.shape;
  WEIR_TRY(check_box(resolved.box, resolved.info.shape));
  const std::uint64_t needed = volume(resolved.box.count);
  if (request.elements != as_needed && needed != request.elements) {
    return fail(ErrorCode::invalid_argument, fmt::format("the block ({}) has {} elements, the buffer {}",
                                                         format_box(resolved.box), needed, request.elements));
  }
  if (needed > 0 && request.data == nullptr)
    return fail(ErrorCode::invalid_argument, "the buffer is a null pointer");

  const auto found = variables_.find(request.name);
  resolved.fresh_slot = found == variables_.end() || found->second.steps.empty() ||
                        (request.step && *request.step != found->second.steps.back());
  if (!resolved.fresh_slot && !resolved.box.empty()) {
    for (const Box& mine : found->second.my_boxes) {
      if (intersect(mine, resolved.box)) {
        return fail(ErrorCode::invalid_argument,
                    fmt::format("the block ({}) overlaps one that this rank wrote before ({})",
                                format_box(resolved.box), format_box(mine)));
      }
    }
  }
  return resolved;
}

Status OutputFile::define(const backends::Variable& info) {
  WEIR_TRY(settle_books(guarded([&] { return output_->define(info); })));
  const auto id = static_cast<backends::VariableId>(variables_.size());
  variables_[info.name] = Known{.id = id, .info = info};
  return {};
}

// After it, the variable is defined and its newest slot is the one for this step.
Result<OutputFile::Known*> OutputFile::make_room(const backends::Variable& info,
                                                 std::optional<std::int64_t> step) {
  if (variables_.find(info.name) == variables_.end()) WEIR_TRY(define(info));
  Known& known = variables_[info.name];
  const std::int64_t number = step.value_or(last_step_);
  if (known.steps.empty() || (step && known.steps.back() != *step)) {
    WEIR_TRY(settle_books(guarded([&] { return output_->reserve(known.id, known.steps.size(), number); })));
    known.steps.push_back(number);
    known.boxes.clear();
    known.my_boxes.clear();
    last_step_ = number;
  }
  return &known;
}

// The boxes of all ranks in this write. COLLECTIVE if anything changed since the last one.
std::vector<OutputFile::RankedBox> OutputFile::arriving_boxes(const Known* known, const Box& mine,
                                                              bool changed) const {
  if (!changed) return known->decomposition;
  const std::size_t dimensions = mine.count.size();
  const std::size_t extent_bytes = dimensions * sizeof(std::uint64_t);
  std::string packed(2 * extent_bytes, '\0');
  std::memcpy(packed.data(), mine.offset.data(), extent_bytes);
  std::memcpy(packed.data() + extent_bytes, mine.count.data(), extent_bytes);
  const std::vector<std::string> all = comm_.gather_to_all(packed);
  std::vector<RankedBox> arriving;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    Box box{Extent(dimensions), Extent(dimensions)};
    std::memcpy(box.offset.data(), all[rank].data(), extent_bytes);
    std::memcpy(box.count.data(), all[rank].data() + extent_bytes, extent_bytes);
    if (!box.empty()) arriving.push_back({static_cast<int>(rank), std::move(box)});
  }
  return arriving;
}

Status OutputFile::check_overlap(const std::vector<RankedBox>& before,
                                 const std::vector<RankedBox>& arriving) {
  std::vector<RankedBox> all = before;
  all.insert(all.end(), arriving.begin(), arriving.end());
  std::vector<Box> boxes;
  for (const RankedBox& ranked : all) boxes.push_back(ranked.box);
  const auto overlap = find_overlap(boxes);
  if (!overlap) return {};
  const auto describe_block = [&](std::size_t i) {
    return fmt::format("rank {} ({})", all[i].rank, format_box(all[i].box));
  };
  return fail(ErrorCode::invalid_argument,
              fmt::format("the blocks of {} and {} overlap", describe_block(overlap->first),
                          describe_block(overlap->second)),
              "each element is written by one rank");
}

// nullptr: no thread is to be had.
Worker* OutputFile::checksum_worker() {
  try {
    if (!checksum_worker_) checksum_worker_ = std::make_unique<Worker>();
  } catch (const std::system_error&) {
  }
  return checksum_worker_.get();
}

Status OutputFile::transfer(Known& known, const WriteRequest& request, const Box& box) {
  const Place place{.variable = known.id,
                    .slot = known.steps.size() - 1,
                    .access = request.independent ? Access::independent : Access::collective};
  const SourceBlock block{box, request.data};
  const bool has_data = !box.empty();
  if (has_data) known.my_boxes.push_back(box);
  const auto write = [&] {
    return guarded([&] { return output_->write(place, {&block, has_data ? 1U : 0U}); });
  };
  if (!has_data || !options_.checksums) return write();

  // The checksum is computed while the block is being written, by another core if there is one.
  const std::uint64_t bytes = volume(box.count) * size_of(request.type);
  Errand<std::uint64_t> sum(bytes >= worth_a_thread ? checksum_worker() : nullptr,
                            [&] { return checksum(request.data, bytes); });
  Status written = write();
  append_row(known.my_checksums, place.slot, box, sum.get());
  return written;
}

Status OutputFile::write(const WriteRequest& request) {
  const bool reduced = reduces(request.reduce) || (reducing_ && reducing_->knows(request.name));
  return reduced ? write_reduced(request) : write_as_is(request);
}

Status OutputFile::write_as_is(const WriteRequest& request) {
  const auto operation = [&] { return describe_write(request.name, request.step); };
  Result<Resolved> resolved = in(resolve(request), operation, path());
  if (request.independent) {
    if (!resolved) return tl::make_unexpected(resolved.error());
    if (resolved->fresh_slot) {
      return in(Status(fail(ErrorCode::state, "no room was reserved for an independent write",
                            "call reserve() on all ranks first")),
                operation, path());
    }
    Status written = in(transfer(variables_[request.name], request, resolved->box), operation, path());
    if (!written) written.error().rank = comm_.rank();
    return written ? written : lose(written.error());
  }

  // The decomposition of a program seldom changes from step to step: then nothing needs to be gathered.
  const auto found = variables_.find(request.name);
  const bool as_before =
      resolved && found != variables_.end() && resolved->fresh_slot && found->second.my_part == resolved->box;
  const auto call = [&] {
    return fmt::format("{} of '{}', type {}, shape {}", operation(), path(), name_of(request.type),
                       resolved ? format_extent(resolved->info.shape) : "");
  };
  auto changed =
      mpi::vote(comm_, call, resolved ? Status() : Status(tl::make_unexpected(resolved.error())), !as_before);
  if (!changed) return in(Status(tl::make_unexpected(changed.error())), operation, path());

  // Before anything is stored: a write that is refused leaves no trace.
  const Known* before = found == variables_.end() ? nullptr : &found->second;
  std::vector<RankedBox> arriving = arriving_boxes(before, resolved->box, *changed);
  if (*changed) {
    const bool adds = before != nullptr && !resolved->fresh_slot;
    WEIR_TRY(in(check_overlap(adds ? before->boxes : std::vector<RankedBox>(), arriving), operation, path()));
  }
  auto room = make_room(resolved->info, request.step);
  if (!room) return in(Status(tl::make_unexpected(room.error())), operation, path());
  Known& known = **room;
  if (resolved->fresh_slot && *changed) {
    known.decomposition = arriving;
    known.my_part = resolved->box;
  }
  known.boxes.insert(known.boxes.end(), arriving.begin(), arriving.end());
  return settle(in(transfer(known, request, resolved->box), operation, path()));
}

Status OutputFile::reserve(const std::string& name, Type type, const Extent& shape,
                           std::optional<std::int64_t> step) {
  const std::string operation = fmt::format("reserve variable '{}'{}", name, describe(step));
  Status usable = check_usable();
  if (usable && reducing_ && reducing_->knows(name))
    usable = in(Status(fail(ErrorCode::unsupported, "a variable that is reduced has no room to reserve")),
                operation, path());
  Result<backends::Variable> info = tl::make_unexpected(Failure{});
  if (usable) info = in(resolve_variable(name, type, shape, step), operation, path());
  const Status mine = usable ? (info ? Status() : Status(tl::make_unexpected(info.error()))) : usable;
  WEIR_TRY(in(mpi::vote(comm_,
                        fmt::format("{} of '{}', type {}, shape {}", operation, path(), name_of(type),
                                    format_extent(shape)),
                        mine),
              operation, path()));
  WEIR_TRY(in(make_room(*info, step), operation, path()));
  return {};
}

Status OutputFile::set_attribute(backends::Attribute attribute) {
  const std::string owner =
      attribute.variable.empty() ? "the file" : fmt::format("variable '{}'", attribute.variable);
  const std::string operation = fmt::format("set attribute '{}' of {}", attribute.name, owner);
  const std::string key = attribute.variable + "\n" + attribute.name;
  const Status mine = [&]() -> Status {
    WEIR_TRY(check_usable());
    WEIR_TRY(check_attribute_name(attribute.name));
    if (!attribute.variable.empty() && variables_.find(attribute.variable) == variables_.end()) {
      return fail(ErrorCode::not_found, "no such variable yet", "write or reserve it first");
    }
    if (attributes_.count(key) != 0)
      return fail(ErrorCode::invalid_argument, "it was set before; attributes are set once");
    if (attribute.variable.size() + 1 + attribute.name.size() > entry_->limits.attribute_name) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("backend '{}' stores names of attributes, with their variables', of at most {} bytes",
                      entry_->name, entry_->limits.attribute_name));
    }
    if (const auto* text = std::get_if<std::string>(&attribute.value)) {
      WEIR_TRY(check_text(*text));
      if (text->size() > entry_->limits.attribute_text) {
        return fail(ErrorCode::unsupported, fmt::format("backend '{}' stores texts of at most {} bytes",
                                                        entry_->name, entry_->limits.attribute_text));
      }
    } else if (std::get<Values>(attribute.value).bytes.size() > entry_->limits.attribute_bytes) {
      return fail(ErrorCode::unsupported, fmt::format("backend '{}' stores attributes of at most {} bytes",
                                                      entry_->name, entry_->limits.attribute_bytes));
    }
    if (const auto* values = std::get_if<Values>(&attribute.value);
        values != nullptr && entry_->stores != nullptr && !entry_->stores(values->type)) {
      return fail(ErrorCode::unsupported,
                  fmt::format("backend '{}' cannot store type {}", entry_->name, name_of(values->type)));
    }
    return {};
  }();
  std::string value;
  if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    value = *text;
  } else {
    const auto& values = std::get<Values>(attribute.value);
    value = fmt::format("{} x {} {:x}", values.size(), name_of(values.type),
                        checksum(values.bytes.data(), values.bytes.size()));
  }
  WEIR_TRY(in(mpi::vote(comm_, fmt::format("{} to '{}'", operation, value), mine), operation, path()));
  attributes_.insert(key);
  return in(settle_books(guarded([&] { return output_->set_attribute(attribute); })), operation, path());
}

Status OutputFile::write_hidden(const std::string& name, Type type, const Extent& shape, const Box& box,
                                const void* data) {
  const backends::Variable info{.name = name, .type = type, .shape = shape};
  WEIR_ASSIGN(Known * known, make_room(info, std::nullopt));
  const SourceBlock block{box, static_cast<const std::byte*>(data)};
  return settle(guarded([&] {
    return output_->write({.variable = known->id, .slot = 0}, {&block, box.empty() ? 0U : 1U});
  }));
}

// Kept only where the numbers are not 0, 1, 2, ... anyway.
Status OutputFile::write_steps(const Known& known) {
  std::vector<std::int64_t> plain(known.steps.size());
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<std::int64_t>(i);
  if (!known.info.stepped || known.steps == plain) return {};
  const Extent shape = {known.steps.size()};
  const Box box = comm_.rank() == 0 ? Box::whole(shape) : Box{{0}, {0}};
  return write_hidden(steps_name(known.info.name), Type::int64, shape, box, known.steps.data());
}

Status OutputFile::write_checksums(const Known& known) {
  const std::uint64_t width = row_width(known.info.shape);
  const auto my_rows = static_cast<std::int64_t>(known.my_checksums.size() / width);
  const auto first = static_cast<std::uint64_t>(comm_.sum_of_lower_ranks(my_rows));
  const auto rows = static_cast<std::uint64_t>(comm_.sum(my_rows));
  const Box box{{first, 0}, {static_cast<std::uint64_t>(my_rows), width}};
  return write_hidden(checksum_name(known.info.name), Type::uint64, {rows, width}, box,
                      known.my_checksums.data());
}

Status OutputFile::write_books() {
  std::vector<Known> programs_own;  // a copy: writing the books adds variables
  for (const auto& [name, known] : variables_) programs_own.push_back(known);
  for (const Known& known : programs_own) {
    WEIR_TRY(write_steps(known));
    if (options_.checksums) WEIR_TRY(write_checksums(known));
  }
  return {};
}

Status OutputFile::close(const std::optional<Failure>& unseen) {
  Status mine = check_usable();
  if (mine && unseen) mine = tl::make_unexpected(*unseen);
  const Status outcome = [&]() -> Status {
    WEIR_TRY(mpi::vote(comm_, fmt::format("close '{}'", path()), mine));
    if (reducing_) WEIR_TRY(reducing_->finish());
    WEIR_TRY(write_books());
    WEIR_TRY(settle(guarded([&] { return output_->close(); })));
    output_.reset();
    if (Status published = publication_.finish(comm_, options_.fsync); !published) {
      if (comm_.rank() == 0) publication_.discard();
      return lose(published.error());
    }
    return {};
  }();
  give_up();
  return in(outcome, "close", path());
}

}  // namespace weir::files
