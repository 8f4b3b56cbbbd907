// Where the calling thread runs. Threads: each for itself.
#pragma once

#include <vector>

namespace weir {

// On these cores of the machine only; none: as before. Where that is not allowed, any core will do.
void run_this_thread_on(const std::vector<int>& cores);

}  // namespace weir
