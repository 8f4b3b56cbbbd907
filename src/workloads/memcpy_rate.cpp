#include "workloads/memcpy_rate.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "workloads/share.hpp"

namespace weir::workloads {

double memcpy_rate(MPI_Comm comm, std::span<const double> from, std::span<double> to,
                   const std::function<void()>& before) {
  constexpr std::size_t copies = 6;  // the first finds memory that was never used
  std::vector<double> seconds(copies, 0.0);
  for (double& one : seconds) {
    if (before) before();
    timed(one, [&] {
      if (!from.empty()) std::memcpy(to.data(), from.data(), from.size_bytes());
    });
  }
  most_of_all(seconds, comm);
  std::vector<double> bytes = {static_cast<double>(from.size_bytes())};
  most_of_all(bytes, comm);
  std::sort(seconds.begin() + 1, seconds.end());
  return bytes[0] / std::max(seconds[1 + (copies - 1) / 2], 1e-9);
}

}  // namespace weir::workloads
