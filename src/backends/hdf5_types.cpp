#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "backends/hdf5_library.hpp"

namespace weir::backends::hdf5 {

namespace {

hid_t predefined(Type type) {
  switch (type) {
    case Type::int8:
      return H5T_NATIVE_INT8;
    case Type::int16:
      return H5T_NATIVE_INT16;
    case Type::int32:
      return H5T_NATIVE_INT32;
    case Type::int64:
      return H5T_NATIVE_INT64;
    case Type::uint8:
      return H5T_NATIVE_UINT8;
    case Type::uint16:
      return H5T_NATIVE_UINT16;
    case Type::uint32:
      return H5T_NATIVE_UINT32;
    case Type::uint64:
      return H5T_NATIVE_UINT64;
    case Type::float32:
    case Type::complex64:
      return H5T_NATIVE_FLOAT;
    case Type::float64:
    case Type::complex128:
      return H5T_NATIVE_DOUBLE;
    case Type::long_double:
    case Type::complex_long_double:
      return H5T_NATIVE_LDOUBLE;
  }
  throw std::logic_error("unknown element type");
}

bool is_complex(Type type) {
  return type >= Type::complex64;
}

DataType complex_type(Type type, const char* real, const char* imaginary) {
  DataType compound(H5Tcreate(H5T_COMPOUND, size_of(type)));
  H5Tinsert(compound.get(), real, 0, predefined(type));
  H5Tinsert(compound.get(), imaginary, size_of(type) / 2, predefined(type));
  return compound;
}

// The smallest type of Weir's that holds every value of a stored number; HDF5 converts order and width while
// reading.
std::optional<Type> number_type(hid_t stored) {
  const std::size_t size = H5Tget_size(stored);
  if (H5Tget_class(stored) == H5T_FLOAT) {
    if (size == 0 || size > 16) return std::nullopt;
    return size <= 4 ? Type::float32 : size <= 8 ? Type::float64 : Type::long_double;
  }
  if (size == 0 || size > 8) return std::nullopt;
  const int log2_size = size == 1 ? 0 : size == 2 ? 1 : size <= 4 ? 2 : 3;
  return static_cast<Type>((H5Tget_sign(stored) == H5T_SGN_NONE ? 4 : 0) + log2_size);
}

std::string member_name(hid_t compound, unsigned index) {
  const std::unique_ptr<char, herr_t (*)(void*)> name(H5Tget_member_name(compound, index), H5free_memory);
  return name ? name.get() : "";
}

std::optional<Readable> readable_complex(hid_t stored) {
  if (H5Tget_nmembers(stored) != 2) return std::nullopt;
  const std::array<std::string, 2> names = {member_name(stored, 0), member_name(stored, 1)};
  constexpr std::array<std::array<std::string_view, 2>, 3> spellings = {
      {{"r", "i"}, {"re", "im"}, {"real", "imag"}}};
  for (const auto& [real, imaginary] : spellings) {
    if (names[0] != real || names[1] != imaginary) continue;
    const DataType first(H5Tget_member_type(stored, 0));
    const DataType second(H5Tget_member_type(stored, 1));
    if (H5Tget_class(first.get()) != H5T_FLOAT || H5Tequal(first.get(), second.get()) <= 0)
      return std::nullopt;
    const auto part = number_type(first.get());
    if (!part) return std::nullopt;
    const Type type = *part == Type::float32   ? Type::complex64
                      : *part == Type::float64 ? Type::complex128
                                               : Type::complex_long_double;
    return Readable{type, complex_type(type, names[0].c_str(), names[1].c_str())};
  }
  return std::nullopt;
}

}  // namespace

DataType native_type(Type type) {
  // {r, i} is what h5py and most others call the parts of a complex number.
  return is_complex(type) ? complex_type(type, "r", "i") : DataType(H5Tcopy(predefined(type)));
}

std::optional<Readable> readable_type(hid_t stored) {
  switch (H5Tget_class(stored)) {
    case H5T_INTEGER:
    case H5T_FLOAT: {
      const auto type = number_type(stored);
      if (!type) return std::nullopt;
      return Readable{*type, native_type(*type)};
    }
    case H5T_ENUM: {  // h5py's booleans among others
      const DataType base(H5Tget_super(stored));
      return base ? readable_type(base.get()) : std::nullopt;
    }
    case H5T_COMPOUND:
      return readable_complex(stored);
    default:
      return std::nullopt;
  }
}

std::string unsupported_type(hid_t stored) {
  constexpr std::string_view what = "type not supported: ";
  switch (H5Tget_class(stored)) {
    case H5T_STRING:
      return fmt::format("{}text", what);
    case H5T_COMPOUND:
      return fmt::format("{}compound of {} members", what, H5Tget_nmembers(stored));
    case H5T_REFERENCE:
      return fmt::format("{}references", what);
    case H5T_ARRAY:
      return fmt::format("{}arrays as elements", what);
    case H5T_VLEN:
      return fmt::format("{}elements of variable length", what);
    default:
      return fmt::format("{}elements of {} bytes", what, H5Tget_size(stored));
  }
}

}  // namespace weir::backends::hdf5
