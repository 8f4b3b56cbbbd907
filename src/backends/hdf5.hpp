// HDF5 files, through the parallel HDF5 library. Variables are ordinary data sets: h5dump, h5py and every other tool reads them.
#pragma once

#include "backends/backend.hpp"

namespace weir::backends {

Entry hdf5_entry();

}  // namespace weir::backends
