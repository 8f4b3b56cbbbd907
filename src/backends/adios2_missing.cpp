#include "backends/adios2.hpp"

namespace weir::backends {

namespace {

Entry absent(std::string_view name, std::string_view summary) {
  return {.name = name, .summary = summary, .missing = "built without ADIOS2"};
}

}  // namespace

Entry adios2_bp4_entry() {
  return absent("adios2-bp4", "ADIOS2 BP4 folders");
}
Entry adios2_bp5_entry() {
  return absent("adios2-bp5", "ADIOS2 BP5 folders");
}
Entry adios2_hdf5_entry() {
  return absent("adios2-hdf5", "HDF5 files in ADIOS2's layout");
}

}  // namespace weir::backends
