#include "interpose/next.hpp"

#include <cstdio>
#include <cstdlib>

namespace weir::interpose {

void* find_next(const char* symbol) {
  if (void* const address = ::dlsym(RTLD_NEXT, symbol)) return address;
  std::fprintf(stderr,
               "libweir-mpiio: the MPI library of this program has no %s; run it without libweir-mpiio\n",
               symbol);
  std::abort();
}

}  // namespace weir::interpose
