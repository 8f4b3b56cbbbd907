#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/adios2_files.hpp"
#include "backends/adios2_folder.hpp"
#include "backends/adios2_notes.hpp"

namespace weir::backends::bp {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t hdf5_piece = std::uint64_t{1} << 30;  // bytes that are asked of HDF5 at a time

// How a variable is found in the file.
struct Source {
  adios2::VariableNT handle;                      // none: ADIOS2 does not know of it, and it reads as zeros
  std::vector<std::optional<std::size_t>> steps;  // what SetStepSelection wants for each slot; none: zeros
  bool single_value = false;  // a global value of ADIOS2, shown as an array of one element
};

class Adios2Input final : public Input {
 public:
  Adios2Input(Format format, const FileSpec& spec, HeldFolder folder, Library library)
      : format_(format),
        path_(spec.path),
        alone_(format == Format::hdf5 || spec.comm.size() == 1),
        folder_(std::move(folder)),
        library_(std::move(library)) {}
  // The communicators of a BP engine are freed by all ranks or not at all.
  ~Adios2Input() override {
    if (!closed_ && !alone_) library_.abandon();
  }

  Status load();             // fills the lists; throws what ADIOS2 throws
  Status check_data_size();  // of a BP5 folder that Weir did not seal; likewise

  const std::vector<Variable>& variables() const override { return variables_; }
  const std::vector<Attribute>& attributes() const override { return attributes_; }
  Status read(const Place& place, std::span<const TargetBlock> blocks) override;
  Status close() override;

 private:
  Status add_noted(const Variable& variable);
  void add_foreign(const std::string& name);
  std::vector<std::size_t> steps_of(const std::string& name, Type type, std::size_t count);
  Status in_terms_of_path(Failure failure) const;
  void get(Source& source, const Variable& variable, const Place& place, const TargetBlock& block,
           adios2::Mode mode);

  Format format_;
  fs::path path_;
  bool alone_;         // no other rank has a part in what ADIOS2 does
  HeldFolder folder_;  // BP
  Library library_;
  std::vector<Variable> variables_;
  std::vector<Attribute> attributes_;
  std::vector<Source> sources_;
  std::optional<Notes> notes_;  // none: another program wrote the file
  bool closed_ = false;
  Status broken_;  // after a failed read ADIOS2 still holds the addresses it was given
};

// BP4 and BP5 count the steps in which a variable is present, HDF5 all steps of the file.
std::vector<std::size_t> Adios2Input::steps_of(const std::string& name, Type type, std::size_t count) {
  std::vector<std::size_t> steps(count);
  for (std::size_t i = 0; i < count; ++i) steps[i] = i;
  if (format_ != Format::hdf5) return steps;
  with_type(type, [&](auto element) {
    using T = decltype(element);
    if constexpr (!std::is_same_v<T, std::complex<long double>>) {
      if (auto typed = library_.io().InquireVariable<T>(name))
        steps = library_.engine().GetAbsoluteSteps(typed);
    }
  });
  return steps;
}

// A variable that Weir wrote.
Status Adios2Input::add_noted(const Variable& variable) {
  Source source{.handle = library_.io().InquireVariable(variable.name)};
  std::vector<std::size_t> present;
  if (source.handle) {
    if (from_adios2(source.handle.Type()) != variable.type) {
      return fail(ErrorCode::corrupt,
                  fmt::format("variable '{}' is not of the type that was noted", variable.name));
    }
    present = steps_of(variable.name, variable.type, source.handle.Steps());
  }
  std::size_t next = 0;
  const bool all_present = present.size() >= variable.slots;
  for (std::uint64_t slot = 0; slot < variable.slots; ++slot) {
    const bool absent = !all_present && notes_->unwritten.contains({variable.name, slot});
    if (absent || Box::whole(variable.shape).empty()) {
      source.steps.emplace_back();
    } else if (next < present.size()) {
      source.steps.emplace_back(present[next++]);
    } else {
      return fail(ErrorCode::corrupt, fmt::format("variable '{}' has lost steps", variable.name));
    }
  }
  for (; next < present.size(); ++next)
    source.steps.emplace_back(present[next]);  // appended by another program
  variables_.push_back(variable);
  variables_.back().slots = source.steps.size();
  sources_.push_back(std::move(source));
  return {};
}

// One of another program; left out if Weir has no way to show it: local arrays, texts, structures, shapes
// that change.
void Adios2Input::add_foreign(const std::string& name) {
  Source source{.handle = library_.io().InquireVariable(name)};
  if (!source.handle) return;
  const std::optional<Type> type = from_adios2(source.handle.Type());
  if (!type) return;
  Variable variable{.name = name, .type = *type};
  const adios2::ShapeID kind = source.handle.ShapeID();
  if (kind == adios2::ShapeID::GlobalValue) {
    variable.shape = {1};
    source.single_value = true;
  } else if (kind == adios2::ShapeID::GlobalArray) {
    const adios2::Dims shape = source.handle.Shape();
    variable.shape.assign(shape.begin(), shape.end());
  }
  if (!check_shape(variable.shape, size_of(*type))) return;
  for (const std::size_t step : steps_of(name, *type, source.handle.Steps())) {
    const bool can_tell = format_ != Format::hdf5 && !source.single_value;
    if (can_tell && source.handle.Shape(step) != adios2::Dims(variable.shape.begin(), variable.shape.end()))
      return;
    source.steps.emplace_back(step);
  }
  if (source.steps.empty()) return;
  variable.stepped = source.steps.size() > 1;
  variable.slots = source.steps.size();
  variables_.push_back(std::move(variable));
  sources_.push_back(std::move(source));
}

Status Adios2Input::load() {
  WEIR_ASSIGN(notes_, load_notes(library_.io()));
  std::set<std::string> noted;
  for (const Variable& variable : notes_ ? notes_->variables : std::vector<Variable>()) {
    noted.insert(variable.name);
    WEIR_TRY(add_noted(variable));
  }
  for (const auto& [name, parameters] : library_.io().AvailableVariables(true)) {
    if (!noted.contains(name) && name != step_marker) add_foreign(name);
  }
  attributes_ = load_attributes(library_.io(), notes_ ? *notes_ : Notes(), variables_);
  return {};
}

// The least that the blocks in the index need, against what there is: the index of BP5 does not tell where
// they end, and ADIOS2 waits 45 seconds for data beyond the end of a file.
Status Adios2Input::check_data_size() {
  std::uint64_t needed = 0;
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (sources_[i].single_value || !sources_[i].handle) continue;
    if (!sources_[i].handle.Operations().empty()) return {};  // compressed: less is enough
    for (const auto& [step, blocks] : library_.engine().AllStepsBlocksInfo(sources_[i].handle)) {
      for (const auto& block : blocks)
        needed += volume({block.Count.begin(), block.Count.end()}) * size_of(variables_[i].type);
    }
  }
  std::uint64_t there = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder_.path(), error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with("data.")) there += entry->file_size(error);
  }
  if (needed <= there) return {};
  return fail(ErrorCode::corrupt,
              fmt::format("the data files have {} bytes, the index speaks of {}", there, needed),
              "the file is truncated");
}

void Adios2Input::get(Source& source, const Variable& variable, const Place& place, const TargetBlock& block,
                      adios2::Mode mode) {
  const std::size_t size = size_of(variable.type);
  const std::optional<std::size_t> step = source.steps.at(place.slot);
  // ADIOS2 leaves elements alone that are in no block. Which files have such elements is known only of Weir's
  // own.
  const bool gaps =
      format_ != Format::hdf5 && (!notes_ || notes_->with_gaps.contains({variable.name, place.slot}));
  if (!step || gaps) std::memset(block.data, 0, volume(block.box.count) * size);
  if (!step) return;
  source.handle.SetStepSelection({*step, 1});
  if (source.single_value) {
    library_.engine().Get(source.handle, static_cast<void*>(block.data), adios2::Mode::Sync);
    return;
  }
  const bool hdf5 = format_ == Format::hdf5;
  for (const Box& piece : hdf5 ? split(block.box, hdf5_piece / size) : std::vector<Box>{block.box}) {
    source.handle.SetSelection(
        {{piece.offset.begin(), piece.offset.end()}, {piece.count.begin(), piece.count.end()}});
    library_.engine().Get(source.handle,
                          static_cast<void*>(block.data + position_of(piece, block.box) * size), mode);
  }
}

Status Adios2Input::read(const Place& place, std::span<const TargetBlock> blocks) {
  if (!broken_) return broken_;
  const Variable& variable = variables_.at(place.variable);
  Source& source = sources_.at(place.variable);
  if (place.slot >= source.steps.size()) {
    return fail(ErrorCode::not_found,
                fmt::format("variable '{}' has {} steps", variable.name, source.steps.size()));
  }
  broken_ = guarded(format_, fmt::format("read variable '{}'", variable.name), path_, [&] {
    // Several are asked for together; but the HDF5 engine remembers only the last selection of a variable.
    const bool together = format_ != Format::hdf5 && blocks.size() > 1;
    for (const TargetBlock& block : blocks) {
      if (!block.box.empty())
        get(source, variable, place, block, together ? adios2::Mode::Deferred : adios2::Mode::Sync);
    }
    if (together) library_.engine().PerformGets();
  });
  if (!broken_) broken_ = in_terms_of_path(broken_.error());
  return broken_;
}

// What ADIOS2 says of the folder, in terms of the name that the program gave.
Status Adios2Input::in_terms_of_path(Failure failure) const {
  const std::string held = folder_.path().string();
  const std::size_t at = failure.cause.find(held);
  if (format_ == Format::hdf5 || at == std::string::npos) return tl::make_unexpected(std::move(failure));
  failure.cause.replace(at, held.size(), path_.string());
  std::error_code error;
  if (!fs::exists(folder_.path() / "md.idx", error))
    failure.advice = "the file was removed, or replaced by another, since it was opened";
  return tl::make_unexpected(std::move(failure));
}

Status Adios2Input::close() {
  closed_ = true;
  sources_.clear();
  return guarded(format_, "close", path_, [&] { library_.release(); });
}

// What is wrong with a file that exists is wrong with its content.
Failure as_corrupt(Failure failure) {
  if (failure.code == ErrorCode::io) failure.code = ErrorCode::corrupt;
  return failure;
}

// COLLECTIVE. The same folder on every rank.
Result<HeldFolder> hold(const FileSpec& spec) {
  WEIR_ASSIGN(HeldFolder folder, mpi::agree(spec.comm, HeldFolder::open(spec.path)));
  const bool same = spec.comm.max(folder.number()) == spec.comm.min(folder.number());
  if (!same) return fail(ErrorCode::io, "the file was replaced while it was opened", "open it again");
  return folder;
}

}  // namespace

Result<std::unique_ptr<Input>> open(Format format, const FileSpec& spec) {
  // Each rank opens HDF5 for itself: the reading is local, and so is the end of it. In a BP folder rank 0
  // reads the index for all.
  const bool hdf5 = format == Format::hdf5;
  Origin origin = Origin::foreign;
  HeldFolder folder;
  fs::path path = spec.path;
  if (!hdf5) {
    WEIR_ASSIGN(folder, in(hold(spec), "open", spec.path.string()));
    path = folder.path();
    Result<Origin> checked = Origin::foreign;
    if (spec.comm.rank() == 0)
      checked = weir::guarded([&] { return check_folder(path, format == Format::bp4 ? 4 : 5); });
    WEIR_ASSIGN(origin, in(mpi::agree(spec.comm, std::move(checked)), "open", spec.path.string()));
    origin = spec.comm.max(origin == Origin::weir ? 1 : 0) == 1 ? Origin::weir : Origin::foreign;
  }
  std::unique_ptr<Adios2Input> input;
  Status loaded;
  Status status = guarded(format, "open", spec.path, [&] {
    Library library(format, hdf5 ? mpi::Comm::serial() : spec.comm);
    library.open(path, adios2::Mode::ReadRandomAccess);
    // The first PerformGets of BP5 asks all ranks whether the writer is still active; here they are together.
    if (format == Format::bp5) library.engine().PerformGets();
    input = std::make_unique<Adios2Input>(format, spec, std::move(folder), std::move(library));
    loaded = input->load();
    if (loaded && format == Format::bp5 && origin == Origin::foreign) loaded = input->check_data_size();
  });
  if (status) status = in(std::move(loaded), "open", spec.path.string());
  if (!status) return tl::make_unexpected(as_corrupt(std::move(status).error()));
  return input;
}

}  // namespace weir::backends::bp
