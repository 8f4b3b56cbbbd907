#include "files/output_file.hpp"

// What a rank writes on its own the others do not know of. That blocks do not overlap is checked where it can
// be: with earlier collective writes at once, with everything else when ranks meet the next time.
namespace weir::files {

Status OutputFile::store_independently(const Heading& heading, const backends::SourceBlock& block,
                                       int owner) {
  const std::string operation = describe_write(heading.name, heading.step);
  const Status ready = [&]() -> Status {
    WEIR_TRY(check_usable());
    WEIR_TRY(catalogue_.resolve_variable(heading));
    if (catalogue_.is_fresh(heading.name, heading.step)) {
      return fail(ErrorCode::state, "no room was reserved for an independent write",
                  "call reserve() on all ranks first");
    }
    const OwnedBox arriving{owner, block.box};
    return check_overlap(&variables_[heading.name], {&arriving, 1});
  }();
  if (!ready) return in(ready, operation, path());
  Known& known = variables_[heading.name];
  const backends::Place place{
      .variable = known.id, .slot = known.steps.size() - 1, .access = backends::Access::independent};
  Status written = in(transfer(known, place, {&block, block.box.empty() ? 0U : 1U}), operation, path());
  if (!written) {
    written.error().rank = comm_.rank();
    return lose(written.error());
  }
  if (!block.box.empty()) untold_[{heading.name, place.slot}].push_back({owner, block.box});
  return {};
}

// For a collective write to the newest slot of a variable: its boxes, and those of this process that the
// other ranks do not know of.
std::vector<OwnedBox> OutputFile::with_untold(std::vector<OwnedBox> boxes, const std::string& name) const {
  const auto known = variables_.find(name);
  if (known == variables_.end()) return boxes;
  const auto found = untold_.find({name, known->second.steps.size() - 1});
  if (found != untold_.end()) boxes.insert(boxes.end(), found->second.begin(), found->second.end());
  return boxes;
}

// COLLECTIVE. Slot by slot, so that no rank holds more boxes at once than for a collective write. One small
// reduction where nobody wrote independently.
Status OutputFile::check_untold() {
  if (comm_.max(untold_.empty() ? 0 : 1) == 0) return {};
  std::vector<std::int64_t> writers;  // by variable and slot
  for (const auto& [name, known] : variables_) {
    for (std::uint64_t slot = 0; slot < known.steps.size(); ++slot)
      writers.push_back(untold_.contains({name, slot}) ? 1 : 0);
  }
  writers = comm_.sum(std::move(writers));
  auto here = writers.begin();
  for (const auto& [name, known] : variables_) {
    for (std::uint64_t slot = 0; slot < known.steps.size(); ++slot, ++here) {
      if (*here == 0) continue;
      const auto mine = untold_.find({name, slot});
      const std::vector<OwnedBox> all = arriving_boxes(
          mine == untold_.end() ? std::vector<OwnedBox>() : mine->second, known.info.shape.size());
      const auto step = known.info.stepped ? std::optional(known.steps[slot]) : std::nullopt;
      WEIR_TRY(in(check_overlap(nullptr, all), describe_write(name, step), path()));
    }
  }
  untold_.clear();
  return {};
}

}  // namespace weir::files
