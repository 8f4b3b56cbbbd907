// The two halves of the ADIOS2 backends. COLLECTIVE over spec.comm; contracts as in backend.hpp.
#pragma once

#include "backends/adios2_library.hpp"

namespace weir::backends::bp {

Result<std::unique_ptr<Output>> create(Format format, const FileSpec& spec);
Result<std::unique_ptr<Input>> open(Format format, const FileSpec& spec);

}  // namespace weir::backends::bp
