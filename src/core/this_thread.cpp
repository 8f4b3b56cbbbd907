#include "core/this_thread.hpp"

#include <sched.h>

namespace weir {

void run_this_thread_on(const std::vector<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &set);
  }
  ::sched_setaffinity(0, sizeof set, &set);
}

}  // namespace weir
