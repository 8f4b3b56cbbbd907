// Memory that the processes of a node share: anonymous, gone with its last user.
//
// Ownership: each process unmaps what it mapped. A descriptor is held by the maker only, and only until
// close_address(): a program may have many files open. Threads: as plain memory. LOCAL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/error.hpp"

namespace weir::collective {

class SharedMemory {
 public:
  // How another process of the node finds it.
  struct Address {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t bytes = 0;
  };

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept { swap(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~SharedMemory();

  static Result<SharedMemory> create(std::uint64_t bytes);   // zeros
  static Result<SharedMemory> open(const Address& address);  // REQUIRES: its maker still holds it

  std::byte* data() const { return data_; }
  std::uint64_t size() const { return address_.bytes; }
  const Address& address() const { return address_; }
  void close_address();  // nobody opens it any more

 private:
  void swap(SharedMemory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(address_, other.address_);
  }
  Status map();

  std::byte* data_ = nullptr;
  Address address_;
};

}  // namespace weir::collective
