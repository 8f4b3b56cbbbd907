#include <algorithm>
#include <cstring>

#include "backends/hdf5_file.hpp"

namespace weir::backends::hdf5 {

namespace {

constexpr std::uint64_t most_bytes =
    std::uint64_t{1} << 30;  // of an attribute that is read: a corrupt file can claim any size

DataType text_type(std::size_t size) {
  DataType type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), size);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

// Of variable length, which Python reads as str, unless the text has a zero inside, which would end it.
Status write_text(const AttributeHandle& attribute, const DataType& type, const std::string& text,
                  const std::filesystem::path& path) {
  const char* start = text.c_str();
  const void* source = H5Tis_variable_str(type.get()) > 0 ? static_cast<const void*>(&start) : start;
  if (H5Awrite(attribute.get(), type.get(), source) < 0) return write_failure(path);
  return {};
}

std::optional<std::string> read_variable_text(const AttributeHandle& attribute, const DataType& stored) {
  DataType memory = text_type(H5T_VARIABLE);
  H5Tset_cset(memory.get(), H5Tget_cset(stored.get()));
  char* text = nullptr;
  if (H5Aread(attribute.get(), memory.get(), &text) < 0) return std::nullopt;
  std::string result = text == nullptr ? "" : text;
  H5free_memory(text);
  return result;
}

std::optional<std::string> read_fixed_text(const AttributeHandle& attribute, const DataType& stored) {
  const std::size_t size = H5Tget_size(stored.get());
  if (size > most_bytes) return std::nullopt;
  std::string text(size, '\0');
  if (H5Aread(attribute.get(), stored.get(), text.data()) < 0) return std::nullopt;
  switch (H5Tget_strpad(stored.get())) {
    case H5T_STR_NULLTERM:
      text.resize(std::min(text.size(), text.find('\0')));
      break;
    case H5T_STR_SPACEPAD:
      text.resize(text.find_last_not_of(' ') + 1);
      break;
    default:
      text.resize(text.find_last_not_of('\0') + 1);
      break;
  }
  return text;
}

// nullopt: of a kind that Weir cannot hold, or not readable.
std::optional<AttributeValue> read_value(const AttributeHandle& attribute) {
  const DataType stored(H5Aget_type(attribute.get()));
  const DataSpace space(H5Aget_space(attribute.get()));
  if (!stored || !space) return std::nullopt;
  const hssize_t count =
      H5Sget_simple_extent_type(space.get()) == H5S_NULL ? 0 : H5Sget_simple_extent_npoints(space.get());
  if (count < 0) return std::nullopt;
  if (H5Tget_class(stored.get()) == H5T_STRING) {
    if (count == 0) return AttributeValue(std::string());
    if (count > 1) return std::nullopt;
    auto text = H5Tis_variable_str(stored.get()) > 0 ? read_variable_text(attribute, stored)
                                                     : read_fixed_text(attribute, stored);
    if (!text) return std::nullopt;
    return AttributeValue(std::move(*text));
  }
  const auto readable = readable_type(stored.get());
  if (!readable || static_cast<std::uint64_t>(count) > most_bytes / size_of(readable->type))
    return std::nullopt;
  Values values{.type = readable->type, .bytes = {}};
  values.bytes.resize(static_cast<std::size_t>(count) * size_of(readable->type));
  if (count > 0 && H5Aread(attribute.get(), readable->memory.get(), values.bytes.data()) < 0)
    return std::nullopt;
  return AttributeValue(std::move(values));
}

herr_t collect_name(hid_t, const char* name, const H5A_info_t*, void* names) noexcept {
  try {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
  } catch (...) {
    return -1;
  }
}

}  // namespace

Status write_attribute(hid_t object, const std::string& name, const AttributeValue& value,
                       const std::filesystem::path& path) {
  const auto* text = std::get_if<std::string>(&value);
  const auto* values = std::get_if<Values>(&value);
  DataType type;
  DataSpace space;
  if (text != nullptr) {
    const bool has_zero = text->find('\0') != std::string::npos;
    type = text_type(has_zero ? text->size() : H5T_VARIABLE);
    // Reading takes the padding off the end, which must not be part of the text.
    if (has_zero) H5Tset_strpad(type.get(), text->back() == '\0' ? H5T_STR_SPACEPAD : H5T_STR_NULLPAD);
    space = DataSpace(H5Screate(H5S_SCALAR));
  } else {
    type = native_type(values->type);
    const hsize_t count = values->size();
    space = DataSpace(H5Screate_simple(1, &count, nullptr));
  }
  const Properties creation(H5Pcreate(H5P_ATTRIBUTE_CREATE));
  H5Pset_char_encoding(creation.get(), H5T_CSET_UTF8);
  if (H5Aexists(object, name.c_str()) > 0 && H5Adelete(object, name.c_str()) < 0) return write_failure(path);
  AttributeHandle attribute(
      H5Acreate2(object, name.c_str(), type.get(), space.get(), creation.get(), H5P_DEFAULT));
  if (!attribute) return write_failure(path);
  if (text != nullptr) {
    WEIR_TRY(write_text(attribute, type, *text, path));
  } else if (!values->bytes.empty() && H5Awrite(attribute.get(), type.get(), values->bytes.data()) < 0) {
    return write_failure(path);
  }
  if (!attribute.close()) return write_failure(path);
  return {};
}

Status read_attributes(hid_t object, const std::string& variable, std::vector<Attribute>& attributes,
                       std::vector<Unreadable>& unreadable) {
  std::vector<std::string> names;
  if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &names) < 0) {
    return library_failure(ErrorCode::corrupt);
  }
  for (const std::string& name : names) {
    if (name == stepped_mark && !variable.empty()) continue;
    const AttributeHandle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT));
    if (!attribute) return library_failure(ErrorCode::corrupt);
    if (auto value = read_value(attribute)) {
      attributes.push_back({variable, name, std::move(*value)});
    } else {
      const DataType type(H5Aget_type(attribute.get()));
      unreadable.push_back({variable, name, unsupported_type(type.get())});
    }
  }
  return {};
}

}  // namespace weir::backends::hdf5
