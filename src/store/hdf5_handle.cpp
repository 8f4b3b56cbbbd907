#include "store/hdf5_handle.hpp"

#include <algorithm>
#include <cstring>

namespace weir::store {

namespace {

Hdf5Handle fixed_text(std::size_t length) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), std::max<std::size_t>(length, 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  return type;
}

}  // namespace

std::vector<std::string> read_texts(hid_t object, const char* name, std::size_t at_most) {
  std::vector<std::string> texts;
  if (H5Aexists(object, name) <= 0) return texts;
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  if (!attribute) return texts;
  const Hdf5Handle space(H5Aget_space(attribute.get()), H5Sclose),
      type(H5Aget_type(attribute.get()), H5Tclose);
  const hssize_t count = space ? H5Sget_simple_extent_npoints(space.get()) : -1;
  if (!type || count <= 0 || static_cast<std::size_t>(count) > at_most ||
      H5Tget_class(type.get()) != H5T_STRING)
    return texts;
  if (H5Tis_variable_str(type.get()) > 0) {
    const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(memory.get(), H5T_VARIABLE);
    H5Tset_cset(memory.get(), H5Tget_cset(type.get()));
    std::vector<char*> pointers(static_cast<std::size_t>(count), nullptr);
    if (H5Aread(attribute.get(), memory.get(), pointers.data()) < 0) return texts;
    for (const char* pointer : pointers) texts.emplace_back(pointer == nullptr ? "" : pointer);
    H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, pointers.data());
    return texts;
  }
  const std::size_t size = H5Tget_size(type.get());
  if (size == 0 || size > 4096) return texts;
  std::string bytes(size * static_cast<std::size_t>(count), 0);
  if (H5Aread(attribute.get(), type.get(), bytes.data()) < 0) return texts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const char* at = bytes.data() + i * size;
    std::string text(at, ::strnlen(at, size));
    text.erase(text.find_last_not_of(' ') + 1);
    texts.push_back(std::move(text));
  }
  return texts;
}

bool write_texts(hid_t object, const char* name, const std::vector<std::string>& texts) {
  std::size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  std::string bytes(longest * texts.size(), 0);
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::memcpy(bytes.data() + i * longest, texts[i].data(), texts[i].size());
  const hsize_t count = texts.size();
  const Hdf5Handle type = fixed_text(longest);
  const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Hdf5Handle attribute(H5Acreate2(object, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  return attribute && H5Awrite(attribute.get(), type.get(), bytes.data()) >= 0;
}

bool write_text(hid_t object, const char* name, const std::string& text) {
  const Hdf5Handle type = fixed_text(text.size());
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(H5Acreate2(object, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  const std::string bytes = text.empty() ? std::string(1, 0) : text;
  return attribute && H5Awrite(attribute.get(), type.get(), bytes.data()) >= 0;
}

bool write_integer(hid_t object, const char* name, std::int64_t value) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(H5Acreate2(object, name, H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  return attribute && H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value) >= 0;
}

}  // namespace weir::store
