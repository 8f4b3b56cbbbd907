// ADIOS2 files: BP4 and BP5 folders, and HDF5 files in ADIOS2's own layout. bpls and every ADIOS2 program
// reads them.
#pragma once

#include "backends/backend.hpp"

namespace weir::backends {

Entry adios2_bp4_entry();
Entry adios2_bp5_entry();
Entry adios2_hdf5_entry();

}  // namespace weir::backends
