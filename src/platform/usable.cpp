#include "platform/usable.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "core/file.hpp"

namespace weir {

namespace {

namespace fs = std::filesystem;

// The kernel refuses a mask smaller than its own, and does not say how large that is.
Result<Numbers> affinity_mask() {
  for (std::size_t cpus = 1024; cpus <= std::size_t{1} << 20; cpus *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(cpus),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    if (::sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      return fail_errno(errno, "read the affinity mask", "this process");
    }
    Numbers pus;
    for (std::size_t i = 0; i < cpus; ++i) {
      if (CPU_ISSET_S(i, bytes, set.get()) != 0) pus.push_back(static_cast<std::uint32_t>(i));
    }
    return pus;
  }
  return fail(ErrorCode::unsupported, "the affinity mask has more than a million hardware threads");
}

// "200000 100000" (version 2) is a limit of 2; "max 100000" is none. Version 1 keeps the two numbers in two
// files.
double limit_in(const fs::path& folder) {
  double quota = 0;
  double period = 0;
  if (const auto text = read_text(folder / "cpu.max")) {
    if (std::sscanf(text->c_str(), "%lf %lf", &quota, &period) != 2) return 0;
  } else {
    const auto quota_text = read_text(folder / "cpu.cfs_quota_us");
    const auto period_text = read_text(folder / "cpu.cfs_period_us");
    if (!quota_text || !period_text || std::sscanf(quota_text->c_str(), "%lf", &quota) != 1 ||
        std::sscanf(period_text->c_str(), "%lf", &period) != 1) {
      return 0;
    }
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

double smaller_limit(double a, double b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

}  // namespace

double cgroup_cpu_limit(std::string_view proc_self_cgroup, const fs::path& root) {
  double limit = 0;
  while (!proc_self_cgroup.empty()) {
    std::string_view line = proc_self_cgroup.substr(0, proc_self_cgroup.find('\n'));
    proc_self_cgroup.remove_prefix(std::min(proc_self_cgroup.size(), line.size() + 1));
    // "0::/path" (version 2) or "4:cpu,cpuacct:/path" (version 1)
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool has_cpu =
        controllers == "cpu" || controllers.starts_with("cpu,") || controllers.ends_with(",cpu");
    if (!controllers.empty() && !has_cpu) continue;
    const fs::path top = controllers.empty() ? root : root / "cpu";
    fs::path folder = fs::path(line.substr(second + 1)).relative_path().lexically_normal();
    for (;; folder = folder.parent_path()) {
      limit = smaller_limit(limit, limit_in(top / folder));
      if (folder.empty() || folder == folder.parent_path()) break;
    }
  }
  return limit;
}

std::uint32_t UsableCpus::workers() const {
  const auto count = static_cast<double>(pus.size());
  const double limited = cpu_limit > 0 ? std::min(count, std::floor(cpu_limit)) : count;
  return static_cast<std::uint32_t>(std::max(1.0, limited));
}

Result<UsableCpus> usable_cpus() {
  UsableCpus usable;
  WEIR_ASSIGN(usable.pus, affinity_mask());  // the kernel keeps it within the cpuset cgroup
  if (const auto text = read_text("/proc/self/cgroup"))
    usable.cpu_limit = cgroup_cpu_limit(*text, "/sys/fs/cgroup");
  return usable;
}

}  // namespace weir
