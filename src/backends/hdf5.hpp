// HDF5 files, through the parallel HDF5 library. Variables are ordinary data sets: h5dump, h5py and every
// other tool reads them.
#pragma once

#include "backends/backend.hpp"

namespace weir::backends {

Entry hdf5_entry();

// LOCAL, by content. The first says whether the file carries HDF5's signature; the second whether ADIOS2
// wrote it in its own layout of groups Step0, Step1, ... (never true in a build without HDF5, which cannot
// look inside).
bool is_hdf5_file(const std::filesystem::path& path);
bool is_adios2_layout(const std::filesystem::path& path);

}  // namespace weir::backends
