// Tells whether another process of this node still runs.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <utility>

namespace weir::offload {

class ProcessWatch {
 public:
  explicit ProcessWatch(std::int64_t process);
  ProcessWatch(ProcessWatch&& other) noexcept
      : process_(other.process_), descriptor_(std::exchange(other.descriptor_, -1)) {}
  ProcessWatch& operator=(ProcessWatch&&) = delete;
  ~ProcessWatch();

  bool alive() const;

 private:
  std::int64_t process_;
  int descriptor_;  // -1: an old kernel
};

}  // namespace weir::offload
