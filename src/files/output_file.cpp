#include "files/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "files/checksum.hpp"

namespace weir::files {

using backends::Place;
using backends::SourceBlock;

namespace {

constexpr std::uint64_t worth_a_thread = 128U
                                         << 10U;  // waking one costs as much as the checksum of some 100 KiB

std::vector<Box> boxes_of(std::span<const OwnedBox> owned) {
  std::vector<Box> boxes;
  for (const OwnedBox& one : owned) boxes.push_back(one.box);
  return boxes;
}

tl::unexpected<Failure> overlapping(const OwnedBox& a, const OwnedBox& b) {
  const auto describe = [](const OwnedBox& owned) {
    return fmt::format("rank {} ({})", owned.owner, format_box(owned.box));
  };
  return fail(ErrorCode::invalid_argument,
              fmt::format("the blocks of {} and {} overlap", describe(a), describe(b)),
              "each element is written by one rank");
}

// Boxes as a text to be sent: for each its owner, offset and count.
std::string pack(const std::vector<OwnedBox>& boxes) {
  std::vector<std::uint64_t> numbers;
  for (const OwnedBox& owned : boxes) {
    numbers.push_back(static_cast<std::uint64_t>(owned.owner));
    numbers.insert(numbers.end(), owned.box.offset.begin(), owned.box.offset.end());
    numbers.insert(numbers.end(), owned.box.count.begin(), owned.box.count.end());
  }
  if (numbers.empty()) return {};
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::uint64_t)};
}

void unpack(const std::string& text, std::size_t dimensions, std::vector<OwnedBox>& boxes) {
  std::vector<std::uint64_t> numbers(text.size() / sizeof(std::uint64_t));
  if (numbers.empty()) return;
  std::memcpy(numbers.data(), text.data(), numbers.size() * sizeof(std::uint64_t));
  const auto length = static_cast<std::ptrdiff_t>(dimensions);
  for (auto at = numbers.begin(); at != numbers.end(); at += 1 + 2 * length) {
    boxes.push_back({.owner = static_cast<int>(*at),
                     .box = {Extent(at + 1, at + 1 + length), Extent(at + 1 + length, at + 1 + 2 * length)}});
  }
}

}  // namespace

std::string describe_create(const std::string& path, const CreateOptions& options) {
  std::string text = fmt::format("create '{}'", path);
  if (!options.backend.empty()) text += fmt::format(" with backend '{}'", options.backend);
  for (const auto& [name, value] : options.options) text += fmt::format(", {}={}", name, value);
  if (options.checksums) text += ", checksums";
  if (options.fsync) text += ", fsync";
  if (options.fsync_writes) text += ", fsync of writes";
  return text;
}

Result<const backends::Entry*> backend_for(const std::string& path, const CreateOptions& options,
                                           bool with_mpi) {
  WEIR_ASSIGN(const backends::Entry* entry,
              options.backend.empty() ? backends::choose_for_writing(path) : backends::find(options.backend));
  if (entry->needs_mpi && !with_mpi) {
    return fail(ErrorCode::unsupported,
                fmt::format("backend '{}' needs MPI, and this session is serial", entry->name), "use posix");
  }
  WEIR_TRY(parse_options(fmt::format("backend '{}'", entry->name), entry->options, options.options));
  return entry;
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const mpi::Comm& comm, const std::string& path,
                                                       const CreateOptions& options, const Status& mine) {
  const backends::Entry* entry = nullptr;
  Options parsed;
  const Status prepared = [&]() -> Status {
    WEIR_TRY(mine);
    WEIR_ASSIGN(entry, backend_for(path, options, !comm.is_serial()));
    WEIR_ASSIGN(parsed,
                parse_options(fmt::format("backend '{}'", entry->name), entry->options, options.options));
    return {};
  }();
  WEIR_TRY(in(mpi::vote(comm, describe_create(path, options), in(prepared, "create", path)), "create", path));

  WEIR_ASSIGN(Publication publication, Publication::begin(comm, path, *entry));
  auto output = mpi::agree(comm, guarded([&] {
                             return entry->create({.path = publication.temporary(),
                                                   .comm = backends::comm_for(*entry, comm),
                                                   .options = std::move(parsed),
                                                   .memory = options.memory});
                           }));
  if (!output) {
    if (comm.rank() == 0) publication.discard();
    return in(Result<std::unique_ptr<OutputFile>>(
                  tl::make_unexpected(publication.in_terms_of_path(output.error()))),
              "create");
  }
  if (comm.rank() == 0) publication.keep_mode();
  return std::unique_ptr<OutputFile>(
      new OutputFile(comm, options, *entry, std::move(publication), std::move(*output)));
}

OutputFile::OutputFile(mpi::Comm comm, CreateOptions options, const backends::Entry& entry,
                       Publication publication, std::unique_ptr<backends::Output> output)
    : comm_(std::move(comm)),
      options_(std::move(options)),
      entry_(&entry),
      publication_(std::move(publication)),
      output_(std::move(output)),
      catalogue_(entry) {
  if (options_.checksums) spare_processor_ = has_processor_to_spare(comm_.ranks_on_node());
}

OutputFile::~OutputFile() {
  let_go();
}

void OutputFile::give_up(Failure why) {
  if (!output_) return;
  let_go();
  if (!lost_) lost_ = std::move(why);
}

void OutputFile::let_go() {
  if (!output_) return;
  output_.reset();
  if (comm_.rank() == 0) publication_.discard();
}

Status OutputFile::lose(Failure failure) {
  lost_ = publication_.in_terms_of_path(std::move(failure));
  return tl::make_unexpected(*lost_);
}

Status OutputFile::settle(Status mine) {
  if (mine) mine = std::exchange(unsettled_, {});
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

Status OutputFile::define(const backends::Variable& info) {
  WEIR_TRY(settle_books(guarded([&] { return output_->define(info); })));
  const auto id = static_cast<backends::VariableId>(variables_.size());
  variables_[info.name] = Known{.id = id, .info = info};
  catalogue_.note_variable(info);
  return {};
}

// After it, the variable is defined and its newest slot is the one for this step.
Result<OutputFile::Known*> OutputFile::make_room(const backends::Variable& info,
                                                 std::optional<std::int64_t> step, Followed followed) {
  if (variables_.find(info.name) == variables_.end()) WEIR_TRY(define(info));
  Known& known = variables_[info.name];
  const std::int64_t number = step.value_or(catalogue_.last_step());
  if (known.steps.empty() || (step && known.steps.back() != *step)) {
    Status reserved = guarded([&] {
      return followed == Followed::by_a_write
                 ? output_->reserve_to_write(known.id, known.steps.size(), number)
                 : output_->reserve(known.id, known.steps.size(), number);
    });
    if (followed == Followed::by_a_write && output_->settles_late()) {
      unsettled_ = std::move(reserved);
    } else {
      WEIR_TRY(settle_books(std::move(reserved)));
    }
    known.steps.push_back(number);
    known.as_before = false;
    known.boxes.clear();
    known.index.clear();
    catalogue_.note_slot(info, number);
  }
  return &known;
}

// The boxes of all ranks in this write. COLLECTIVE.
std::vector<OwnedBox> OutputFile::arriving_boxes(const std::vector<OwnedBox>& mine,
                                                 std::size_t dimensions) const {
  std::vector<OwnedBox> all;
  for (const std::string& packed : comm_.gather_to_all(pack(mine))) unpack(packed, dimensions, all);
  return all;
}

// Of the boxes that arrive, with each other and with those that `known` has in its slot; nullptr: it has
// none.
Status OutputFile::check_overlap(Known* known, std::span<const OwnedBox> arriving) {
  const std::vector<Box> boxes = boxes_of(arriving);
  if (const auto pair = find_overlap(boxes))
    return overlapping(arriving[pair->first], arriving[pair->second]);
  if (known == nullptr) return {};
  if (std::exchange(known->as_before, false))
    known->boxes.insert(known->boxes.begin(), known->decomposition.begin(), known->decomposition.end());
  known->index.add(boxes_of(std::span(known->boxes).subspan(known->index.boxes().size())));
  for (const OwnedBox& one : arriving) {
    if (const auto other = known->index.find(one.box)) return overlapping(known->boxes[*other], one);
  }
  return {};
}

Status OutputFile::transfer(Known& known, const Place& place, std::span<const SourceBlock> blocks) {
  if (!unsettled_) blocks = {};
  const std::size_t size = size_of(known.info.type);
  const auto write = [&]() -> Status {
    WEIR_TRY(guarded([&] { return output_->write(place, blocks); }));
    for (const SourceBlock& block : blocks) stored_bytes_ += volume(block.box.count) * size;
    return options_.fsync_writes ? publication_.sync() : Status();
  };
  if (!options_.checksums) return write();

  const auto sum_up = [&] {
    std::vector<std::uint64_t> all;
    for (const SourceBlock& block : blocks)
      all.push_back(checksum(block.data, volume(block.box.count) * size));
    return all;
  };
  std::vector<std::uint64_t> sums;
  Status written;
  if (!spare_processor_ && comm_.rank() % 2 != 0) {
    sums = sum_up();
    written = write();
  } else {
    std::uint64_t bytes = 0;
    for (const SourceBlock& block : blocks) bytes += volume(block.box.count) * size;
    Worker* worker = spare_processor_ && bytes >= worth_a_thread ? Worker::of_process() : nullptr;
    Errand<std::vector<std::uint64_t>> errand(worker, sum_up);
    written = write();
    sums = errand.get();
  }
  for (std::size_t i = 0; i < blocks.size(); ++i)
    append_row(known.my_checksums, place.slot, blocks[i].box, sums[i]);
  return written;
}

Result<OutputFile::Ongoing> OutputFile::begin(const Heading& heading, const std::vector<OwnedBox>& boxes,
                                              const Status& prior) {
  Result<backends::Variable> info = tl::make_unexpected(prior ? Failure{} : prior.error());
  if (prior) {
    const Status usable = check_usable();
    info = usable ? in(
                        catalogue_.resolve_variable(heading),
                        [&] { return describe_write(heading.name, heading.step); }, path())
                  : Result<backends::Variable>(tl::make_unexpected(usable.error()));
  }
  return begin_resolved(heading.name, heading.step, info, boxes);
}

Result<OutputFile::Ongoing> OutputFile::begin_resolved(const std::string& name,
                                                       std::optional<std::int64_t> step,
                                                       const Result<backends::Variable>& info,
                                                       const std::vector<OwnedBox>& boxes) {
  const auto operation = [&] { return describe_write(name, step); };
  // The decomposition of a program seldom changes from step to step: then nothing needs to be gathered.
  const auto found = variables_.find(name);
  const bool fresh = catalogue_.is_fresh(name, step);
  const bool as_before = info && found != variables_.end() && fresh && found->second.my_part == boxes;
  const auto call = [&] {
    return fmt::format(
        "{} of '{}'{}", operation(), path(),
        info ? fmt::format(", type {}, shape {}", name_of(info->type), format_extent(info->shape)) : "");
  };
  auto changed =
      mpi::vote(comm_, call, info ? Status() : Status(tl::make_unexpected(info.error())), !as_before);
  if (!changed) return in(Result<Ongoing>(tl::make_unexpected(changed.error())), operation, path());

  // Before anything is stored: a write that is refused leaves no trace.
  std::vector<OwnedBox> arriving;
  if (*changed) {
    arriving = arriving_boxes(fresh ? boxes : with_untold(boxes, name), info->shape.size());
    WEIR_TRY(in(check_overlap(fresh || found == variables_.end() ? nullptr : &found->second, arriving),
                operation, path()));
  }
  auto room = make_room(*info, step, Followed::by_a_write);
  if (!room) return in(Result<Ongoing>(tl::make_unexpected(room.error())), operation, path());
  Known& known = **room;
  if (!*changed) {
    known.as_before = true;
  } else {
    known.boxes.insert(known.boxes.end(), arriving.begin(), arriving.end());
    untold_.erase({name, known.steps.size() - 1});
  }
  if (fresh && *changed) {
    known.decomposition = std::move(arriving);
    std::uint64_t elements = 0;  // they do not overlap
    for (const OwnedBox& one : known.decomposition) elements += volume(one.box.count);
    known.covers = elements == volume(known.info.shape);
    known.my_part = boxes;
  }
  return Ongoing{.name = name,
                 .step = step,
                 .place = {.variable = known.id,
                           .slot = known.steps.size() - 1,
                           .covered = fresh && known.covers,
                           .repeated = fresh && !*changed}};
}

Status OutputFile::store(const Ongoing& ongoing, std::span<const SourceBlock> blocks, const Status& mine) {
  const auto operation = [&] { return describe_write(ongoing.name, ongoing.step); };
  const Status written = transfer(variables_[ongoing.name], ongoing.place, blocks);
  if (unsettled_) return settle(in(mine ? written : mine, operation, path()));
  unsettled_ = in(std::move(unsettled_), operation, path());
  return settle(mine);
}

Status OutputFile::write(const WriteRequest& request) {
  const bool reduced = reduces(request.reduce) || (reducing_ && reducing_->knows(request.name));
  return reduced ? write_reduced(request) : write_as_is(request);
}

Status OutputFile::write_as_is(const WriteRequest& request) {
  Result<backends::Variable> info = tl::make_unexpected(Failure{});
  SourceBlock block{Box(), request.data};
  if (const Status usable = check_usable(); usable) {
    auto resolved = in(
        catalogue_.resolve(request), [&] { return describe_write(request.name, request.step); }, path());
    if (resolved) {
      info = std::move(resolved->info);
      block.box = std::move(resolved->box);
    } else {
      info = tl::make_unexpected(std::move(resolved).error());
    }
  } else {
    info = tl::make_unexpected(usable.error());
  }
  const std::span<const SourceBlock> blocks(&block, block.box.empty() ? 0U : 1U);
  if (request.independent) {
    if (!info) return tl::make_unexpected(info.error());
    WEIR_TRY(store_independently(request.heading(), block, comm_.rank()));
    catalogue_.note_box(request.name, block.box);
    return {};
  }
  std::vector<OwnedBox> mine;
  if (info && !blocks.empty()) mine.push_back({comm_.rank(), block.box});
  WEIR_ASSIGN(const Ongoing ongoing, begin_resolved(request.name, request.step, info, mine));
  catalogue_.note_box(request.name, block.box);
  return store(ongoing, blocks);
}

Status OutputFile::reserve(const Heading& heading) {
  const std::string operation = fmt::format("reserve variable '{}'{}", heading.name,
                                            heading.step ? fmt::format(", step {}", *heading.step) : "");
  Status usable = check_usable();
  if (usable && reducing_ && reducing_->knows(heading.name)) {
    usable = in(Status(fail(ErrorCode::unsupported, "a variable that is reduced has no room to reserve")),
                operation, path());
  }
  Result<backends::Variable> info = tl::make_unexpected(Failure{});
  if (usable) info = in(catalogue_.resolve_variable(heading), operation, path());
  const Status mine = usable ? (info ? Status() : Status(tl::make_unexpected(info.error()))) : usable;
  WEIR_TRY(in(mpi::vote(comm_,
                        fmt::format("{} of '{}', type {}, shape {}", operation, path(), name_of(heading.type),
                                    format_extent(heading.shape)),
                        mine),
              operation, path()));
  WEIR_TRY(in(make_room(*info, heading.step), operation, path()));
  return {};
}

Status OutputFile::set_attribute(const backends::Attribute& attribute, const Status& mine) {
  const std::string owner =
      attribute.variable.empty() ? "the file" : fmt::format("variable '{}'", attribute.variable);
  const std::string operation = fmt::format("set attribute '{}' of {}", attribute.name, owner);
  Status good = check_usable();
  if (good) good = mine;
  if (good) good = catalogue_.check_attribute(attribute);
  WEIR_TRY(in(mpi::vote(comm_, describe_attribute(attribute, path()), good), operation, path()));
  catalogue_.note_attribute(attribute);
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

Status OutputFile::close(const std::optional<Failure>& unseen,
                         const std::function<void(const Failure&)>& meanwhile) {
  Status mine = check_usable();
  if (mine && unseen) mine = tl::make_unexpected(*unseen);
  if (mine) mine = std::exchange(unsettled_, {});
  const Status outcome = [&]() -> Status {
    WEIR_TRY(mpi::vote_until_joined(comm_, fmt::format("close '{}'", path()), mine, meanwhile));
    if (reducing_) WEIR_TRY(reducing_->finish());
    WEIR_TRY(check_untold());
    WEIR_TRY(write_books());
    WEIR_TRY(settle(guarded([&] { return output_->close(); })));
    output_.reset();
    if (Status published = publication_.finish(comm_, options_.fsync || options_.fsync_writes); !published) {
      if (comm_.rank() == 0) publication_.discard();
      return lose(published.error());
    }
    return {};
  }();
  let_go();
  return in(outcome, "close", path());
}

}  // namespace weir::files
