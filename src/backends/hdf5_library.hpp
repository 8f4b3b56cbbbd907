// What every part of the HDF5 backend needs of the library: handles that close themselves, errors as values,
// types.
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/types.hpp"

namespace weir::backends::hdf5 {

// Owns an identifier of the library; closed when it goes out of scope.
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) Close(id_);
  }
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }
  bool close() {
    return id_ < 0 || Close(release()) >= 0;
  }  // reports what the destructor would have to swallow

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using File = Handle<H5Fclose>;
using DataSet = Handle<H5Dclose>;
using DataSpace = Handle<H5Sclose>;
using DataType = Handle<H5Tclose>;
using Properties = Handle<H5Pclose>;
using AttributeHandle = Handle<H5Aclose>;
using Object = Handle<H5Oclose>;

// While it lives, the library does not print its errors; they are read by library_failure() instead.
class Quiet {
 public:
  Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet();

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// The failure that the library has just reported: a system error where there is one beneath it, else its
// innermost message. Failures that it cannot classify get the code `otherwise`. REQUIRES: a Quiet lives, no
// other call of the library since.
tl::unexpected<Failure> library_failure(ErrorCode otherwise);

// The same for writing to `path`: MPI libraries often say no more than "I/O error", so a full file system is
// looked up.
tl::unexpected<Failure> write_failure(const std::filesystem::path& path);

// The library's type of an element in memory, which is also how it is stored.
DataType native_type(Type type);

// How elements of a stored type can be read: a type that Weir has and the library's description of it in
// memory; nullopt for what Weir cannot hold (texts, other compounds, references).
struct Readable {
  Type type;
  DataType memory;
};
std::optional<Readable> readable_type(hid_t stored);
std::string unsupported_type(hid_t stored);  // in words: "type not supported: text"

inline constexpr const char* stepped_mark =
    "weir_stepped";  // the attribute of a data set whose first dimension counts slots

}  // namespace weir::backends::hdf5
