#include "files/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "files/checksum.hpp"
#include "files/names.hpp"

namespace weir::files {

std::string describe_write(const std::string& name, std::optional<std::int64_t> step) {
  return fmt::format("write variable '{}'{}", name, step ? fmt::format(", step {}", *step) : "");
}

std::string describe_attribute(const backends::Attribute& attribute, const std::string& path) {
  const std::string owner =
      attribute.variable.empty() ? "" : fmt::format("variable '{}' in ", attribute.variable);
  std::string value;
  if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    value = *text;
  } else {
    const auto& values = std::get<Values>(attribute.value);
    value = fmt::format("{} x {} {:x}", values.size(), name_of(values.type),
                        checksum(values.bytes.data(), values.bytes.size()));
  }
  return fmt::format("set attribute '{}' of {}'{}' to '{}'", attribute.name, owner, path, value);
}

Result<backends::Variable> Catalogue::resolve_variable(const std::string& name, Type type,
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
Status Catalogue::check_no_group(const std::string& name) const {
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

Status Catalogue::check_limits(const std::string& name) const {
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

bool Catalogue::is_fresh(const std::string& name, std::optional<std::int64_t> step) const {
  const auto found = variables_.find(name);
  return found == variables_.end() || found->second.steps.empty() ||
         (step && *step != found->second.steps.back());
}

Status Catalogue::check_box_is_new(const std::string& name, const Box& box) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || box.empty()) return {};
  const auto before = found->second.boxes.find(box);
  if (!before) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("the block ({}) overlaps one that this rank wrote before ({})", format_box(box),
                          format_box(found->second.boxes.boxes()[*before])));
}

Result<Catalogue::Resolved> Catalogue::resolve(const WriteRequest& request) const {
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
  resolved.fresh_slot = is_fresh(request.name, request.step);
  if (!resolved.fresh_slot) WEIR_TRY(check_box_is_new(request.name, resolved.box));
  return resolved;
}

Status Catalogue::check_attribute(const backends::Attribute& attribute) const {
  WEIR_TRY(check_attribute_name(attribute.name));
  if (!attribute.variable.empty() && variables_.find(attribute.variable) == variables_.end()) {
    return fail(ErrorCode::not_found, "no such variable yet", "write or reserve it first");
  }
  const auto& own = entry_->own_attributes;
  if (attribute.variable.empty() && std::find(own.begin(), own.end(), attribute.name) != own.end()) {
    return fail(ErrorCode::unsupported,
                fmt::format("backend '{}' itself uses an attribute '{}'", entry_->name, attribute.name),
                "give it another name, or choose another backend");
  }
  if (attributes_.count(attribute.variable + "\n" + attribute.name) != 0)
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
}

void Catalogue::note_variable(const backends::Variable& info) {
  variables_.try_emplace(info.name, Known{.info = info, .steps = {}, .boxes = {}});
}

void Catalogue::note_slot(const backends::Variable& info, std::int64_t step) {
  note_variable(info);
  Known& known = variables_[info.name];
  known.steps.push_back(step);
  known.boxes.clear();
  last_step_ = step;
}

void Catalogue::note_box(const std::string& name, const Box& box) {
  if (!box.empty()) variables_[name].boxes.add({&box, 1});
}

void Catalogue::forget_box(const std::string& name, const Box& box) {
  if (const auto found = variables_.find(name); found != variables_.end()) found->second.boxes.remove(box);
}

void Catalogue::forget_slot(const std::string& name, std::int64_t step) {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return;
  std::vector<std::int64_t>& steps = found->second.steps;
  if (!steps.empty() && steps.back() == step) found->second.boxes.clear();
  std::erase(steps, step);
  if (steps.empty()) variables_.erase(found);
}

void Catalogue::note_attribute(const backends::Attribute& attribute) {
  attributes_.insert(attribute.variable + "\n" + attribute.name);
}

}  // namespace weir::files
