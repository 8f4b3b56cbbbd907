// A matrix from outside: no crash; what is accepted passes check() and survives being written again.
#include <cstdlib>

#include "pattern/pattern_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto matrix = weir::pattern::from_matrix_market({reinterpret_cast<const char*>(data), size});
  if (!matrix) return 0;
  if (!matrix->check()) std::abort();
  if (matrix->rows > 4096 || matrix->columns > 4096) return 0;
  const auto again = weir::pattern::from_matrix_market(weir::pattern::to_matrix_market(*matrix));
  if (!again || *again != *matrix) std::abort();
  return 0;
}
