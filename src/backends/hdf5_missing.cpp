#include "backends/hdf5.hpp"

namespace weir::backends {

Entry hdf5_entry() {
  return {.name = "hdf5",
          .summary = "HDF5 files, for h5py, h5dump and every other HDF5 program",
          .missing = "built without HDF5",
          .extensions = {".h5", ".hdf5"},
          .recognises = is_hdf5_file};
}

bool is_adios2_layout(const std::filesystem::path&) {
  return false;
}

}  // namespace weir::backends
