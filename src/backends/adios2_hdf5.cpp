#include "backends/adios2_hdf5.hpp"

#include <hdf5.h>

#include <type_traits>

#include "backends/hdf5_file.hpp"

namespace weir::backends::bp {

namespace {

static_assert(std::is_same_v<H5E_auto2_t, int (*)(long, void*)>,
              "the header spells this type out to keep hdf5.h away");

// The innermost entry comes first when walking upward: "file write failed: ..., errno = 28, error message =
// '...'".
herr_t take_innermost(unsigned n, const H5E_error2_t* entry, void* text) {
  if (n == 0 && entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
  return 0;
}

int record(hid_t stack, void* first) {
  auto* text = static_cast<std::string*>(first);
  if (!text->empty()) return 0;
  H5Ewalk2(stack, H5E_WALK_UPWARD, take_innermost, text);
  if (text->empty()) *text = "an error without a description";
  return 0;
}

}  // namespace

bool hdf5_errors_are_seen() {
  return true;
}

void hdf5_file_opened() {
  hdf5::note_open_file();
}
void hdf5_file_closed() {
  hdf5::forget_open_file();
}

Hdf5Errors::Hdf5Errors() {
  H5Eget_auto2(H5E_DEFAULT, &saved_function_, &saved_data_);
  H5Eset_auto2(H5E_DEFAULT, record, &first_);
}

Hdf5Errors::~Hdf5Errors() {
  H5Eset_auto2(H5E_DEFAULT, saved_function_, saved_data_);
}

}  // namespace weir::backends::bp
