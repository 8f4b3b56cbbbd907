#include "offload/cold_blocks.hpp"

#include "core/caches.hpp"

namespace weir::offload {

namespace {

bool depend_on_distance() {
  return sharing_trap_of_processor() == SharingTrap::between_far_cores;
}

}  // namespace

ColdBlocks ColdBlocks::beside(CoreDistance& reader) {
  return for_distance(depend_on_distance() ? reader.measure() : std::nullopt);
}

void ColdBlocks::answer(CoreDistance& worker) {
  if (depend_on_distance()) worker.answer();
}

ColdBlocks ColdBlocks::for_distance(std::optional<double> nanoseconds) {
  // Within a die 20 to 70, between dies 100 to 250; more is no distance, but a core that both share.
  constexpr double far = 90, farthest = 1000;
  const SharingTrap trap = sharing_trap_of_processor();
  const bool between_these =
      trap == SharingTrap::between_far_cores && nanoseconds && *nanoseconds > far && *nanoseconds < farthest;
  constexpr std::uint64_t no_cache = 4;  // all is cold
  if (trap == SharingTrap::everywhere) return ColdBlocks(no_cache);
  return between_these ? ColdBlocks(last_cache_bytes()) : ColdBlocks();
}

bool ColdBlocks::note(const std::byte* data, std::uint64_t bytes) {
  constexpr std::uint64_t least = 64U << 10U;  // less is not worth the looking
  if (enough_ == 0 || bytes < least) return false;
  std::uint64_t since = bytes;
  auto before = recent_.begin();
  for (; before != recent_.end() && before->data != data; ++before) since += before->bytes;
  if (before != recent_.end()) {
    recent_bytes_ -= before->bytes;
    recent_.erase(before);
  }
  recent_.push_front({data, bytes});
  recent_bytes_ += bytes;
  while (recent_bytes_ - recent_.back().bytes >= enough_) {
    recent_bytes_ -= recent_.back().bytes;
    recent_.pop_back();
  }
  return since >= enough_;
}

}  // namespace weir::offload
