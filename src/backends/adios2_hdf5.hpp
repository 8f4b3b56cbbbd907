// HDF5 beneath ADIOS2: what ADIOS2 does not do about it.
#pragma once

#include <string>

namespace weir::backends::bp {

// False in a build without HDF5's headers. The HDF5 engine is then not offered: it would lose data in
// silence.
bool hdf5_errors_are_seen();

// A file is open for writing. If it still is when the process ends, HDF5 must not close it, together with
// ranks that may never come.
void hdf5_file_opened();
void hdf5_file_closed();

// The errors of HDF5 while it lives. ADIOS2's HDF5 engine ignores the outcome of H5Dread, H5Fclose and
// others, and HDF5 would print a stack to stderr. Here the first report is kept instead, and nothing is
// printed.
class Hdf5Errors {
 public:
  Hdf5Errors();
  Hdf5Errors(const Hdf5Errors&) = delete;
  Hdf5Errors& operator=(const Hdf5Errors&) = delete;
  ~Hdf5Errors();

  const std::string& first() const { return first_; }  // "" when all went well

 private:
  std::string first_;
  // Unused in a build without HDF5.
  [[maybe_unused]] int (*saved_function_)(long, void*) = nullptr;
  [[maybe_unused]] void* saved_data_ = nullptr;
};

}  // namespace weir::backends::bp
