#include "files/reducing_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weir::files {

namespace {

std::uint64_t bytes_of(const Box& box, std::size_t element_size) {
  return box.empty() ? 0 : volume(box.count) * element_size;
}

// Only there can a result fail on one rank and not on another.
bool may_overflow(const Reduction& reduction, Type type) {
  const bool integer = type <= Type::uint64;
  return integer && (reduction.operation == "sum" || reduction.operation == "mean");
}

constexpr const char* same_blocks = "write the same blocks in every step of a result";

std::string describe_step(std::optional<std::int64_t> step) {
  return step ? fmt::format("step {}", *step) : "the array";
}

}  // namespace

std::uint64_t ReducingWriter::memory() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, variable] : variables_) {
    for (const Part& part : variable.parts) {
      for (const Held& held : part) bytes += held.accumulator ? held.accumulator->bytes() : 0;
    }
  }
  return bytes;
}

void ReducingWriter::note_memory(const Rooms& passing) {
  std::uint64_t bytes = memory();
  for (const auto& room : passing) bytes += room.size();
  peak_ = std::max(peak_, bytes);
}

// The place of each box in the part, if they are the same boxes. Mostly in the same order.
std::optional<std::vector<std::size_t>> ReducingWriter::match(const std::vector<Box>& boxes,
                                                              const Part& part) {
  if (boxes.size() != part.size()) return std::nullopt;
  std::vector<bool> taken(part.size(), false);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const auto fits = [&](std::size_t at) { return !taken[at] && part[at].box == boxes[i]; };
    std::size_t at = i;
    if (!fits(at)) {
      at = 0;
      while (at < part.size() && !fits(at)) ++at;
      if (at == part.size()) return std::nullopt;
    }
    taken[at] = true;
    places.push_back(at);
  }
  return places;
}

tl::unexpected<Failure> ReducingWriter::unequal_steps(const Variable& variable) {
  return fail(ErrorCode::state,
              fmt::format("step {} was written in {} calls, the steps before it in {}", *variable.step,
                          variable.calls, variable.live),
              same_blocks);
}

// Whether the call fits what is known of the variable; for a new one, what is to be known of it.
Status ReducingWriter::stage_variable(const Call& call, Variable& fresh, const Variable*& known) const {
  if (!call.reduction.operation.empty() && !call.step) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a reduction ({}) of an array without steps", describe(call.reduction)),
                "give each write a step");
  }
  const auto found = variables_.find(call.name);
  if (found == variables_.end()) {
    WEIR_TRY(type_from_code(static_cast<int>(call.type)));
    WEIR_TRY(check_shape(call.shape, size_of(call.type)));
    WEIR_TRY(check(call.reduction, call.type, call.shape));
    fresh.reduction = call.reduction;
    fresh.type = call.type;
    fresh.shape = call.shape;
    fresh.stored = {.name = call.name,
                    .type = result_type(call.reduction, call.type),
                    .shape = result_shape(call.shape, call.reduction.every),
                    .stepped = call.step.has_value()};
    known = &fresh;
    return file_.accepts(fresh.stored, call.step);
  }
  known = &found->second;
  if (known->reduction != call.reduction) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the reduction is {}, the variable was first written with {}",
                            describe(call.reduction), describe(known->reduction)));
  }
  if (known->type != call.type) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the elements are {}, the variable was first written as {}", name_of(call.type),
                            name_of(known->type)));
  }
  if (!call.shape.empty() && known->shape != call.shape) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the shape is {}, the variable was first written with {}",
                            format_extent(call.shape), format_extent(known->shape)));
  }
  if (known->stored.stepped != call.step.has_value()) {
    return fail(ErrorCode::invalid_argument, known->stored.stepped
                                                 ? "the variable has steps, and no step is given"
                                                 : "the variable was first written without a step");
  }
  return {};
}

// Where the call stands: in which step of a result, and whether it completes it.
Status ReducingWriter::stage_place(const Call& call, const Variable& known, Staged& staged) {
  staged.new_step = known.opens_step(call.step);
  if (known.step && call.step && *call.step < *known.step)
    return fail(ErrorCode::state,
                fmt::format("step {} has been written already; steps count up", *known.step));
  if (staged.new_step && known.steps > 0 && known.calls != known.live) return unequal_steps(known);
  const std::uint64_t steps = !staged.new_step                       ? known.steps
                              : known.steps == known.reduction.steps ? 1
                                                                     : known.steps + 1;
  staged.new_result = steps == 1;
  staged.completes = steps == known.reduction.steps;
  staged.index = staged.new_step ? 0 : known.calls;
  if (!staged.new_result && staged.index >= known.live) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is written in more calls than the first step of its result",
                            describe_step(call.step)),
                same_blocks);
  }
  return {};
}

Status ReducingWriter::stage_boxes(const Call& call, const Variable& known, Staged& staged) {
  for (const ReducedBlock& block : call.blocks) {
    Box box = block.box;
    if (box.offset.empty()) box.offset.assign(known.shape.size(), 0);
    if (box.count.empty()) box.count = known.shape;
    WEIR_TRY(check_box(box, known.shape));
    const std::uint64_t needed = volume(box.count);
    if (call.elements != as_needed && call.elements != needed) {
      return fail(ErrorCode::invalid_argument, fmt::format("the block ({}) has {} elements, the buffer {}",
                                                           format_box(box), needed, call.elements));
    }
    if (needed > 0 && block.data == nullptr)
      return fail(ErrorCode::invalid_argument, "the buffer is a null pointer");
    staged.boxes.push_back(std::move(box));
  }
  return {};
}

// What the call needs is made before the ranks agree on it, so that a rank without memory can still refuse.
Status ReducingWriter::stage_memory(const Call& call, const Variable& known, Staged& staged) {
  const Part* part = staged.index < known.parts.size() ? &known.parts[staged.index] : nullptr;
  auto places = part != nullptr ? match(staged.boxes, *part) : std::nullopt;
  if (!places && !staged.new_result) {
    return fail(ErrorCode::invalid_argument,
                staged.boxes.size() == 1
                    ? fmt::format("the block ({}) is not that of the first step of its result",
                                  format_box(staged.boxes[0]))
                    : "the blocks are not those of the first step of their result",
                "blocks may change only after as many steps as give a result");
  }
  if (!places) {
    places.emplace();
    staged.part.emplace();
    for (std::size_t i = 0; i < staged.boxes.size(); ++i) {
      places->push_back(i);
      Held held{.box = staged.boxes[i],
                .kept = result_box(staged.boxes[i], known.reduction.every),
                .owner = call.blocks[i].owner};
      if (!known.reduction.operation.empty())
        held.accumulator =
            std::make_unique<Accumulator>(known.reduction.operation, known.type, bytes_of(held.kept, 1));
      staged.part->push_back(std::move(held));
    }
    part = &*staged.part;
  }
  staged.at = std::move(*places);
  if (!known.reduction.every.empty()) {
    for (const std::size_t at : staged.at)
      staged.thinned.emplace_back(bytes_of((*part)[at].kept, size_of(known.type)));
  }
  return {};
}

Result<ReducingWriter::Staged> ReducingWriter::stage(const Call& call) const {
  WEIR_TRY(file_.usable());
  Staged staged;
  const Variable* known = nullptr;
  WEIR_TRY(stage_variable(call, staged.fresh, known));
  WEIR_TRY(stage_place(call, *known, staged));
  WEIR_TRY(stage_boxes(call, *known, staged));
  WEIR_TRY(stage_memory(call, *known, staged));
  return staged;
}

// Moves on to the step of this call. COLLECTIVE when the variable is new.
Result<ReducingWriter::Variable*> ReducingWriter::commit(const Call& call, Staged& staged) {
  const auto [found, is_new] = variables_.try_emplace(call.name);
  Variable& variable = found->second;
  if (is_new) {
    variable = std::move(staged.fresh);
    WEIR_TRY(file_.define(variable.stored));  // so that it can have attributes before its first result
  }
  if (staged.new_step) {
    if (staged.new_result) {
      variable.steps = 0;
      variable.live = 0;
    } else {
      variable.parts.resize(variable.live);
    }
    ++variable.steps;
    variable.step = call.step;
  }
  variable.calls = staged.index + 1;
  if (staged.new_result) variable.live = variable.calls;
  if (staged.part) {
    if (staged.index < variable.parts.size()) {
      variable.parts[staged.index] = std::move(*staged.part);
    } else {
      variable.parts.push_back(std::move(*staged.part));
    }
  }
  return &variable;
}

Status ReducingWriter::write(const Call& call) {
  Result<Staged> staged = guarded([&] { return stage(call); });
  const auto words = [&] {
    const Extent& shape =
        call.shape.empty() && knows(call.name) ? variables_.at(call.name).shape : call.shape;
    return fmt::format("write variable '{}', {}, type {}, shape {}, reduced to {}", call.name,
                       describe_step(call.step), name_of(call.type), format_extent(shape),
                       describe(call.reduction));
  };
  WEIR_TRY(mpi::vote(comm_, words, staged ? Status() : Status(tl::make_unexpected(staged.error()))));

  WEIR_ASSIGN(Variable * variable, commit(call, *staged));
  note_memory(staged->thinned);
  Part& part = variable->parts[staged->index];
  std::vector<ReducedBlock> arrived;  // what is left of the blocks
  for (std::size_t i = 0; i < call.blocks.size(); ++i) {
    const std::byte* data = call.blocks[i].data;
    if (!staged->thinned.empty()) {
      subsample(staged->boxes[i], data, size_of(variable->type), variable->reduction.every,
                staged->thinned[i].data());
      data = staged->thinned[i].data();
    }
    Held& held = part[staged->at[i]];
    if (held.accumulator) held.accumulator->add(data);
    arrived.push_back({held.kept, data, held.owner});
  }
  if (!staged->completes) return {};
  if (variable->reduction.operation.empty()) return file_.write(variable->stored, variable->step, arrived);
  return store(*variable, part);
}

Status ReducingWriter::store(Variable& variable, Part& part) {
  Status computed;
  std::vector<ReducedBlock> blocks;
  for (Held& held : part) {
    const auto result = held.accumulator->finish();
    if (!result) computed = tl::make_unexpected(result.error());
    blocks.push_back({held.kept, result.value_or(nullptr), held.owner});
  }
  if (may_overflow(variable.reduction, variable.type)) WEIR_TRY(mpi::agree(comm_, computed));
  return file_.write(variable.stored, variable.step, blocks);
}

Status ReducingWriter::finish() {
  // In the order of their steps, as some formats want it; the same on every rank.
  std::vector<Variable*> incomplete;
  for (auto& [name, variable] : variables_) {
    if (variable.steps > 0 && variable.steps < variable.reduction.steps) incomplete.push_back(&variable);
  }
  std::stable_sort(incomplete.begin(), incomplete.end(),
                   [](const Variable* a, const Variable* b) { return a->step < b->step; });
  for (const auto& [name, variable] : variables_) {
    if (variable.calls != variable.live)
      return in(Status(unequal_steps(variable)), fmt::format("write variable '{}'", name));
  }
  for (Variable* variable : incomplete) {
    for (std::size_t i = 0; i < variable->live; ++i) {
      WEIR_TRY(
          in(store(*variable, variable->parts[i]),
             fmt::format("write variable '{}', {}", variable->stored.name, describe_step(variable->step))));
    }
  }
  variables_.clear();
  return {};
}

}  // namespace weir::files
