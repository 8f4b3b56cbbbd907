#include "core/memory.hpp"

#include <fstream>
#include <limits>
#include <string>

namespace weir {

std::uint64_t available_memory() {
  std::ifstream in("/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  std::uint64_t bytes = 0;
  bool told = false;
  while (in >> name >> kib) {
    if (name == "MemAvailable:" || name == "SwapFree:") bytes += kib << 10U;
    told = told || name == "MemAvailable:";
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return told ? bytes : UINT64_MAX;
}

}  // namespace weir
