#include "backends/adios2_notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/json.hpp"

namespace weir::backends::bp {

namespace {

constexpr std::string_view notes_name = "weir:notes";
constexpr std::size_t notes_piece =
    30000;  // HDF5 keeps attributes of up to 64 KiB, ADIOS2 takes no care of it

std::string piece_name(std::size_t piece) {
  return piece == 0 ? std::string(notes_name) : fmt::format("{}.{}", notes_name, piece);
}

std::string full_name(const Attribute& attribute) {
  return attribute.variable.empty() ? attribute.name : attribute.variable + "/" + attribute.name;
}

// The type of the parts of a complex number.
Type part_of(Type type) {
  if (type == Type::complex64) return Type::float32;
  return type == Type::complex128 ? Type::float64 : Type::long_double;
}

bool is_complex(Type type) {
  return type == Type::complex64 || type == Type::complex128 || type == Type::complex_long_double;
}

void define_values(adios2::IO& io, const std::string& name, Type type, const std::vector<std::byte>& bytes) {
  with_type(type, [&](auto element) {
    using T = decltype(element);
    if constexpr (!std::is_same_v<T, std::complex<long double>>) {
      std::vector<T> values(bytes.size() / sizeof(T));
      std::memcpy(values.data(), bytes.data(), bytes.size());
      io.DefineAttribute<T>(name, values.data(), values.size());
    }
  });
}

void define(Format format, adios2::IO& io, const Attribute& attribute, Notes& notes) {
  const std::string name = full_name(attribute);
  if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    const bool zeros = text->find('\0') != std::string::npos;
    if (text->empty() || zeros) notes.disguises.push_back({name, "text", zeros});
    if (zeros) {
      define_values(io, name, Type::uint8, Values::of(std::span<const char>(*text)).bytes);
    } else if (!text->empty()) {
      io.DefineAttribute<std::string>(name, *text);
    }
    return;
  }
  const auto& values = std::get<Values>(attribute.value);
  const bool pairs = is_complex(values.type) && (format == Format::hdf5 || !stores(values.type));
  if (values.bytes.empty() || pairs) {
    notes.disguises.push_back({name, std::string(name_of(values.type)), !values.bytes.empty()});
  }
  if (!values.bytes.empty())
    define_values(io, name, pairs ? part_of(values.type) : values.type, values.bytes);
}

Json slots_to_json(const std::set<Notes::SlotOf>& slots) {
  Json list = Json::array();
  for (const auto& [name, slot] : slots) list.push_back({{"name", name}, {"slot", slot}});
  return list;
}

Result<std::set<Notes::SlotOf>> slots_from_json(const JsonObject& all, const std::string& key) {
  std::set<Notes::SlotOf> slots;
  WEIR_ASSIGN(const Json* list, all.array(key));
  for (const Json& value : *list) {
    WEIR_ASSIGN(const JsonObject entry, JsonObject::of(value, key));
    WEIR_ASSIGN(const std::string name, entry.text("name"));
    WEIR_ASSIGN(const std::uint64_t slot, entry.size("slot"));
    slots.emplace(name, slot);
  }
  return slots;
}

std::string to_text(const Notes& notes) {
  Json variables = Json::array();
  for (const Variable& variable : notes.variables) {
    variables.push_back({{"name", variable.name},
                         {"type", name_of(variable.type)},
                         {"shape", variable.shape},
                         {"stepped", variable.stepped},
                         {"slots", variable.slots}});
  }
  Json disguises = Json::array();
  for (const auto& one : notes.disguises) {
    disguises.push_back({{"name", one.full_name}, {"type", one.type}, {"stored", one.stored}});
  }
  const Json all = {{"version", 1},
                    {"variables", variables},
                    {"gaps", slots_to_json(notes.with_gaps)},
                    {"unwritten", slots_to_json(notes.unwritten)},
                    {"attributes", disguises}};
  return all.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<Variable> variable_from_json(const Json& value) {
  WEIR_ASSIGN(const JsonObject entry, JsonObject::of(value, "variable"));
  Variable variable;
  WEIR_ASSIGN(variable.name, entry.text("name"));
  WEIR_ASSIGN(const std::string type, entry.text("type"));
  WEIR_ASSIGN(variable.type, parse_type(type));
  WEIR_ASSIGN(const Json* shape, entry.array("shape"));
  for (const Json& length : *shape) {
    if (!length.is_number_unsigned()) return fail(ErrorCode::corrupt, "a shape is not made of numbers");
    variable.shape.push_back(length.get<std::uint64_t>());
  }
  WEIR_TRY(check_shape(variable.shape, size_of(variable.type)));
  WEIR_ASSIGN(variable.stepped, entry.boolean("stepped"));
  WEIR_ASSIGN(variable.slots, entry.size("slots"));
  return variable;
}

Result<Notes> from_text(const std::string& text) {
  WEIR_ASSIGN(const Json json, parse_json(text));
  WEIR_ASSIGN(const JsonObject all, JsonObject::of(json, "notes"));
  WEIR_ASSIGN(const std::uint64_t version, all.size("version"));
  if (version != 1) return fail(ErrorCode::unsupported, "written by a newer Weir", "update Weir");
  Notes notes;
  WEIR_ASSIGN(const Json* variables, all.array("variables"));
  for (const Json& value : *variables) {
    WEIR_ASSIGN(Variable variable, variable_from_json(value));
    notes.variables.push_back(std::move(variable));
  }
  WEIR_ASSIGN(notes.with_gaps, slots_from_json(all, "gaps"));
  WEIR_ASSIGN(notes.unwritten, slots_from_json(all, "unwritten"));
  WEIR_ASSIGN(const Json* disguises, all.array("attributes"));
  for (const Json& value : *disguises) {
    WEIR_ASSIGN(const JsonObject entry, JsonObject::of(value, "attribute"));
    Notes::Disguise one;
    WEIR_ASSIGN(one.full_name, entry.text("name"));
    WEIR_ASSIGN(one.type, entry.text("type"));
    WEIR_ASSIGN(one.stored, entry.boolean("stored"));
    notes.disguises.push_back(std::move(one));
  }
  return notes;
}

// The value as ADIOS2 holds it; nullopt for types that Weir has not.
std::optional<AttributeValue> value_of(adios2::IO& io, const std::string& name) {
  const std::string type_name = io.AttributeType(name);
  if (type_name == "string") {
    std::string text;
    for (const std::string& line : io.InquireAttribute<std::string>(name).Data()) {
      text += (text.empty() ? "" : "\n") + line.substr(0, line.find_last_not_of('\0') + 1);
    }
    return text;
  }
  if (type_name == "char") {
    const std::vector<char> values = io.InquireAttribute<char>(name).Data();
    return Values::of(std::span<const char>(values));
  }
  const std::optional<Type> type = from_adios2(type_name);
  if (!type) return std::nullopt;
  return with_type(*type, [&](auto element) -> std::optional<AttributeValue> {
    using T = decltype(element);
    if constexpr (std::is_same_v<T, std::complex<long double>>) {
      return std::nullopt;
    } else {
      const std::vector<T> elements = io.InquireAttribute<T>(name).Data();
      Values values = Values::of(std::span<const T>(elements));
      values.clear_padding();  // ADIOS2 copies numbers one by one, and padding does not survive that
      return values;
    }
  });
}

AttributeValue undisguise(const Notes::Disguise& disguise, std::optional<AttributeValue> stored) {
  std::vector<std::byte> bytes;
  if (disguise.stored && stored && std::holds_alternative<Values>(*stored))
    bytes = std::get<Values>(*stored).bytes;
  if (disguise.type == "text") return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return Values{.type = parse_type(disguise.type).value_or(Type::uint8), .bytes = std::move(bytes)};
}

Attribute placed(std::string name, AttributeValue value, const std::vector<Variable>& variables) {
  Attribute attribute{.variable = "", .name = std::move(name), .value = std::move(value)};
  std::string owner;
  for (const Variable& variable : variables) {
    if (variable.name.size() > owner.size() && attribute.name.starts_with(variable.name + "/"))
      owner = variable.name;
  }
  if (!owner.empty() && attribute.name.size() > owner.size() + 1) {
    attribute.variable = owner;
    attribute.name.erase(0, owner.size() + 1);
  }
  return attribute;
}

}  // namespace

void store_attributes(Format format, adios2::IO& io, const std::vector<Attribute>& attributes, Notes notes) {
  for (const Attribute& attribute : attributes) define(format, io, attribute, notes);
  const std::string text = to_text(notes);
  for (std::size_t piece = 0; piece * notes_piece < text.size(); ++piece) {
    io.DefineAttribute<std::string>(piece_name(piece), text.substr(piece * notes_piece, notes_piece));
  }
}

Result<std::optional<Notes>> load_notes(adios2::IO& io) {
  std::string text;
  for (std::size_t piece = 0;; ++piece) {
    const auto attribute = io.InquireAttribute<std::string>(piece_name(piece));
    if (!attribute) break;
    for (const std::string& part : attribute.Data()) text += part;
  }
  if (text.empty()) return std::optional<Notes>();
  Result<Notes> notes = from_text(text);
  if (!notes) {
    const ErrorCode code =
        notes.error().code == ErrorCode::unsupported ? ErrorCode::unsupported : ErrorCode::corrupt;
    return fail(code, "the notes that Weir keeps in the file: " + notes.error().cause, notes.error().advice);
  }
  return std::optional<Notes>(std::move(*notes));
}

std::vector<Attribute> load_attributes(adios2::IO& io, const Notes& notes,
                                       const std::vector<Variable>& variables) {
  std::vector<Attribute> attributes;
  for (const auto& [name, parameters] : io.AvailableAttributes()) {
    if (name.starts_with(notes_name)) continue;
    const bool disguised = std::any_of(notes.disguises.begin(), notes.disguises.end(),
                                       [&name = name](const auto& one) { return one.full_name == name; });
    if (disguised) continue;
    if (auto value = value_of(io, name)) attributes.push_back(placed(name, std::move(*value), variables));
  }
  for (const auto& one : notes.disguises) {
    auto stored = one.stored ? value_of(io, one.full_name) : std::nullopt;
    attributes.push_back(placed(one.full_name, undisguise(one, std::move(stored)), variables));
  }
  return attributes;
}

}  // namespace weir::backends::bp
