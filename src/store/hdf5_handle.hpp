// HDF5's handles as values, and its failures as ours. One at a time: HDF5 is not reentrant.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace weir::store {

class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  // What a destructor would have to swallow: a file is on disk only if this went well.
  bool close() { return id_ >= 0 && close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// HDF5 prints its failures on its own account; we return them.
class QuietHdf5 {
 public:
  QuietHdf5() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// An attribute that holds texts, of fixed or of variable length; empty where there is none.
std::vector<std::string> read_texts(hid_t object, const char* name, std::size_t at_most);
bool write_texts(hid_t object, const char* name, const std::vector<std::string>& texts);
bool write_text(hid_t object, const char* name, const std::string& text);
bool write_integer(hid_t object, const char* name, std::int64_t value);

}  // namespace weir::store
