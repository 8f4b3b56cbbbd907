#include "offload/courtesy.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <fstream>

namespace weir::offload {

namespace {

void read_times(std::uint64_t& ran, std::uint64_t& waited) {
  std::ifstream("/proc/thread-self/schedstat") >> ran >> waited;
}

}  // namespace

Courtesy::Courtesy(bool own_cores) {
  constexpr int niceness = 10;
  ::setpriority(PRIO_PROCESS, 0, niceness);
  const sched_param none{};
  idle_ = own_cores && ::sched_setscheduler(0, SCHED_IDLE, &none) == 0;
  if (idle_) read_times(ran_, waited_);
}

void Courtesy::reconsider() {
  if (!idle_) return;
  std::uint64_t ran = 0;
  std::uint64_t waited = 0;
  read_times(ran, waited);
  constexpr std::uint64_t too_long = 100'000'000;
  const bool starves = waited - waited_ > too_long + 2 * (ran - ran_);
  waited_ = waited;
  ran_ = ran;
  if (!starves) return;
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_OTHER, &none);
  idle_ = false;
}

}  // namespace weir::offload
