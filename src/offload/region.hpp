// Memory that several processes of one node map. It has no name in any file system: it goes away with the
// last process that maps it, however that process ends.
//
// Threads: plain ownership; what is done with the memory is the users' affair.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/error.hpp"

namespace weir::offload {

class Region {
 public:
  // How another process finds it.
  struct Address {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t bytes = 0;
  };

  static Result<Region> create(std::uint64_t bytes);  // zeros; pages are taken when they are first touched
  // REQUIRES: its maker is alive, and has not closed it to others.
  static Result<Region> open(const Address& address);

  Region() = default;
  Region(Region&& other) noexcept { swap(other); }
  Region& operator=(Region&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Region();

  // Nobody else will open it from now on. The memory stays, the descriptor is free for other uses: a process
  // has a thousand or so.
  void close_to_others();

  // Makes the pages of a part present in this process, so that nobody waits for them later. Best effort.
  void touch(std::uint64_t offset, std::uint64_t bytes) const;

  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return address_.bytes; }
  const Address& address() const { return address_; }
  bool holds(const void* place, std::uint64_t size) const;

 private:
  void swap(Region& other) noexcept;
  Status map();

  std::byte* data_ = nullptr;
  Address address_;
};

}  // namespace weir::offload
