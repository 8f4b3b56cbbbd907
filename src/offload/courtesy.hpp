// How a server shares its core: the data of its clients moves, and they compute, before it goes on, since its
// own work has time until the next write. On cores of its own it runs as idle work, so that a client's copy
// starts at once; unless somebody else keeps the core busy, who would never let it run.
//
// Threads: that of the server.
#pragma once

#include <cstdint>

namespace weir::offload {

class Courtesy {
 public:
  explicit Courtesy(bool own_cores);
  void reconsider();  // now and then

 private:
  bool idle_ = false;
  std::uint64_t waited_ = 0;  // nanoseconds for a turn on the core, when last looked at
  std::uint64_t ran_ = 0;
};

}  // namespace weir::offload
