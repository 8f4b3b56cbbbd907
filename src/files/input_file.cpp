#include "files/input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "files/checksum.hpp"

namespace weir::files {

using backends::Access;
using backends::Place;
using backends::TargetBlock;

namespace {

constexpr std::uint64_t longest_table = std::uint64_t{1}
                                        << 30U;    // elements; a file that claims more is not believed
constexpr std::uint64_t least_budget = 1U << 20U;  // bytes; less would only make many small reads

}  // namespace

Result<std::unique_ptr<InputFile>> InputFile::open(const mpi::Comm& comm, const std::string& path,
                                                   const std::string& backend, const OptionMap& options) {
  const backends::Entry* entry = nullptr;
  Options parsed;
  const auto choose = [&]() -> Status {
    // The content is looked at by one rank: a thousand ranks asking the file system the same question would
    // be slow.
    std::string name = backend;
    Status found;
    if (name.empty()) {
      if (comm.rank() == 0) {
        const auto chosen = backends::choose_for_reading(path);
        if (chosen) name = (*chosen)->name;
        if (!chosen) found = tl::make_unexpected(chosen.error());
      }
      WEIR_TRY(mpi::agree(comm, found));
      name = comm.broadcast(name, 0);
    }
    WEIR_ASSIGN(entry, backends::find(name));
    if (entry->needs_mpi && comm.is_serial()) {
      return fail(ErrorCode::unsupported,
                  fmt::format("backend '{}' needs MPI, and this session is serial", name), "use posix");
    }
    WEIR_ASSIGN(parsed, parse_options(fmt::format("backend '{}'", name), entry->options, options));
    return {};
  };
  std::string call = fmt::format("open '{}' with backend '{}'", path, backend);
  for (const auto& [name, value] : options) call += fmt::format(" {}={}", name, value);
  const Status usable = [&]() -> Status {
    WEIR_TRY(mpi::vote(comm, call, {}));
    return mpi::agree(comm, choose());
  }();
  WEIR_TRY(in(usable, "open", path));

  auto input = mpi::agree(
      comm, guarded([&] { return entry->open({.path = path, .comm = comm, .options = std::move(parsed)}); }));
  if (!input) return in(Result<std::unique_ptr<InputFile>>(tl::make_unexpected(input.error())), "open", path);
  std::unique_ptr<InputFile> file(new InputFile(comm, path, std::string(entry->name), std::move(*input)));
  WEIR_TRY(in(mpi::agree(comm, guarded([&] { return file->list_contents(); })), "open", path));
  return file;
}

InputFile::InputFile(mpi::Comm comm, std::string path, std::string backend,
                     std::unique_ptr<backends::Input> input)
    : comm_(std::move(comm)),
      path_(std::move(path)),
      backend_(std::move(backend)),
      input_(std::move(input)) {}

Status InputFile::list_contents() {
  const auto& variables = input_->variables();
  for (backends::VariableId id = 0; id < variables.size(); ++id) {
    if (variables[id].name.starts_with(reserved_prefix)) {
      hidden_[variables[id].name] = id;
    } else {
      contents_.push_back({.id = id, .info = variables[id], .steps = {}});
    }
  }
  for (Contents& entry : contents_) {
    if (!entry.info.stepped) continue;
    if (hidden_.count(steps_name(entry.info.name)) != 0) {
      WEIR_ASSIGN(const auto bytes, read_hidden(steps_name(entry.info.name), Type::int64, entry.info.slots));
      entry.steps.resize(bytes.size() / sizeof(std::int64_t));
      if (!bytes.empty()) std::memcpy(entry.steps.data(), bytes.data(), bytes.size());
      if (entry.steps.size() != entry.info.slots) {
        return fail(ErrorCode::corrupt, fmt::format("variable '{}' has {} steps, its list names {}",
                                                    entry.info.name, entry.info.slots, entry.steps.size()));
      }
    } else {
      entry.steps.resize(entry.info.slots);
      std::iota(entry.steps.begin(), entry.steps.end(), 0);
    }
  }
  std::sort(contents_.begin(), contents_.end(),
            [](const Contents& a, const Contents& b) { return a.info.name < b.info.name; });
  return {};
}

Result<const Contents*> InputFile::find(const std::string& name) const {
  const auto found = std::find_if(contents_.begin(), contents_.end(),
                                  [&](const Contents& c) { return c.info.name == name; });
  if (found != contents_.end()) return &*found;
  for (const backends::Unreadable& other : input_ ? unreadable() : std::vector<backends::Unreadable>()) {
    if (other.variable == name && other.attribute.empty())
      return fail(ErrorCode::unsupported, fmt::format("variable '{}' cannot be read: {}", name, other.why),
                  "read it with a program of the file's own format");
  }
  std::vector<std::string> names;
  for (const Contents& entry : contents_) names.push_back(entry.info.name);
  return fail(
      ErrorCode::not_found,
      fmt::format("no variable '{}'{}", name, names.empty() ? "; the file has none" : suggest(name, names)));
}

Result<Place> InputFile::resolve(const ReadRequest& request, Box& box) const {
  if (!input_) return fail(ErrorCode::state, "the file is closed");
  WEIR_ASSIGN(const Contents* entry, find(request.name));
  const backends::Variable& info = entry->info;
  if (info.type != request.type) {
    return fail(ErrorCode::invalid_argument, fmt::format("the variable holds {}, the buffer {}",
                                                         name_of(info.type), name_of(request.type)));
  }
  Place place{.variable = entry->id, .slot = 0};
  if (!info.stepped && request.step) return fail(ErrorCode::invalid_argument, "the variable has no steps");
  if (info.stepped) {
    if (!request.step && entry->steps.size() != 1) {
      return fail(ErrorCode::invalid_argument, fmt::format("the variable has {} steps", entry->steps.size()),
                  "say which step to read");
    }
    const std::int64_t step = request.step.value_or(entry->steps.empty() ? 0 : entry->steps[0]);
    const auto found = std::lower_bound(entry->steps.begin(), entry->steps.end(), step);  // they count up
    if (found == entry->steps.end() || *found != step)
      return fail(ErrorCode::not_found, fmt::format("no step {}", step), "'weir ls' lists the steps");
    place.slot = static_cast<std::uint64_t>(found - entry->steps.begin());
  } else if (info.slots == 0) {
    return fail(ErrorCode::not_found, "the variable was defined but never written");
  }
  box = {request.offset, request.count};
  if (box.offset.empty()) box.offset.assign(info.shape.size(), 0);
  if (box.count.empty()) box.count = info.shape;
  WEIR_TRY(check_box(box, info.shape));
  if (request.elements != as_needed && volume(box.count) != request.elements) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the block ({}) has {} elements, the buffer {}", format_box(box),
                            volume(box.count), request.elements));
  }
  if (!box.empty() && request.data == nullptr)
    return fail(ErrorCode::invalid_argument, "the buffer is a null pointer");
  return place;
}

Status InputFile::read(const ReadRequest& request) {
  const auto operation = [&] {
    return fmt::format("read variable '{}'{}", request.name,
                       request.step ? fmt::format(", step {}", *request.step) : "");
  };
  Box box;
  const Result<Place> place = in(resolve(request, box), operation, path_);
  const auto transfer = [&](Access access, bool with_data) -> Status {
    const TargetBlock block{box, request.data};
    const Place how{.variable = place->variable, .slot = place->slot, .access = access};
    return in(guarded([&] {
                return input_->read(how, {&block, with_data && !box.empty() ? 1U : 0U});
              }),
              operation, path_);
  };
  // What needs no other rank is read before the ranks meet, so that they meet once: to hear whether they have
  // made the same call, and how it went.
  const bool alone =
      place && (request.independent || box.empty() || input_->reads_alone(place->variable, box));
  Status mine = place ? Status() : Status(tl::make_unexpected(place.error()));
  if (alone) mine = transfer(Access::independent, true);
  if (request.independent) return mine;
  const auto some_are_left = mpi::vote(
      comm_, [&] { return fmt::format("{} of '{}'", operation(), path_); }, mine, !alone);
  if (!some_are_left) {
    disagreed_ = disagreed_ || some_are_left.error().code == ErrorCode::disagreement;
    return tl::make_unexpected(some_are_left.error());
  }
  if (!*some_are_left) return {};
  return mpi::agree(comm_, transfer(Access::collective, !alone));
}

Status InputFile::close() {
  if (!input_) return {};
  const Status closed = [&]() -> Status {
    if (disagreed_) return {};
    WEIR_TRY(mpi::vote(comm_, fmt::format("close '{}' after reading", path_), {}));
    return mpi::agree(comm_, guarded([&] { return input_->close(); }));
  }();
  input_.reset();
  return in(closed, "close", path_);
}

Result<std::vector<std::byte>> InputFile::read_hidden(const std::string& name, Type type,
                                                      std::uint64_t most_elements) {
  const backends::VariableId id = hidden_.at(name);
  const backends::Variable& info = input_->variables()[id];
  if (info.type != type) return fail(ErrorCode::corrupt, fmt::format("'{}' has the wrong type", name));
  if (volume(info.shape) > most_elements)
    return fail(ErrorCode::corrupt, fmt::format("'{}' is far too long", name));
  if (info.slots == 0) return std::vector<std::byte>();
  std::vector<std::byte> bytes(volume(info.shape) * size_of(type));
  const TargetBlock block{Box::whole(info.shape), bytes.data()};
  WEIR_TRY(input_->read({.variable = id, .slot = 0, .access = Access::collective},
                        {&block, bytes.empty() ? 0U : 1U}));
  return bytes;
}

bool InputFile::has_checksums(const std::string& name) const {
  return hidden_.count(checksum_name(name)) != 0;
}

Result<InputFile::Verdict> InputFile::verify(const std::string& name, std::uint64_t budget,
                                             const std::function<void(std::uint64_t)>& progress) {
  WEIR_ASSIGN(const Contents* entry, find(name));
  WEIR_ASSIGN(const auto bytes, read_hidden(checksum_name(name), Type::uint64, longest_table));
  std::vector<std::uint64_t> table(bytes.size() / sizeof(std::uint64_t));
  if (!bytes.empty()) std::memcpy(table.data(), bytes.data(), bytes.size());
  WEIR_ASSIGN(const auto rows, parse_table(table, entry->info.shape, entry->info.slots));

  budget = std::max(budget, least_budget);
  constexpr std::size_t most_reported = 100;
  const std::size_t size = size_of(entry->info.type);
  std::vector<std::byte> buffer;
  Verdict verdict;
  for (const ChecksumRow& row : rows) {
    Checksummer sum;
    for (const Box& piece : split(row.box, std::max<std::uint64_t>(1, budget / size))) {
      buffer.resize(volume(piece.count) * size);
      const TargetBlock block{piece, buffer.data()};
      WEIR_TRY(input_->read({.variable = entry->id, .slot = row.slot, .access = Access::independent},
                            {&block, 1}));
      sum.add(buffer.data(), buffer.size());
      verdict.bytes += buffer.size();
      progress(verdict.bytes);
    }
    ++verdict.blocks;
    if (sum.value() == row.checksum) continue;
    ++verdict.damaged_blocks;
    if (verdict.damaged.size() == most_reported) continue;
    const std::string step = entry->info.stepped ? fmt::format(", step {}", entry->steps[row.slot]) : "";
    verdict.damaged.push_back(fmt::format("variable '{}'{}, block {}", name, step, format_box(row.box)));
  }
  return verdict;
}

}  // namespace weir::files
