#include "platform/binding.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "platform/hwloc_handles.hpp"
#include "platform/numbers.hpp"
#include "platform/usable.hpp"

namespace weir {

namespace {

Result<HwlocTopology> this_machine() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return fail(ErrorCode::io, "hwloc: making a topology failed");
  HwlocTopology topology(raw);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM);
  // Only hardware threads matter, and every rank of a job does this at the same time.
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(raw) != 0) return fail(ErrorCode::io, "hwloc: reading this machine failed");
  return topology;
}

Numbers numbers_of(hwloc_const_bitmap_t bitmap) {
  Numbers numbers;
  for (int i = hwloc_bitmap_first(bitmap); i >= 0; i = hwloc_bitmap_next(bitmap, i))
    numbers.push_back(static_cast<std::uint32_t>(i));
  return numbers;
}

}  // namespace

Status bind_this_process(const std::vector<std::uint32_t>& pus) {
  if (pus.empty())
    return fail(ErrorCode::invalid_argument, "a process cannot be bound to no hardware thread");
  WEIR_ASSIGN(const HwlocTopology topology, this_machine());
  const HwlocBitmap wanted(hwloc_bitmap_alloc());
  for (const std::uint32_t pu : pus) hwloc_bitmap_set(wanted.get(), pu);

  const HwlocBitmap before(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology.get(), before.get(), HWLOC_CPUBIND_PROCESS) != 0)
    return fail_errno(errno, "read the binding of", "this process");
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topology.get());
  const auto refused = [&](hwloc_const_bitmap_t possible) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("this process cannot be bound to hardware threads {}: it may use {}",
                            format_set(pus), format_set(numbers_of(possible))),
                "use a plan for this machine");
  };
  if (hwloc_bitmap_isincluded(wanted.get(), allowed) == 0) return refused(allowed);
  if (hwloc_set_cpubind(topology.get(), wanted.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    if (errno == EINVAL || errno == EXDEV) return refused(before.get());
    return fail_errno(errno, fmt::format("bind to hardware threads {}", format_set(pus)), "this process");
  }
  // A cgroup that hwloc does not see makes the kernel take only a part of the set, without a word.
  const HwlocBitmap after(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology.get(), after.get(), HWLOC_CPUBIND_PROCESS) == 0 &&
      hwloc_bitmap_isequal(after.get(), wanted.get()) == 0) {
    hwloc_set_cpubind(topology.get(), before.get(), HWLOC_CPUBIND_PROCESS);
    return refused(after.get());
  }
  return {};
}

bool launcher_bound() {
  const auto topology = this_machine();
  const auto usable = usable_cpus();
  if (!topology || !usable) return false;
  const Numbers offered = numbers_of(hwloc_topology_get_allowed_cpuset(topology->get()));
  return !std::includes(usable->pus.begin(), usable->pus.end(), offered.begin(), offered.end());
}

}  // namespace weir
