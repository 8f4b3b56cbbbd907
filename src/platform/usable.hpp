// What this process may use of the machine it runs on.
//
// Threads: reentrant. The answer is that of the calling thread's process at this moment; a launcher may have
// narrowed it.
#pragma once

#include <filesystem>

#include "platform/numbers.hpp"

namespace weir {

struct UsableCpus {
  Numbers pus;  // hardware threads we may run on, ascending: cpuset cgroup and affinity mask together
  double cpu_limit = 0;           // CPU seconds a second that the cgroup grants (cpu.max); 0: no limit
  std::uint32_t workers() const;  // how many busy processes find a place: the smaller of the two, at least 1
};

Result<UsableCpus> usable_cpus();

// The limit of the cgroup named in the text of /proc/self/cgroup, with its parents', below `root`
// (/sys/fs/cgroup).
double cgroup_cpu_limit(std::string_view proc_self_cgroup, const std::filesystem::path& root);

}  // namespace weir
