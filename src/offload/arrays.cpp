#include "offload/arrays.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include "core/memory.hpp"
#include "core/timed.hpp"

namespace weir::offload {

class Arrays::Array final : public Memory {
 public:
  Array(std::shared_ptr<Arrays> owner, Half* first, Half* second)
      : owner_(std::move(owner)), halves_{first, second} {}
  ~Array() override {
    for (const Half* half : halves_) {
      if (half != nullptr) owner_->free_half(half);
    }
  }

  void* data() const override { return halves_[current_]->region.data(); }

  void* fresh() override {
    if (!owner_->is_in_use(*halves_[current_])) return data();
    // There may have been no memory for a second place: this one has to do, when it is free.
    if (halves_[1 - current_] != nullptr) current_ = 1 - current_;
    owner_->wait_for(*halves_[current_]);
    return data();
  }

 private:
  std::shared_ptr<Arrays> owner_;
  std::array<Half*, 2> halves_;
  std::size_t current_ = 0;
};

Result<std::shared_ptr<Memory>> Arrays::allocate(std::uint64_t bytes) {
  // Both places at once: later would be in the middle of the program's work.
  WEIR_ASSIGN(Half * first, make_half(bytes));
  Half* second = nullptr;
  if (conduit_ != nullptr) {
    if (auto made = make_half(bytes)) second = *made;
  }
  return std::make_shared<Array>(shared_from_this(), first, second);
}

Result<Arrays::Half*> Arrays::make_half(std::uint64_t bytes) {
  constexpr std::uint64_t page = 4096;
  if (bytes > UINT64_MAX / 2 || bytes > available_memory())
    return fail(ErrorCode::no_memory, "an array of that size does not fit into memory");
  let_others_map();
  auto half = std::make_unique<Half>();
  WEIR_ASSIGN(half->region, Region::create((bytes / page + 1) * page));
  half->region.touch(0, half->region.bytes());
  half->number = next_number_++;
  if (conduit_ != nullptr && conduit_->maps_regions()) {
    Operation map;
    map.kind = Operation::Kind::map;
    map.region = half->number;
    map.process = half->region.address().process;
    map.descriptor = half->region.address().descriptor;
    map.bytes = half->region.bytes();
    half->mapping = map.progress = std::make_shared<Progress>();
    being_mapped_.push_back(half.get());
    conduit_->submit(std::move(map));
  } else {
    half->region.close_to_others();
  }
  Half* made = half.get();
  halves_[made->region.data()] = std::move(half);
  return made;
}

// Many arrays in a row are made no faster than they are mapped; but the other side may be busy with what
// needs other ranks.
void Arrays::let_others_map() {
  using std::chrono::steady_clock;
  constexpr std::size_t many = 64;
  const auto end = steady_clock::now() + std::chrono::milliseconds(100);
  for (close_those_mapped(); being_mapped_.size() >= many && steady_clock::now() < end; close_those_mapped())
    std::this_thread::yield();
}

void Arrays::close_those_mapped() {
  for (; !being_mapped_.empty() && being_mapped_.front()->mapping->done(); being_mapped_.pop_front())
    being_mapped_.front()->region.close_to_others();
}

bool Arrays::is_in_use(Half& half) const {
  const bool mapped = conduit_ != nullptr && conduit_->maps_regions();
  std::erase_if(half.uses,
                [&](const auto& progress) { return mapped ? progress->done() : progress->taken(); });
  return !half.uses.empty();
}

void Arrays::wait_for(Half& half) {
  const Timed timed(waited_seconds_);
  for (const auto& progress : half.uses) {
    while (!progress->taken()) progress->wait_taken();
  }
  half.uses.clear();
}

void Arrays::free_half(const Half* half) {
  const auto found = halves_.find(half->region.data());
  // After an exception on this rank the others may never come to the write that is on its way: the memory
  // stays until the session goes.
  if (std::uncaught_exceptions() > 0 && is_in_use(*found->second)) return;
  wait_for(*found->second);
  if (conduit_ != nullptr && conduit_->maps_regions()) {
    Operation unmap;
    unmap.kind = Operation::Kind::unmap;
    unmap.region = half->number;
    conduit_->submit(std::move(unmap));
  }
  std::erase(being_mapped_, found->second.get());
  halves_.erase(found);
}

std::optional<Arrays::Place> Arrays::locate(const void* data, std::uint64_t bytes) const {
  if (conduit_ == nullptr || !conduit_->maps_regions()) return std::nullopt;
  auto after = halves_.upper_bound(static_cast<const std::byte*>(data));
  if (after == halves_.begin()) return std::nullopt;
  const Half& half = *std::prev(after)->second;
  if (!half.region.holds(data, bytes)) return std::nullopt;
  return Place{half.number,
               static_cast<std::uint64_t>(static_cast<const std::byte*>(data) - half.region.data())};
}

void Arrays::note_use(const void* data, const std::shared_ptr<Progress>& progress) {
  close_those_mapped();
  auto after = halves_.upper_bound(static_cast<const std::byte*>(data));
  if (after == halves_.begin()) return;
  Half& half = *std::prev(after)->second;
  if (half.region.holds(data, 1) && !progress->done()) {
    std::erase_if(half.uses, [](const auto& use) { return use->done(); });
    half.uses.push_back(progress);
  }
}

}  // namespace weir::offload
