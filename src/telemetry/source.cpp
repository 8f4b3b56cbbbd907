#include "telemetry/source.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>

namespace weir::telemetry {

Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 && names.nodename[0] != '\0' ? names.nodename : "localhost";
}

}  // namespace weir::telemetry
