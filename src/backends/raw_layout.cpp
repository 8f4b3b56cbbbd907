#include "backends/raw_layout.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "core/file.hpp"

namespace weir::backends {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t format_version = 1;
constexpr std::uint64_t largest_file = INT64_MAX;
constexpr std::string_view byte_order = std::endian::native == std::endian::little ? "little" : "big";

// Numbers where JSON can hold the value exactly, texts elsewhere (NaN, complex, long double).
Json element_to_json(Type type, const std::byte* element) {
  std::string text = format_element(type, element);
  // JSON would read "-0" as the integer 0.
  const bool as_text = type == Type::long_double || text == "-0" || !Json::accept(text);
  return as_text ? Json(text) : Json::parse(text);
}

Json attribute_to_json(const Attribute& attribute) {
  Json json = {{"name", attribute.name}};
  if (!attribute.variable.empty()) json["variable"] = attribute.variable;
  if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    json["text"] = *text;
    return json;
  }
  const auto& values = std::get<Values>(attribute.value);
  json["type"] = name_of(values.type);
  json["values"] = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    json["values"].push_back(element_to_json(values.type, values.bytes.data() + i * size_of(values.type)));
  }
  return json;
}

Result<Attribute> attribute_from_json(const JsonObject& json) {
  Attribute attribute;
  WEIR_ASSIGN(attribute.name, json.text("name"));
  if (json.has("variable")) {
    WEIR_ASSIGN(attribute.variable, json.text("variable"));
  }
  if (json.has("text")) {
    WEIR_ASSIGN(attribute.value, json.text("text"));
    return attribute;
  }
  Values values;
  WEIR_ASSIGN(const std::string type_name, json.text("type"));
  WEIR_ASSIGN(values.type, parse_type(type_name));
  WEIR_ASSIGN(const Json* elements, json.array("values"));
  for (const Json& element : *elements) {
    if (!element.is_number() && !element.is_string()) {
      return fail(ErrorCode::corrupt,
                  fmt::format("'{}.values' holds something that is not a number", json.where()));
    }
    WEIR_TRY(parse_element(values.type, element.is_string() ? element.get<std::string>() : element.dump(),
                           values.bytes));
  }
  values.clear_padding();
  attribute.value = std::move(values);
  return attribute;
}

Result<Extent> sizes_from_json(const JsonObject& json, const std::string& key) {
  WEIR_ASSIGN(const Json* list, json.array(key));
  Extent sizes;
  for (const Json& item : *list) {
    const auto size = as_size(item);
    if (!size)
      return fail(ErrorCode::corrupt,
                  fmt::format("'{}.{}' holds something that is not a whole number", json.where(), key));
    sizes.push_back(*size);
  }
  return sizes;
}

}  // namespace

fs::path sidecar_of(const fs::path& path) {
  return path.string() + std::string(sidecar_suffix);
}

fs::path find_sidecar(const fs::path& path) {
  std::error_code error;
  const fs::path beside = sidecar_of(path);
  return fs::exists(beside, error) ? beside : sidecar_of(follow_links(path));
}

void RawLayout::define(const Variable& variable) {
  variables_.push_back(variable);
  variables_.back().slots = 0;
  offsets_.emplace_back();
}

void RawLayout::add_attribute(const Attribute& attribute) {
  attributes_.push_back(attribute);
}

Status RawLayout::reserve(VariableId id) {
  const Variable& variable = variables_[id];
  const std::uint64_t bytes = volume(variable.shape) * size_of(variable.type);
  const std::uint64_t padding = (alignment_ - end_ % alignment_) % alignment_;
  if (bytes > largest_file - end_ || padding > largest_file - end_ - bytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the file would become larger than {} bytes", largest_file));
  }
  offsets_[id].push_back(end_ + padding);
  end_ += padding + bytes;
  ++variables_[id].slots;
  return {};
}

Json RawLayout::to_json() const {
  Json json = {{"weir_file", format_version}, {"byte_order", byte_order}, {"size", end_}};
  json["variables"] = Json::array();
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const Variable& variable = variables_[i];
    json["variables"].push_back({{"name", variable.name},
                                 {"type", name_of(variable.type)},
                                 {"shape", variable.shape},
                                 {"stepped", variable.stepped},
                                 {"offsets", offsets_[i]}});
  }
  json["attributes"] = Json::array();
  for (const Attribute& attribute : attributes_) json["attributes"].push_back(attribute_to_json(attribute));
  return json;
}

Result<RawLayout> RawLayout::from_json(const Json& document) {
  WEIR_ASSIGN(const JsonObject json, JsonObject::of(document, ""));
  WEIR_ASSIGN(const std::uint64_t version, json.size("weir_file"));
  if (version != format_version) {
    return fail(ErrorCode::unsupported,
                fmt::format("the file has format version {}, this Weir reads {}", version, format_version));
  }
  WEIR_ASSIGN(const std::string order, json.text("byte_order"));
  if (order != byte_order) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("the file was written on a {}-endian machine, this one is {}-endian", order, byte_order));
  }
  RawLayout layout;
  WEIR_ASSIGN(layout.end_, json.size("size"));
  WEIR_ASSIGN(const Json* variables, json.array("variables"));
  for (std::size_t i = 0; i < variables->size(); ++i) {
    WEIR_ASSIGN(const JsonObject entry, JsonObject::of((*variables)[i], fmt::format("variables[{}]", i)));
    Variable variable;
    WEIR_ASSIGN(variable.name, entry.text("name"));
    WEIR_ASSIGN(const std::string type_name, entry.text("type"));
    WEIR_ASSIGN(variable.type, parse_type(type_name));
    WEIR_ASSIGN(variable.shape, sizes_from_json(entry, "shape"));
    WEIR_ASSIGN(variable.stepped, entry.boolean("stepped"));
    WEIR_ASSIGN(Extent offsets, sizes_from_json(entry, "offsets"));
    variable.slots = offsets.size();
    layout.variables_.push_back(std::move(variable));
    layout.offsets_.push_back(std::move(offsets));
  }
  WEIR_ASSIGN(const Json* attributes, json.array("attributes"));
  for (std::size_t i = 0; i < attributes->size(); ++i) {
    WEIR_ASSIGN(const JsonObject entry, JsonObject::of((*attributes)[i], fmt::format("attributes[{}]", i)));
    WEIR_ASSIGN(Attribute attribute, attribute_from_json(entry));
    layout.attributes_.push_back(std::move(attribute));
  }
  WEIR_TRY(layout.check());
  return layout;
}

Status RawLayout::check() const {
  if (end_ > largest_file) return fail(ErrorCode::corrupt, "'size' is larger than a file can be");
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const Variable& variable = variables_[i];
    WEIR_TRY(check_shape(variable.shape, size_of(variable.type)));
    if (!variable.stepped && variable.slots > 1) {
      return fail(ErrorCode::corrupt, fmt::format("variable '{}' is not stepped but has {} offsets",
                                                  variable.name, variable.slots));
    }
    const std::uint64_t bytes = volume(variable.shape) * size_of(variable.type);
    for (const std::uint64_t offset : offsets_[i]) {
      if (bytes > end_ || offset > end_ - bytes) {
        return fail(ErrorCode::corrupt,
                    fmt::format("variable '{}' reaches beyond the end of the file", variable.name));
      }
    }
  }
  return {};
}

Result<RawLayout> load_layout(const FileSpec& spec) {
  const fs::path sidecar = find_sidecar(spec.path);
  std::string text;
  const Status read = [&]() -> Status {
    if (spec.comm.rank() != 0) return {};
    WEIR_ASSIGN(text, read_text(sidecar));
    return {};
  }();
  WEIR_TRY(mpi::agree(spec.comm, read));
  text = spec.comm.broadcast(std::move(text), 0);
  WEIR_ASSIGN(const Json json, in(parse_json(text), "read", sidecar.string()));
  WEIR_ASSIGN(RawLayout layout, in(RawLayout::from_json(json), "read", sidecar.string()));

  std::error_code error;
  const auto size = fs::file_size(spec.path, error);
  if (error) return fail_errno(error.value(), "open", spec.path.string());
  if (size != layout.size()) {
    return in(
        Result<RawLayout>(fail(ErrorCode::corrupt,
                               fmt::format("the file has {} bytes, {} says {}", size,
                                           sidecar.filename().string(), layout.size()),
                               "the file was cut off, or is being replaced, or belongs to another .json")),
        "open", spec.path.string());
  }
  return layout;
}

Status save_layout(const fs::path& path, const RawLayout& layout) {
  const fs::path sidecar = sidecar_of(path);
  const std::string text = layout.to_json().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  WEIR_ASSIGN(Descriptor file, open_file(sidecar, O_CREAT | O_TRUNC | O_WRONLY));
  WEIR_TRY(write_at(file.get(), text.data(), text.size(), 0, sidecar));
  return file.close(sidecar);
}

}  // namespace weir::backends
