#include "report/scene.hpp"

namespace weir::report {

Result<std::string> to_png(const Scene&) {
  return fail(ErrorCode::unsupported, "built without Cairo",
              "save as .svg, or install libcairo2-dev and build again");
}

}  // namespace weir::report
