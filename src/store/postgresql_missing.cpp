// A build without libpq.
#include "store/database.hpp"
#include "store/store.hpp"

namespace weir::store {

Result<std::unique_ptr<Database>> open_postgresql(const std::string&, Access) {
  return fail(ErrorCode::unsupported, "this Weir was built without PostgreSQL",
              "install libpq-dev and build again, or give the path of a file");
}

}  // namespace weir::store
