// A build without HDF5.
#include "store/tokio.hpp"

namespace weir::store {

namespace {
tl::unexpected<Failure> missing() {
  return fail(ErrorCode::unsupported, "this Weir was built without HDF5",
              "install libhdf5-openmpi-dev and build again, or use CSV");
}
}  // namespace

Result<TokioTally> import_tokio(Store&, const std::string&, const std::function<void(const std::string&)>&) {
  return missing();
}
Result<TokioTally> export_tokio(Store&, const std::string&, const TokioExport&) {
  return missing();
}

}  // namespace weir::store
